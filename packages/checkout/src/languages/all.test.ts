import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseLanguage, languages } from './all.ts'
import { en } from './en.ts'
import type { Words } from './words.ts'

const keys = Object.keys(en) as (keyof Words)[]
const translations = Object.entries(languages).filter(([code]) => code !== 'en')

/** What is the same in both languages, and rightly so. */
const sameAsEnglish = ['cs reference', 'da reference', 'fr receiptDate', 'ro card', 'ro receiptCard']

/** Not of any language: names, what is put in, what stands in links. */
const nobodysWords = /\{\w+\}|JavaScript|Visa|Mastercard|test=1/g

/** The letters of each language, small; a letter of another alphabet that looks the same is found by this. */
const alphabets: Readonly<Record<string, string>> = {
  bg: 'абвгдежзийклмнопрстуфхцчшщъьюяѝ',
  ca: 'aàbcçdeèéfghiíïjklmnoòópqrstuúüvwxyz·',
  cs: 'aábcčdďeéěfghiíjklmnňoópqrřsštťuúůvwxyýzž',
  da: 'abcdefghijklmnopqrstuvwxyzæøå',
  de: 'abcdefghijklmnopqrstuvwxyzäöüß',
  el: 'αάβγδεέζηήθιίϊΐκλμνξοόπρσςτυύϋΰφχψωώ',
  en: 'abcdefghijklmnopqrstuvwxyz',
  es: 'aábcdeéfghiíjklmnñoópqrstuúüvwxyz',
  et: 'abcdefghijklmnopqrsšzžtuvwõäöüxy',
  fi: 'abcdefghijklmnopqrstuvwxyzåäö',
  fr: 'aàâæbcçdeéèêëfghiîïjklmnoôœpqrstuùûüvwxyÿz',
  ga: 'aábcdeéfghiílmnoóprstuúv',
  hr: 'abcčćdđefghijklmnoprsštuvzž',
  hu: 'aábcdeéfghiíjklmnoóöőpqrstuúüűvwxyz',
  is: 'aábdðeéfghiíjklmnoóprstuúvxyýþæö',
  it: 'aàbcdeéèfghiìjklmnoòpqrstuùvwxyz',
  lt: 'aąbcčdeęėfghiįyjklmnoprsštuųūvzž',
  lv: 'aābcčdeēfgģhiījkķlļmnņoprsštuūvzž',
  mt: 'aàbċdeèfġghħiìjklmnoòpqrstuùvwxżz',
  nb: 'abcdefghijklmnopqrstuvwxyzæøå',
  nl: 'abcdeéëfghiïjklmnoópqrstuvwxyz',
  pl: 'aąbcćdeęfghijklłmnńoópqrsśtuvwxyzźż',
  pt: 'aáâãàbcçdeéêfghiíjklmnoóôõpqrstuúvwxyz',
  ro: 'aăâbcdefghiîjklmnopqrsștțuvwxyz',
  sk: 'aáäbcčdďeéfghiíjklĺľmnňoóôpqrŕsštťuúvwxyýzž',
  sl: 'abcčdefghijklmnoprsštuvzž',
  sv: 'abcdefghijklmnopqrstuvwxyzåäö',
  uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
}

test('there are 28 languages, one in each file', () => {
  const files = readdirSync(import.meta.dirname).filter((file) => /^[a-z]{2}\.ts$/.test(file))
  expect(Object.keys(languages)).toEqual(files.map((file) => file.slice(0, 2)).sort())
  expect(files).toHaveLength(28)
})

