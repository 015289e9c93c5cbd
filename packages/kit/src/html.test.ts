import { expect, test } from 'vitest'
import { Html, html } from './html.ts'

const hostile = `<script>"&'</script>`

test('what is put into a template is escaped, in text and in attributes', () => {
  expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
    '<p title="&#60;script&#62;&#34;&#38;&#39;&#60;/script&#62;">&#60;script&#62;&#34;&#38;&#39;&#60;/script&#62;</p>',
  )
})

test('HTML in HTML stays as it is, also in lists', () => {
  expect(html`<ul>${[html`<li>${'<'}</li>`, '<', [html`<b>`]]}</ul>${new Html('<i>')}`.text).toBe(
    '<ul><li>&#60;</li>&#60;<b></ul><i>',
  )
})

test('nothing is written for what is not there, zero is', () => {
  expect(html`a${undefined}b${false}c${''}d${0}`.text).toBe('abcd0')
})
