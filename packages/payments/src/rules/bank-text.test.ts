import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bankText } from './bank-text.ts'

test.each([
  ['Rødgrød med fløde ApS', 'Roedgroed med floede ApS'],
  ['Østerbro Æbler, Århus', 'Oesterbro Aebler, Aarhus'],
  ['ØSTERBRO ÆBLER, ÅRHUS', 'OESTERBRO AEBLER, AARHUS'],
  ['Müller & Söhne, Straße 5', 'Mueller + Soehne, Strasse 5'],
  ['STRAẞE', 'STRASSE'],
  ['Zażółć gęślą jaźń, Łódź', 'Zazolc gesla jazn, Lodz'],
  ['Crème Brûlée à Orléans, cœur', 'Creme Brulee a Orleans, coeur'],
  ['Čučoriedky Žilina, Řepa, Őszi Űr', 'Cucoriedky Zilina, Repa, Oszi Ur'],
  ['Șofer Țuică', 'Sofer Tuica'],
  ['Þórður ehf.', 'Thordur ehf.'],
  ['Ίδρυμα Ψωμί', 'Idryma Psomi'],
  ['Българска Къща ЕООД', 'Balgarska Kashta EOOD'],
  ['O’Neill “Best” – shop_1', "O'Neill 'Best' - shop-1"],
  ['https://shop.test/a?b', 'https://shop.test/a?b'],
  ['a@b.test', 'a(at)b.test'],
  ['<b>\u0000\u001b', '.b...'],
  ['  two\n\tlines\u00a0 ', 'two lines'],
  ['日本 👩‍👩‍👧', '.. ...'],
  ['e\u0301', 'e'],
])('%s is written %s', (text, expected) => {
  expect(bankText(text)).toBe(expected)
})

test('whatever is written holds nothing but the letters of banks, at most 70, and stays as it is when written again', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme', maxLength: 200 })),
      (text) => {
        const written = bankText(text)
        expect(written).toMatch(/^[A-Za-z0-9/\-?:().,'+ ]{0,70}$/)
        expect(bankText(written)).toBe(written)
      },
    ),
  )
})

test('a name that grows by its spelling is cut to 70 letters', () => {
  expect(bankText('ß'.repeat(69))).toBe('s'.repeat(70))
  expect(bankText(`${'a'.repeat(69)} b`)).toBe('a'.repeat(69))
})
