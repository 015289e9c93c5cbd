import { Unavailable } from '@tollgate/kit/failure'
import { gate } from '@tollgate/kit/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createQueue } from './queue.ts'

test('so many run at once, the others in the order in which they came', async () => {
  const queue = createQueue({ concurrency: 2, bound: 10 })
  const work = gate<string, string>()
  const results = ['a', 'b', 'c', 'd', 'e'].map((name) => queue.run(() => work.enter(name)))
  await work.entered(2)
  expect([work.inputs, queue.stats()]).toEqual([['a', 'b'], { running: 2, waiting: 3, refused: 0 }])
  work.leave(2, 'done b')
  await work.entered(3)
  expect([work.inputs, queue.stats()]).toEqual([['a', 'b', 'c'], { running: 2, waiting: 2, refused: 0 }])
  work.leave(3, 'done c')
  work.leave(1, 'done a')
  await work.entered(5)
  expect(work.inputs).toEqual(['a', 'b', 'c', 'd', 'e'])
  work.leave(4, 'done d')
  work.leave(5, 'done e')
  expect(await Promise.all(results)).toEqual(['done a', 'done b', 'done c', 'done d', 'done e'])
  expect(queue.stats()).toEqual({ running: 0, waiting: 0, refused: 0 })
})

test('who finds the queue full is refused at once, and it takes others again when there is room', async () => {
  const queue = createQueue({ concurrency: 1, bound: 1 })
  const work = gate<string>()
  const [first, second] = [queue.run(() => work.enter('first')), queue.run(() => work.enter('second'))]
  await expect(queue.run(() => work.enter('third'))).rejects.toThrow(Unavailable)
  expect([work.inputs, queue.stats()]).toEqual([['first'], { running: 1, waiting: 1, refused: 1 }])
  work.leave(1)
  await first
  const fourth = queue.run(() => work.enter('fourth'))
  await work.entered(2)
  work.leave(2)
  await work.entered(3)
  work.leave(3)
  await Promise.all([second, fourth])
  expect(work.inputs).toEqual(['first', 'second', 'fourth'])
})

test('a queue of no length still works as many as it may', async () => {
  const queue = createQueue({ concurrency: 1, bound: 0 })
  const work = gate()
  const first = queue.run(() => work.enter())
  await expect(queue.run(() => work.enter())).rejects.toThrow(Unavailable)
  work.leave(1)
  await first
  expect(await queue.run(async () => 'again')).toBe('again')
})

test('work that fails, or throws before it begins, makes room like any other', async () => {
  const queue = createQueue({ concurrency: 1, bound: 5 })
  const outcomes = await Promise.allSettled([
    queue.run(() => Promise.reject(new Error('rejected'))),
    queue.run(() => {
      throw new Error('thrown')
    }),
    queue.run(async () => 'fine'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  expect(queue.stats()).toEqual({ running: 0, waiting: 0, refused: 0 })
})

test('however calls and ends are mixed: never more at once than allowed, in order, and nobody is forgotten', async () => {
  const sizes = fc.record({ concurrency: fc.integer({ min: 1, max: 4 }), bound: fc.integer({ min: 0, max: 4 }) })
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.boolean(), { maxLength: 40 }), async (size, steps) => {
      const queue = createQueue(size)
      const started: number[] = []
      const ends: (() => void)[] = []
      const calls: Promise<unknown>[] = []
      for (const [number, arrives] of steps.entries()) {
        if (arrives) {
          const work = () => {
            started.push(number)
            return new Promise<void>((resolve) => ends.push(resolve))
          }
          calls.push(queue.run(work).catch((problem: unknown) => expect(problem).toBeInstanceOf(Unavailable)))
        } else ends.shift()?.()
        await new Promise(setImmediate)
        expect(queue.stats().running).toBeLessThanOrEqual(size.concurrency)
        expect(queue.stats().waiting).toBeLessThanOrEqual(size.bound)
        expect(ends.length).toBe(queue.stats().running)
      }
      while (ends.length > 0) {
        ends.shift()?.()
        await new Promise(setImmediate)
      }
      await Promise.all(calls)
      expect(started).toEqual([...started].sort((one, other) => one - other))
      expect(started.length + queue.stats().refused).toBe(calls.length)
    }),
    { numRuns: 50 },
  )
})
