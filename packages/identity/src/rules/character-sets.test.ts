import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCharacterSets } from './character-sets.ts'

test.each([
  ['abc:0123', ['abc', '0123']],
  ['abc', ['abc']],
  [String.raw`abc:\:!`, ['abc', ':!']],
  [String.raw`a\:b\:c`, ['a:b:c']],
  [String.raw`\\n:x`, [String.raw`\\n`, 'x']],
  ['::abc::', ['abc']],
  [':', []],
])('%s are the sets %j', (text, sets) => {
  expect(parseCharacterSets(text)).toEqual(sets)
})

test('any sets come back once their colons are escaped', () => {
  const set = fc.string({ minLength: 1 }).filter((text) => !text.includes('\\'))
  fc.assert(
    fc.property(fc.array(set), (sets) => {
      expect(parseCharacterSets(sets.map((each) => each.replaceAll(':', '\\:')).join(':'))).toEqual(sets)
    }),
  )
})
