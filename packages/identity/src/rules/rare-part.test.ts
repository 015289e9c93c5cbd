import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rarePart, sampleOf } from './rare-part.ts'

/** A hundred people with one of four first names and one of five surnames, at one company. */
const people = Array.from({ length: 100 }, (_, index) => {
  const first = ['hannah', 'oscar', 'peter', 'sofie'][index % 4]
  const last = ['andersen', 'jensen', 'nielsen', 'olsen', 'madsen'][index % 5]
  return `${first}.${last}${37 + index * 101}@company.example\n45${20_000_000 + index * 10_007}\n${first} ${last}\n`
})
const sample = sampleOf(people)

test.each([
  ['sofie.jensen777777@company.example', 'n777777@'],
  ['Sofie.Jensen777777@Company.Example', 'n777777@'],
  ['jensen77@', 'n77@'],
  ['4520888888', '0888888'],
  ['hannah.zimmermann@company.example', '.zimmerman'],
  // Whoever is in the sample is found like everybody else.
  ['oscar.madsen946@company.example', 'n946@'],
  // Somebody else of the sample has n340@ too: another part has to do.
  ['sofie.jensen340@zq7.', '@zq7.'],
  ['xylophone', 'xylophone'],
])('of %s the index looks for %s', (text, part) => {
  expect(rarePart(text, sample)).toBe(part)
})

test.each([
  ['all of it is common', 'sofie jensen'],
  ['three letters alone are rare', 'jensenq'],
  ['others of the sample have its rare part', 'sofie.jensen340@company.example'],
  ['it has letters that are not plain', 'lærke.jensen777777@company.example'],
  ['it is too short', 'zq'],
  ['it has no letters', '@@@@@@'],
  ['it is empty', ''],
])('a text is looked for as it is where %s', (_, text) => {
  expect(rarePart(text, sample)).toBe(text)
})

test('of few texts nothing is learnt', () => {
  expect(rarePart('sofie.jensen777777@company.example', sampleOf(people.slice(0, 49)))).toBe('sofie.jensen777777@company.example')
  expect(rarePart('sofie.jensen777777@company.example', sampleOf([]))).toBe('sofie.jensen777777@company.example')
})

test('whatever is looked for is a part of the text, and of what the index knows unless it is all of it', () => {
  const pieces = fc.constantFrom('sofie', 'jensen', '.', '@', 'company', '7', '31', 'zq', '%', '_', '\\', ' ', 'Æ', 'Q')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (chosen) => {
      const text = chosen.join('')
      const part = rarePart(text, sample)
      expect(text).toContain(part)
      if (part !== text) expect(part).toMatch(/[a-z0-9]{2}/i)
    }),
  )
})
