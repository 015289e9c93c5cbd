import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createVerified } from './verified.ts'

test('what was kept is found by its whole text alone', () => {
  const verified = createVerified()
  const claims = { sub: 'a' }
  verified.keep('token', claims)
  expect(verified.find('token')).toBe(claims)
  expect(['toke', 'token ', 'Token', ''].map((text) => verified.find(text))).toEqual([undefined, undefined, undefined, undefined])
})

test('long tokens make room for themselves', () => {
  const verified = createVerified({ characters: 12 })
  for (const token of ['aaa', 'bbb', 'cccccc', 'dddddd']) verified.keep(token, {})
  expect(['aaa', 'bbb', 'cccccc', 'dddddd'].map((token) => verified.find(token) !== undefined)).toEqual([
    false,
    false,
    true,
    true,
  ])
})

test('whatever is done, it holds what a list in the order of use would hold, and no more than allowed', () => {
  const token = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom('a', 'b') })
  const step = fc.tuple(fc.constantFrom('keep', 'keep', 'keep', 'find', 'drop'), token)
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const verified = createVerified({ tokens: 6, characters: 24 })
      let list: string[] = []
      for (const [what, text] of steps) {
        const was = list.includes(text)
        const others = list.filter((each) => each !== text)
        if (what === 'drop') verified.drop(text)
        if (what === 'keep') verified.keep(text, {})
        if (what === 'find') expect(verified.find(text) !== undefined).toBe(was)
        list = what === 'keep' || (what === 'find' && was) ? [...others, text] : others
        while (list.length > 6 || list.join('').length > 24) list.shift()
        expect(verified.size()).toEqual({ tokens: list.length, characters: list.join('').length })
      }
      for (const text of list) expect(verified.find(text)).toBeDefined()
    }),
    { numRuns: 500 },
  )
})
