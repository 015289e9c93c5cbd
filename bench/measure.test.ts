import { expect, test } from 'vitest'
import { choosePace, type Measured, type Round } from './measure.ts'

/** As much as is looked at to choose a pace: rounds of two seconds with so many answers. */
function measured(wanted: { pace?: number; rate?: number }, rounds: readonly number[]) {
  return {
    workload: { name: 'some', title: 'something', ...wanted },
    rounds: rounds.map((answered) => ({ answered, seconds: 2 }) as Round),
    remarks: [],
  } as unknown as Measured
}

test.each([
  ['as it is wanted, where the machine can do more', [2_000, 2_000, 1], 300],
  ['lower, where it cannot', [500, 500, 9_000], 150],
  ['never nothing', [0, 0, 0], 1],
])('latency is looked at at a pace %s', (_, rounds, pace) => {
  const each = measured({ pace: 300 }, rounds)
  expect(choosePace(each)).toBe(pace)
  expect(each.remarks.length).toBe(pace === 300 ? 0 : 1)
})

test('what has no pace, was measured at a rate of its own, or not at all, is left alone', () => {
  expect(choosePace(measured({}, [100]))).toBeUndefined()
  expect(choosePace(measured({ pace: 300, rate: 20 }, [100]))).toBeUndefined()
  expect(choosePace(measured({ pace: 300 }, []))).toBeUndefined()
})
