import { expect, test } from 'vitest'
import { Mistake, readOptions } from './options.ts'

const known = [
  { name: 'list' },
  { name: 'list-first-1k' },
  { name: 'list-first-1m' },
  { name: 'list-first-10m', large: true },
  { name: 'list-other' },
]
const namesOf = (...words: string[]) => readOptions(words, known).names

test('what takes long to make is measured only when it is asked for', () => {
  expect(namesOf()).toEqual(['list', 'list-first-1k', 'list-first-1m', 'list-other'])
  expect(namesOf('--large')).toContain('list-first-10m')
  expect(namesOf('list-first-10m')).toEqual(['list-first-10m'])
})

test('a name without its size stands for all sizes, and a name that is one for itself alone', () => {
  expect(namesOf('list-first')).toEqual(['list-first-1k', 'list-first-1m'])
  expect(namesOf('list-first', '--large')).toEqual(['list-first-1k', 'list-first-1m', 'list-first-10m'])
  expect(namesOf('list')).toEqual(['list'])
  expect(() => namesOf('list-fir')).toThrow(Mistake)
})

test('a flame graph is of one workload that there is, and of nothing else', () => {
  expect(readOptions(['--flame', 'list'], known).flame).toBe('list')
  for (const words of [
    ['--flame', 'nonsense'],
    ['--flame', 'list', 'list-other'],
    ['--flame', 'list', '--page'],
  ])
    expect(() => readOptions(words, known), words.join(' ')).toThrow(Mistake)
})

test.each(['0', '-1', '1.5', 'x', ''])('%j is no number of rounds', (rounds) => {
  expect(() => readOptions([`--rounds=${rounds}`], known)).toThrow('--rounds must be a whole number of at least 1')
})
