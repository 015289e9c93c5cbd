import { expect, test } from 'vitest'
import { Unavailable } from './failure.ts'
import { gate } from './testing.ts'
import { createTogether } from './together.ts'

const doubled = (numbers: readonly number[]) => numbers.map((number) => number * 2)

test('who comes alone is asked alone, and at once', async () => {
  const crowds: (readonly number[])[] = []
  const ask = createTogether(
    async (numbers: readonly number[]) => {
      crowds.push(numbers)
      return doubled(numbers)
    },
    { atOnce: 1, most: 10 },
  )
  expect([await ask(1), await ask(2)]).toEqual([2, 4])
  expect(crowds).toEqual([[1], [2]])
})

test('who comes while others are being answered is asked together, each with an answer of their own', async () => {
  const passage = gate<readonly number[], number[]>()
  const ask = createTogether(passage.enter, { atOnce: 1, most: 10 })
  const first = ask(1)
  await passage.entered(1)
  const others = [2, 3, 4].map(ask)
  passage.leave(1, [2])
  expect(await first).toBe(2)
  expect(await passage.entered(2)).toEqual([2, 3, 4])
  passage.leave(2, [4, 6, 8])
  expect(await Promise.all(others)).toEqual([4, 6, 8])
})

test('no crowd is larger than it may be, and no more of them are under way than may be', async () => {
  const passage = gate<readonly number[], number[]>()
  const ask = createTogether(passage.enter, { atOnce: 2, most: 2 })
  const answers = [1, 2, 3, 4, 5].map(ask)
  await passage.entered(2)
  expect(passage.inputs).toEqual([
    [1, 2],
    [3, 4],
  ])
  passage.leave(2, [6, 8])
  await passage.entered(3)
  passage.leave(1, [2, 4])
  passage.leave(3, [10])
  expect(await Promise.all(answers)).toEqual([2, 4, 6, 8, 10])
})

test('what fails for one of a crowd fails for nobody else', async () => {
  const ask = createTogether(
    async (numbers: readonly number[]) => {
      if (numbers.includes(3)) throw new Error('three')
      return doubled(numbers)
    },
    { atOnce: 1, most: 10 },
  )
  const answers = await Promise.allSettled([1, 2, 3, 4].map(ask))
  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.message))).toEqual([
    2,
    4,
    'three',
    8,
  ])
})

test('an outage is told to all of a crowd, and not asked again for each', async () => {
  let asked = 0
  const ask = createTogether<number, number>(
    async () => {
      asked++
      throw new Unavailable('gone')
    },
    { atOnce: 1, most: 10 },
  )
  const answers = await Promise.allSettled([1, 2, 3].map(ask))
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(asked).toBe(1)
})
