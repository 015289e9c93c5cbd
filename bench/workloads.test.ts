import { expect, test } from 'vitest'
import { shares } from './day.ts'
import { chooseWorkloads, workloads } from './workloads.ts'

const namesOf = (...names: string[]) =>
  chooseWorkloads(names)
    .flat()
    .map(({ name }) => name)

test('what a workload is compared with comes along, before it or beside it', () => {
  expect(namesOf('settings')).toEqual(['bare', 'settings'])
  expect(namesOf('pairs-one')).toEqual(['pairs', 'bare-pairs', 'pairs-one', 'textbook', 'textbook-late'])
  expect(namesOf('user')).toEqual(['user', 'bare-user'])
  expect(namesOf('replay')).toEqual(['replay'])
})

test('every name is there once, and whatever is named by another exists', () => {
  const names = workloads.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { compared = [], bare } of workloads)
    expect(names).toEqual(expect.arrayContaining([...compared.map((each) => each.with), ...(bare === undefined ? [] : [bare])]))
})

test('what is compared is measured side by side, and so is everything of one family', () => {
  for (const { name, compared = [], bare, growth } of workloads) {
    const family = workloads.filter((each) => growth && each.growth?.family === growth.family).map((each) => each.name)
    const together = [name, ...compared.map((each) => each.with), ...(bare === undefined ? [] : [bare]), ...family]
    expect(chooseWorkloads(together), name).toHaveLength(1)
  }
})

test('what is wanted of several groups is measured group by group, and nothing else is', () => {
  const groups = chooseWorkloads(['refresh-1k', 'replay', 'health', 'user-1k'])
  expect(groups.map((group) => group.map(({ name }) => name))).toEqual([['health'], ['replay'], ['refresh-1k', 'user-1k']])
  expect(chooseWorkloads(['memory'])).toEqual([])
})

test('what a goal says about growth is measured with a thousand, a hundred thousand and a million rows, and lists with ten', () => {
  const rowsOf = (wanted: string) =>
    workloads.flatMap(({ growth }) => (growth?.family === wanted ? [growth.rows] : [])).toSorted((one, other) => one - other)
  const three = [1_000, 100_000, 1_000_000]
  for (const family of ['refresh', 'user', 'admin-first', 'admin-cursor', 'admin-find', 'admin-search'])
    expect(rowsOf(family), family).toEqual(three)
  for (const family of ['pairs', 'list-first', 'list-deep', 'balance'])
    expect(rowsOf(family), family).toEqual([...three, 10_000_000])
  for (const { growth, large = false } of workloads) expect(large).toBe(growth?.rows === 10_000_000)
})

test('every workload has a rate at which its latency is looked at', () => {
  for (const { name, pace, rate } of workloads) expect(pace ?? rate, name).toBeGreaterThan(0)
})

test('the shares of an ordinary day make a thousand', () => {
  expect(Object.values(shares).reduce<number>((sum, share) => sum + share, 0)).toBe(1_000)
})
