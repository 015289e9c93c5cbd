import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../../../../e2e/browser.ts'
import { renderHtml } from './render.ts'

let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  browser = await openBrowser()
}, 60_000)
afterAll(() => browser?.close())

const template = `<!doctype html><html><head><base href="https://base.test/"><title>{{ .V }}</title></head><body>
{{ .V }}<p title="{{ .V }}" lang='{{ .V }}' id={{ .V }} class=x{{ .V }} data-url="{{ .V }}" style="color:{{ .V }}">{{ .V }}</p>
<a href="{{ .V }}">{{ .V }}</a><a href='{{ .V }}{{ .V }}'>x</a><a href={{ .V }}>x</a><a href="https://x.test/{{ .V }}?a={{ .V }}#{{ .V }}">x</a>
<a href="x{{ .V }}">x</a><a href="{{ .RedirectTo }}">x</a><textarea>{{ .V }}</textarea><!-- {{ .V }} --><!--[if mso]>{{ .V }}<![endif]-->
<table><tr><td background="{{ .V }}">{{ .V }}</td></tr></table><ul>{{ range .List }}<li>{{ . }}</li>{{ end }}</ul></body></html>`

const fragments =
  '< > " \' ` = & / \\ ; : # ? % \0 \n \t \u00a0 --> <!-- </title> </textarea> </p> <script> <img/src=x/onerror=x> javascript: data:text/html, &#106;avascript: &quot; onload=x " x=" \' x=\' {{ }} ]]> <svg> \ud800 é https://x.test java script:'.split(
    ' ',
  )

/** Elements with the names of their attributes, and where links lead. */
function skeletonsOf(pages: string[]) {
  return pages.map((html) => {
    const parsed = new DOMParser().parseFromString(html, 'text/html')
    const elements = [...parsed.querySelectorAll('*')].map((element) =>
      [element.tagName, ...element.getAttributeNames().sort()].join(' '),
    )
    const schemes = [...parsed.querySelectorAll('a')].map((link) => (link.href.split(':')[0] ?? '').toLowerCase())
    return { elements, code: schemes.filter((scheme) => ['javascript', 'data', 'vbscript', 'blob', 'file'].includes(scheme)) }
  })
}

test('to a real browser, no value adds an element, an attribute or a link that is code', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...fragments, ' '), { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
  )
  const values = ['plain', ...fc.sample(value, 1500)]
  const pages = values.map((V) => renderHtml(template, { V, RedirectTo: V, List: [V, V] }).text ?? 'nothing was rendered')
  const page = await browser.newPage()
  const [plain, ...others] = await page.evaluate(skeletonsOf, pages)
  expect(plain?.elements).toHaveLength(20)
  others.forEach((skeleton, index) => {
    expect({ value: values[index + 1], ...skeleton }).toEqual({ value: values[index + 1], ...plain, code: [] })
  })
}, 60_000)
