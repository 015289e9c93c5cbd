import { expect, test } from 'vitest'
import { chooseWorkloads, workloads } from './workloads.ts'

const namesOf = (...names: string[]) => chooseWorkloads(names).map(({ name }) => name)

test('what a workload is compared with, or paced by, comes along and goes before it or beside it', () => {
  expect(namesOf('settings')).toEqual(['bare', 'settings'])
  expect(namesOf('pairs-one')).toEqual(['pairs', 'pairs-one', 'textbook', 'textbook-late'])
  expect(namesOf('pairs-rate')).toEqual(['pairs', 'pairs-rate'])
  expect(namesOf('capture')).toEqual(['capture'])
})

test('every name is there once, and whatever is named by another exists', () => {
  const names = workloads.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { compared = [], within } of workloads)
    expect(names).toEqual(expect.arrayContaining([...compared.map((each) => each.with), ...(within ? [within.of] : [])]))
})
