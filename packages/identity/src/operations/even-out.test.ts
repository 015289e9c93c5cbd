import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evenOut, evenOutRefusals, leavingTime } from './even-out.ts'

const least = 25
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('nobody leaves before their story is over, nor much later than they have to', () => {
  const taken = fc.double({ min: 0, max: 10_000, noNaN: true })
  fc.assert(
    fc.property(taken, chance, (taken, random) => {
      const left = leavingTime({ taken, least, random })
      expect(left).toBeGreaterThanOrEqual(Math.max(taken, least))
      expect(left).toBeLessThanOrEqual(Math.max(taken, least) + 5.001)
    }),
  )
})

test('stories shorter than the least time leave when chance says, whatever they did', () => {
  const short = fc.double({ min: 0, max: least, noNaN: true })
  fc.assert(
    fc.property(short, short, chance, (one, other, random) => {
      expect(leavingTime({ taken: one, least, random })).toBe(leavingTime({ taken: other, least, random }))
    }),
  )
})

test('two stories are apart by no more, on average, than they were: there is no edge that makes much of little', () => {
  const average = (taken: number) => {
    const chances = Array.from({ length: 1000 }, (_, index) => (index + 0.5) / 1000)
    return chances.reduce((sum, random) => sum + leavingTime({ taken, least, random }), 0) / chances.length
  }
  for (let taken = 20; taken < 60; taken += 0.25) {
    const apart = average(taken + 0.25) - average(taken)
    expect(apart, `at ${taken}`).toBeGreaterThanOrEqual(-1e-9)
    expect(apart, `at ${taken}`).toBeLessThan(0.26)
  }
})

async function timed<T>(story: Promise<T>) {
  const started = performance.now()
  const outcome = await story.catch((problem: unknown) => problem)
  return { outcome, milliseconds: performance.now() - started }
}

/** A timer may be a millisecond early. */
const early = 1.5

test('answers and refusals alike wait for the least time', async () => {
  const refusal = new Error('no')
  const [answered, refused] = await Promise.all([timed(evenOut(async () => 7)), timed(evenOut(() => Promise.reject(refusal)))])
  expect([answered.outcome, refused.outcome]).toEqual([7, refusal])
  for (const { milliseconds } of [answered, refused]) expect(milliseconds).toBeGreaterThan(25 - early)
})

test('where refusals alone are evened out, an answer does not wait', async () => {
  const refusal = new Error('no')
  const answer = Promise.withResolvers<string>()
  const answered = evenOutRefusals(() => answer.promise)
  const refused = timed(evenOutRefusals(() => sleep(10).then(() => Promise.reject(refusal))))
  answer.resolve('in')
  // Before any timer could run.
  expect(await Promise.race([answered, new Promise((resolve) => setImmediate(resolve, 'late'))])).toBe('in')
  const { outcome, milliseconds } = await refused
  expect(outcome).toBe(refusal)
  expect(milliseconds).toBeGreaterThan(150 - early)
})
