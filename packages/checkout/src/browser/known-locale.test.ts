import { afterEach, expect, test, vi } from 'vitest'
import { knownLocale } from './known-locale.ts'

afterEach(() => vi.restoreAllMocks())

test('a locale that the browser knows is taken as it is', () => {
  expect(knownLocale('da-DK')).toBe('da-DK')
})

test.each([
  ['mt-MT', 'en-MT'],
  ['ga-IE', 'en-IE'],
  ['is-IS', 'da-DK'],
  ['uk-UA', 'en-GB'],
])('where it does not know %s, numbers are written as in %s, and not as in the language of the browser', (locale, taken) => {
  vi.spyOn(Intl.NumberFormat, 'supportedLocalesOf').mockReturnValue([])
  expect(knownLocale(locale)).toBe(taken)
})
