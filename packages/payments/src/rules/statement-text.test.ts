import { expect, test } from 'vitest'
import { statementText } from './statement-text.ts'

test.each([
  ['Fjord & Fern', 'Fjord & Fern'],
  ['Café Ångström', 'Cafe Angstrom'],
  ['Smørrebrød 🥪', 'Sm?rrebr?d ?'],
  ['a\tb\nc', 'a?b?c'],
  ['x'.repeat(1024), 'x'.repeat(22)],
])('%j is printed as %j', (text, printed) => {
  expect(statementText(text)).toBe(printed)
})
