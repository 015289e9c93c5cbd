import { expect, test } from 'vitest'
import { parseSmsTemplate, smsText } from './template.ts'

test.each([
  ['Your code is {{ .Code }}', 'Your code is 424242'],
  ['{{.Code}}', '424242'],
  ['{{\t.Code\n}} is your code', '424242 is your code'],
  ['{{ .Code }} and once more {{.Code}}', '424242 and once more 424242'],
  ['Dein Schlüssel {🔑}: {{ .Code }}\n@shop.test #{{ .Code }}', 'Dein Schlüssel {🔑}: 424242\n@shop.test #424242'],
])('%j is taken', (template, text) => {
  expect(parseSmsTemplate(template)).toBe(template)
  expect(smsText(template, '424242')).toBe(text)
})

const none = { expected: 'a text with {{ .Code }} where the code goes' }
const more = { expected: 'a text with {{ .Code }} and nothing else in double braces' }

test.each([
  ['', none],
  ['Your code', none],
  ['Your code is { .Code }', none],
  ['Your code is {{ .code }}', none],
  ['Your code is {{ Code }}', none],
  ['Your code is {{ .Codes }}', none],
  ['Your code is {{ .Code', none],
  ['Your code is {{ .Code | printf }}', none],
  ['{{ .Code }} {{ .Token }}', more],
  ['{{ if .Code }}{{ .Code }}{{ end }}', more],
  ['{{ .Code }} {{', more],
  ['{{ .Code }} }}', more],
  ['{{ {{ .Code }} }}', more],
])('%j is refused', (template, refusal) => {
  expect(parseSmsTemplate(template)).toEqual(refusal)
})

test('a code is put in as it is', () => {
  expect(smsText('{{ .Code }}!', "$&$'{{ .Code }}")).toBe("$&$'{{ .Code }}!")
})
