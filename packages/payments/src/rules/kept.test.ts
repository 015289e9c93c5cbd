import { expect, test } from 'vitest'
import { createKept } from './kept.ts'

test('what was kept is found, and nothing else', () => {
  const kept = createKept<number>(10)
  kept.keep('a', 1)
  expect([kept.find('a'), kept.find('b'), kept.find('constructor')]).toEqual([1, undefined, undefined])
  kept.keep('a', 2)
  expect(kept.find('a')).toBe(2)
})

test('never more than so many are kept', () => {
  const kept = createKept<number>(10)
  const names = Array.from({ length: 1000 }, (_, index) => `n${index}`)
  for (const name of names) kept.keep(name, 1)
  expect(names.filter((name) => kept.find(name) !== undefined).length).toBeLessThanOrEqual(10)
})

test('what is asked for again and again stays, however many come by', () => {
  const kept = createKept<number>(10)
  kept.keep('regular', 1)
  for (let count = 0; count < 1000; count++) {
    kept.keep(`passer-by ${count}`, 0)
    expect(kept.find('regular')).toBe(1)
  }
})
