import { expect, test } from 'vitest'
import { keeperFor } from './kept.ts'

function memory(): Storage {
  const items = new Map<string, string>()
  return {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => void items.set(name, value),
    removeItem: (name: string) => void items.delete(name),
  } as Storage
}

const running = { running: { order: { amount: 1 }, hints: ['a'], risky: false }, minor: 1, last4: '0000' }

test('every link has a memory of its own', () => {
  const storage = memory()
  keeperFor('/pos?a', storage).write(running)
  expect(keeperFor('/pos?a', storage).read()).toEqual(running)
  expect(keeperFor('/pos?b', storage).read()).toBeUndefined()
  keeperFor('/pos?a', storage).clear()
  expect(keeperFor('/pos?a', storage).read()).toBeUndefined()
})

test.each(['{', 'null', '1', '{}', '{"running":{}}', '{"paid":{}}'])('%s is nothing to go on with', (text) => {
  const storage = memory()
  storage.setItem('tollgate /pos', text)
  expect(keeperFor('/pos', storage).read()).toBeUndefined()
})

test('without storage, or with one that refuses, nothing is kept and nothing breaks', () => {
  const refusing = {
    getItem() {
      throw new Error('no')
    },
    setItem() {
      throw new Error('no')
    },
  } as unknown as Storage
  for (const keeper of [keeperFor('/pos'), keeperFor('/pos', refusing)]) {
    keeper.write(running)
    expect(keeper.read()).toBeUndefined()
    keeper.clear()
  }
})
