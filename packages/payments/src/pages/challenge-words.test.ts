import { expect, test } from 'vitest'
import { challengeWords } from './challenge-words.ts'

test.each([
  ['', 'en'],
  ['da', 'da'],
  ['da-DK,da;q=0.9,en;q=0.8', 'da'],
  ['ja, DE-at;q=0.5', 'de'],
  ['no', 'nb'],
  ['nn-NO', 'nb'],
  ['ja', 'en'],
  ['*', 'en'],
  ['constructor', 'en'],
  ['dax', 'en'],
  [',,;', 'en'],
])('whoever asks for "%s" is spoken to in %s', (asked, language) => {
  expect(challengeWords(asked)[0]).toBe(language)
})

test('a word fits its button in every language', () => {
  for (const language of ['da', 'de', 'en', 'es', 'fi', 'fr', 'it', 'nb', 'nl', 'pl', 'sv']) {
    const [spoken, { confirm, refuse }] = challengeWords(language)
    expect(spoken).toBe(language)
    for (const word of [confirm, refuse]) expect(word.length).toBeLessThanOrEqual(12)
  }
})
