import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findLocale, plainLanguage } from './locale.ts'

test.each([
  ['de', 'de'],
  ['pt-BR', 'pt-br'],
  ['pt_BR', 'pt-br'],
  [' zh-Hant-TW ', 'zh-hant-tw'],
  ['es-419', 'es-419'],
  ['sl-rozaj-biske', 'sl-rozaj-biske'],
  ['de-CH-1996', 'de-ch-1996'],
  ['en-US-u-hc-h12', 'en-us'],
  ['de-x-anything', 'de'],
])('%j in the metadata is %s', (text, locale) => {
  expect(findLocale({ locale: text })).toBe(locale)
})

test.each([
  '',
  'German',
  'd',
  '*',
  '../../etc',
  'de/..',
  'de%2f',
  'de.html',
  'de--at',
  'de-',
  '-de',
  'dé',
  'go-to-evil-site',
  `de-${'variant8-'.repeat(5)}x1234`,
  'de-variant1-variant2-variant3-variant4',
  'x'.repeat(1_000_000),
  `de${'-a-b'.repeat(100_000)}`,
  7,
  null,
  { de: true },
  ['de'],
])('%j is no language', (text) => {
  expect(findLocale({ locale: text })).toBeUndefined()
})

test.each<[Record<string, unknown> | undefined, string | undefined, string | undefined]>([
  [{ locale: 'de', lang: 'fr', language: 'it' }, 'en', 'de'],
  [{ locale: 'Deutsch', lang: 'fr', language: 'it' }, 'en', 'fr'],
  [{ language: 'it' }, 'en', 'it'],
  [{ language: 'Italian' }, 'da-DK,da;q=0.9,en;q=0.8', 'da-dk'],
  [{}, 'da;q=0.9', 'da'],
  [undefined, '*, sv;q=0.5', 'sv'],
  [undefined, '*', undefined],
  [undefined, '', undefined],
  [undefined, `${'*,'.repeat(8000)}sv`, undefined],
  [{}, undefined, undefined],
])('%j and %j make %s', (metadata, accepted, locale) => {
  expect(findLocale(metadata, accepted)).toBe(locale)
})

test('whatever is sent, a language is up to 35 letters, digits and hyphens', () => {
  const pieces = fc.constantFrom(
    'de',
    'AT',
    'latn',
    '1996',
    'variant',
    '-',
    '_',
    '/',
    '.',
    '%',
    '\\',
    '{',
    '\0',
    'x',
    'ı',
    'K',
    ' ',
  )
  const texts = fc.oneof(
    fc.array(pieces).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      for (const locale of [findLocale({ locale: text }), findLocale({}, text)])
        expect(locale ?? 'none').toMatch(/^[a-z]{2,4}(-[a-z0-9]+)*$/)
      expect(findLocale({ locale: text })?.length ?? 0).toBeLessThanOrEqual(35)
    }),
    { numRuns: 2000 },
  )
})

test('the plain language is what stands before the first hyphen', () => {
  expect(['pt-br', 'zh-hant-tw', 'de'].map(plainLanguage)).toEqual(['pt', 'zh', 'de'])
})
