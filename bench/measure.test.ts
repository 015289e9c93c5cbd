import { expect, test } from 'vitest'
import { chooseRate, type Measured, type Round } from './measure.ts'

/** As much as is looked at to choose a rate. */
function measured(
  name: string,
  { rounds = [], ...wanted }: { rounds?: number[]; rate?: number; within?: { share: number; of: string } },
) {
  return {
    workload: { name, title: name, ...wanted },
    rounds: rounds.map((answered) => ({ answered, seconds: 2 }) as Round),
    remarks: [],
  } as unknown as Measured
}

const within = { share: 0.6, of: 'pairs' }

test.each([
  ['as it is wanted, where the machine can do more', 2_000, 300],
  ['lower, where it cannot', 500, 150],
  ['never nothing', 0, 1],
])('a rate within a share of what another workload was answered: %s', (_, answered, rate) => {
  const each = measured('rate', { rate: 300, within })
  expect(chooseRate(each, [measured('pairs', { rounds: [answered, 1] }), each])).toBe(rate)
  expect(each.remarks.length).toBe(rate === 300 ? 0 : 1)
})

test('a workload without a rate has none, and one that nothing is known about gets what it wants', () => {
  expect(chooseRate(measured('plain', {}), [])).toBeUndefined()
  expect(chooseRate(measured('rate', { rate: 300, within }), [measured('pairs', {})])).toBe(300)
})
