import { expect, test } from 'vitest'
import { closest } from './spelling.ts'

const known = ['SITE_URL', 'SMTP_HOST', 'SMTP_PORT', 'PORT']

test.each([
  ['SITE_URI', 'SITE_URL'],
  ['SITEURL', 'SITE_URL'],
  ['STIE_URL', 'SITE_URL'],
  ['SMTP_PROT', 'SMTP_PORT'],
  ['PRT', 'PORT'],
  ['POTR', 'PORT'],
  ['PTRO', undefined],
  ['SITE_URL', 'SITE_URL'],
  ['X', undefined],
  ['COMPLETELY_DIFFERENT', undefined],
  ['', undefined],
])('%s most likely stands for %s', (word, meant) => {
  expect(closest(word, known)).toBe(meant)
})

test('the nearest of several wins', () => {
  expect(closest('SMTP_HOSTS', known)).toBe('SMTP_HOST')
})
