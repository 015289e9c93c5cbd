import { expect, test } from 'vitest'
import { createInTurn } from './in-turn.ts'
import { gate } from './testing.ts'

test('stories about one thing come one after the other, whether they fail or not', async () => {
  const inTurn = createInTurn()
  const inside = gate<string, number>()
  const told = ['a', 'b', 'c'].map((name) => inTurn('thing', () => inside.enter(name)))
  expect(await inside.entered()).toBe('a')
  expect(inside.inputs).toEqual(['a'])
  inside.fail(1, new Error('no'))
  await expect(told[0]).rejects.toThrow('no')
  expect(await inside.entered(2)).toBe('b')
  inside.leave(2, 7)
  expect(await told[1]).toBe(7)
  expect(await inside.entered(3)).toBe('c')
  inside.leave(3, 8)
  expect(await told[2]).toBe(8)
})

test('stories about different things do not wait for each other', async () => {
  const inTurn = createInTurn()
  const inside = gate<string, void>()
  const one = inTurn('one', () => inside.enter('one'))
  const other = inTurn('other', () => inside.enter('other'))
  await inside.entered(2)
  inside.leave(2)
  await other
  inside.leave(1)
  await one
})