describe.each(Object.entries(languages))('%s', (code, words) => {
  const texts = keys.map((key) => [key, words[key]] as const)

  test('has the keys of English, in its order, and a text for each', () => {
    expect(Object.keys(words)).toEqual(keys)
    for (const [key, text] of texts) expect(text, key).toMatch(/\S/)
  })

  test('puts in what English puts in, once', () => {
    for (const [key, text] of texts) expect(findAll(text, /\{.*?\}/g), key).toEqual(findAll(en[key], /\{.*?\}/g))
    for (const [key, text] of texts)
      expect(text.replaceAll(/\{(amount|merchant|currency|example)\}/g, ''), key).not.toMatch(/[{}]/)
  })

  test('keeps names, examples and parameters as they are', () => {
    const kept = /Visa|Mastercard|JavaScript|test=1|04 \/ 29/g
    for (const [key, text] of texts) expect(new Set(findAll(text, kept)), key).toEqual(new Set(findAll(en[key], kept)))
  })

  test('ends sentences as sentences and labels as labels', () => {
    for (const [key, text] of texts) expect(endingOf(text, code), key).toBe(endingOf(en[key], 'en'))
  })

  test('writes quotes, apostrophes, dashes, dots and spaces as printers do', () => {
    for (const [key, text] of texts) {
      expect(text, key).not.toMatch(/['"`´‘]|\.\.|--| - /)
      expect(text, key).not.toMatch(/^\s|\s$|\s\s|\t|\n/)
    }
  })

  test('has a space before high punctuation in French and nowhere else', () => {
    for (const [key, text] of texts) {
      if (code === 'fr') expect(text, key).not.toMatch(/(?<!\u202f)[:;!?]/)
      else expect(text, key).not.toMatch(/\s[:;!?.,]|\u202f/)
    }
  })

  test('is written in the letters of the language', () => {
    const letters = new Set(alphabets[code])
    for (const [key, text] of texts) {
      const foreign = findAll(text.replaceAll(nobodysWords, '').toLowerCase(), /[\p{L}\p{M}·]/gu).filter(
        (letter) => !letters.has(letter),
      )
      expect(foreign, `${key}: ${text}`).toEqual([])
    }
  })

  test('hints at month and year in two letters each', () => {
    expect(words.expiryHint).toMatch(/^(\p{L})\1 \/ (?!\1)(\p{L})\2$/u)
  })

  test('has labels that fit side by side on a narrow phone', () => {
    for (const text of [words.expiry, words.securityCode]) expect(text.length, text).toBeLessThanOrEqual(20)
  })

  test('has a locale of its own that Intl knows', () => {
    const { locale } = chooseLanguage({ locale: code })
    expect(locale).toMatch(new RegExp(`^${code}-[A-Z]{2}$`))
    expect(Intl.NumberFormat.supportedLocalesOf([locale])).toEqual([locale])
    expect(new Intl.Locale(new Intl.DateTimeFormat(locale).resolvedOptions().locale).language).toBe(code)
  })

  test('writes amounts as its people do', () => {
    const { locale } = chooseLanguage({ locale: code })
    const parts = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' }).formatToParts(1234567.5)
    const [decimal, group] = ['decimal', 'group'].map((type) => parts.find((part) => part.type === type)?.value)
    const pointed = ['en', 'ga', 'mt'].includes(code)
    expect(decimal).toBe(pointed ? '.' : ',')
    expect(group).toMatch(pointed ? /^,$/ : /^[.\s]$/)
    expect(parts.filter((part) => part.type === 'currency').map((part) => part.value)).toEqual([
      expect.stringMatching(/^(€|EUR)$/),
    ])
  })
})

test('no text has been left in English', () => {
  const left = translations.flatMap(([code, words]) =>
    keys.filter((key) => words[key] === en[key]).map((key) => `${code} ${key}`),
  )
  expect(left).toEqual(sameAsEnglish)
})

test('no language is a copy of another', () => {
  const sentences = keys.filter((key) => en[key].endsWith('.'))
  for (const [code, words] of translations) {
    for (const [other, others] of translations) {
      const same = sentences.filter((key) => words[key] === others[key])
      if (code !== other) expect(same.length, `${code} and ${other}: ${same}`).toBeLessThan(sentences.length / 4)
    }
  }
})

test.each([
  ['da', 'DKK', '1.234,50 kr.'],
  ['nb', 'NOK', '1 234,50 kr'],
  ['sv', 'SEK', '1 234,50 kr'],
  ['de', 'EUR', '1.234,50 €'],
  ['de_AT', 'EUR', '€ 1.234,50'],
  ['fr', 'EUR', '1 234,50 €'],
  ['pl', 'PLN', '1234,50 zł'],
  ['pt', 'EUR', '1234,50 €'],
  ['pt_BR', 'BRL', 'R$ 1.234,50'],
  ['en', 'EUR', '€1,234.50'],
  ['es', 'EUR', '1234,50 €'],
  ['es_MX', 'MXN', '$1,234.50'],
])('in %s, 1234.5 %s is %s', (locale, currency, expected) => {
  const format = new Intl.NumberFormat(chooseLanguage({ locale }).locale, { style: 'currency', currency })
  expect(format.format(1234.5).replaceAll(/\s/g, ' ')).toBe(expected)
})

test.each<[string | undefined, string | undefined, string, string]>([
  ['en_US', undefined, 'en', 'en-US'],
  ['en-US', undefined, 'en', 'en-US'],
  ['EN-us', undefined, 'en', 'en-US'],
  ['en', undefined, 'en', 'en-GB'],
  ['en_DK', undefined, 'en', 'en-DK'],
  ['da', undefined, 'da', 'da-DK'],
  [' da ', undefined, 'da', 'da-DK'],
  ['de_AT', undefined, 'de', 'de-AT'],
  ['de_AT.UTF-8', undefined, 'de', 'de-AT'],
  ['ca_ES@valencia', undefined, 'ca', 'ca-ES'],
  ['de-CH-1996', undefined, 'de', 'de-CH'],
  ['nb-Latn-NO', undefined, 'nb', 'nb-NO'],
  ['es-419', undefined, 'es', 'es-419'],
  ['de-DE-u-nu-thai', undefined, 'de', 'de-DE'],
  ['no', undefined, 'nb', 'nb-NO'],
  ['nn_NO', undefined, 'nb', 'nb-NO'],
  ['pt', undefined, 'pt', 'pt-PT'],
  ['pt_BR', undefined, 'pt', 'pt-BR'],
  ['da', 'de', 'da', 'da-DK'],
  [undefined, 'de', 'de', 'de-DE'],
  ['', 'de-CH,de;q=0.9,en;q=0.8', 'de', 'de-CH'],
  ['ja_JP', 'sv', 'sv', 'sv-SE'],
  ['danish', 'sv', 'sv', 'sv-SE'],
  ['constructor', 'sv', 'sv', 'sv-SE'],
  ['../../en', 'sv', 'sv', 'sv-SE'],
  ['"><script>', 'sv', 'sv', 'sv-SE'],
  ['da<', 'sv', 'sv', 'sv-SE'],
  ['x'.repeat(100_000), 'sv', 'sv', 'sv-SE'],
  [undefined, 'ja, fr;q=0.5', 'fr', 'fr-FR'],
  [undefined, 'en;q=0.5, da;q=0.9, sv;q=0.7', 'da', 'da-DK'],
  [undefined, 'en;q=0.5,da ; Q=0.9', 'da', 'da-DK'],
  [undefined, 'fi;q=0.8,et;q=0.8', 'fi', 'fi-FI'],
  [undefined, 'fr;q=0, it;q=0.1', 'it', 'it-IT'],
  [undefined, 'fr;q=2, it;q=0.1', 'it', 'it-IT'],
  [undefined, 'fr;q=, it;q=0.1', 'it', 'it-IT'],
  [undefined, '*', 'en', 'en-GB'],
  [undefined, '*, nl;q=0.5', 'nl', 'nl-NL'],
  [undefined, `${'ja,'.repeat(5000)}nl`, 'en', 'en-GB'],
  [undefined, '', 'en', 'en-GB'],
  [undefined, undefined, 'en', 'en-GB'],
])('a link in %j for a browser in %j is shown in %s as of %s', (locale, acceptLanguage, code, expected) => {
  expect(chooseLanguage({ locale, acceptLanguage })).toEqual({ code, locale: expected, words: languages[code] })
})

test('whatever a link or a browser says, there are words and a locale that Intl takes', () => {
  const pieces = fc.constantFrom(
    'da',
    'EN',
    'no',
    'us',
    '419',
    'latn',
    '1996',
    '-',
    '_',
    '.',
    '@',
    ',',
    ';q=',
    '0.5',
    '9',
    '*',
    ' ',
    '\n',
    '\0',
    'ı',
    'K',
  )
  const texts = fc.oneof(
    fc.array(pieces).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  )
  const asked = fc.record({ locale: fc.option(texts, { nil: undefined }), acceptLanguage: fc.option(texts, { nil: undefined }) })
  fc.assert(
    fc.property(asked, (asked) => {
      const { code, locale, words } = chooseLanguage(asked)
      expect(words).toBe(languages[code])
      expect(locale).toMatch(/^[a-z]{2}-([A-Z]{2}|\d{3})$/)
      expect(Intl.getCanonicalLocales(locale)).toHaveLength(1)
    }),
    { numRuns: 2000 },
  )
})

function findAll(text: string, pattern: RegExp): string[] {
  return (text.match(pattern) ?? []).toSorted()
}

/** The mark at the end; Greeks ask with what others call a semicolon. */
function endingOf(text: string, code: string): string | undefined {
  const mark = /[.:;?!…]$/.exec(text)?.[0]
  return code === 'el' && mark === ';' ? '?' : mark
}
