import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderHtml, renderSubject } from './render.ts'

const values = {
  SiteURL: 'https://site.test',
  Email: 'ann@site.test',
  ConfirmationURL: 'https://auth.test/verify?token=abc&type=signup',
  RedirectTo: 'com.app://open',
  Token: '123456',
  TokenHash: 'pkce_abc',
  Data: { name: '<Ann>', lang: 'de', nested: { list: ['a', 'b'] }, empty: [], count: 3, yes: true, none: null, 'a-b': 'dash' },
}

test.each([
  ['{{ .Email }}', 'ann@site.test'],
  ['{{.Email}}', 'ann@site.test'],
  ['{{ .Data.name }}', '&lt;Ann&gt;'],
  ['{{ .Data.count }} {{ .Data.yes }}', '3 true'],
  ['[{{ .Unknown }}{{ .Data.none }}{{ .Data.a.b.c }}{{ .Email.length }}]', '[]'],
  ['[{{ .constructor }}{{ .Data.__proto__ }}{{ .Data.toString }}]', '[]'],
  ['{{ .Data.nested }}', '{&#34;list&#34;:[&#34;a&#34;,&#34;b&#34;]}'],
  ['{{ if .Data.name }}yes{{ else }}no{{ end }}', 'yes'],
  ['{{ if .Data.empty }}yes{{ else }}no{{ end }}', 'no'],
  ['{{ if .Data.x }}1{{ else if eq .Data.lang "fr" }}2{{ else if eq .Data.lang "de" `at` }}3{{ else }}4{{ end }}', '3'],
  ['{{ if and .Data.name (not .Data.x) (ne .Data.count 4) }}yes{{ end }}', 'yes'],
  ['{{ or .Data.nick .Data.lang }}', 'de'],
  ['{{ .Data.lang | eq "de" }}', 'true'],
  ['{{ index .Data "a-b" }}{{ index .Data.nested.list 1 }}', 'dashb'],
  ['{{ range .Data.nested.list }}<{{ . }}{{ $.Token }}>{{ end }}', undefined],
  ['{{ range .Data.nested.list }}{{ . }}{{ $.Token }};{{ end }}', 'a123456;b123456;'],
  ['{{ range .Data.empty }}x{{ else }}none{{ end }}', 'none'],
  ['{{ with .Data.nested }}{{ index .list 0 }}{{ end }}', 'a'],
  ['a  {{- .Token -}}  b', 'a123456b'],
  ['a {{- /* a comment */ -}} b{{/* another }} one */}}', 'ab'],
  ['{{ "}} quoted" }}', '}} quoted'],
  ['a<!-- {{ .Email }} <b> -->b<!--[if mso]><p>{{ .Email }}</p><![endif]-->', 'ab'],
  ['a<!--{{ .Email }}-->b', 'ab'],
  ['<!doctype html><p>{{ .Token }}', '<!doctype html><p>123456'],
  ['<title>{{ .Data.name }}</title><p>{{ .Token }}', '<title>&lt;Ann&gt;</title><p>123456'],
  ['1 < 2 {{ .Token }}', '1 < 2 123456'],
])('%s', (source, expected) => {
  expect(renderHtml(source, values).text).toBe(expected)
})

test.each([
  ['<a href="{{ .ConfirmationURL }}">', '<a href="https://auth.test/verify?token=abc&amp;type=signup">'],
  ["<a href='{{ .ConfirmationURL }}'>", "<a href='https://auth.test/verify?token=abc&amp;type=signup'>"],
  ['<a href="{{ .RedirectTo }}">', '<a href="com.app://open">'],
  [
    '<a href="{{ .SiteURL }}/c?h={{ .TokenHash }}&to={{ .RedirectTo }}">',
    '<a href="https://site.test/c?h=pkce_abc&to=com.app%3A%2F%2Fopen">',
  ],
  ['<a href="mailto:{{ .Email }}">', '<a href="mailto:ann@site.test">'],
  ['<a href="https://x.test/{{ .Data.name }}">', '<a href="https://x.test/%3CAnn%3E">'],
  ['<img alt={{ .Data.name }} id={{ .Missing }} x>', '<img alt=&#60;Ann&#62; id=&#32; x>'],
  ['<p style="color: {{ .Data.lang }}">', '<p style="color: de">'],
  ['<p style="color: {{ .RedirectTo }}">', '<p style="color: ">'],
  ['<a {{ if .Token }}class="b"{{ end }} title="{{ .Data.name }}">', '<a class="b" title="&lt;Ann&gt;">'],
])('%s is escaped for its place', (source, expected) => {
  expect(renderHtml(source, values).text).toBe(expected)
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  '\u0001javascript:alert(1)',
  'data:text/html,<script>',
  'vbscript:x',
  'blob:https://x',
  'file:///etc/passwd',
])('a link never becomes %j', (link) => {
  for (const name of ['RedirectTo', 'Link']) {
    const { text = '' } = renderHtml(`<a href="{{ .${name} }}">`, { [name]: link })
    expect(text).toMatch(/^<a href="(#|%[0-9A-F]{2}javascript:alert\(1\)|java%09script:alert\(1\))">$/)
    expect(new URL(text.slice(9, -2), 'https://base.test/').protocol).toBe('https:')
  }
})

test('only links of our own may lead into an app', () => {
  expect(renderHtml('<a href="{{ .Link }}">', { Link: 'com.app://open' }).text).toBe('<a href="#">')
})

test('a scheme cannot be put together from several values', () => {
  const { text } = renderHtml('<a href="{{ .A }}{{ .B }}">', { A: 'java', B: 'script:alert(1)' })
  expect(text).toBe('<a href="javascript%3Aalert(1)">')
})

test.each([
  ['{{ .Email', 'Line 1: {{ is never closed by }}'],
  ['a\nb {{ if .Email }}', 'Line 2: {{ if }} has no {{ end }}'],
  ['{{ end }}', 'Line 1: {{ end }} belongs to no block'],
  ['{{ else }}', 'Line 1: {{ else }} belongs to no block'],
  ['{{ if .A }}{{ else }}{{ else }}{{ end }}', 'Line 1: {{ else }} has no {{ end }}'],
  ['{{ }}', 'Line 1: {{  }} lacks a value'],
  ['{{ printf "%s" .Email }}', 'Line 1: there is no function "printf"'],
  ['{{ eq .Email }}', 'Line 1: "eq" does not take 1 values'],
  ['{{ .Email .Token }}', 'Line 1: ".Token" is not understood here'],
  ['{{ (.Email }}', 'Line 1: {{ (.Email }} lacks a closing bracket'],
  ['{{ .Email | .Token }}', 'Line 1: only a function can stand behind |'],
  ['{{ $x := 1 }}', 'Line 1: ":= 1" is not understood'],
  [`{{ ${'('.repeat(99)}.A${')'.repeat(99)} }}`, 'Line 1: the brackets nest more than 40 levels deep'],
  ['{{ if .A }}'.repeat(9999), 'The template nests more than 40 levels deep'],
  ['<script>x = "{{ .Email }}"</script>', 'A value cannot stand inside of <script>'],
  ['<style>{{ .Email }}</style>', 'A value cannot stand inside of <style>'],
  ['<a onclick="{{ .Email }}">', 'A value cannot stand in the attribute "onclick"'],
  ['<iframe srcdoc="{{ .Email }}">', 'A value cannot stand in the attribute "srcdoc"'],
  ['<a href="javascript:{{ .Email }}">', 'A value cannot stand in an address that is code'],
  ['<a {{ .Email }}>', 'A value cannot stand inside of a tag, other than as the value of an attribute'],
  ['<{{ .Email }}>', 'A value cannot stand inside of a tag, other than as the value of an attribute'],
])('%s is told to be malformed', (source, problem) => {
  expect(renderHtml(source, values)).toEqual({ problem })
})

test.each(['{{ ', '{{ "', '{{ `', '{{/* */ ', '{{ if .A ', '<a href="', '<!-- ', '{{ .A | ', '((((', '{{ -'])(
  'a megabyte of %j is dealt with at once',
  (words) => {
    const started = performance.now()
    renderHtml(words.repeat(1_000_000 / words.length), values)
    renderHtml(words + ' '.repeat(1_000_000), values)
    renderHtml(`{{ ${words.repeat(1_000_000 / words.length)}`, values)
    expect(performance.now() - started).toBeLessThan(3000)
  },
)

test('no template whatsoever makes the renderer fail', () => {
  const words = fc.constantFrom(
    '{{',
    '}}',
    '{{-',
    '-}}',
    ' ',
    'if',
    'else',
    'end',
    'range',
    '.A',
    '"',
    '`',
    '(',
    ')',
    '|',
    '<',
    '>',
    '<a href=',
    '=',
    '<!--',
    '-->',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (source) => {
      const { text, problem } = renderHtml(source.join(''), values)
      expect(typeof (text ?? problem)).toBe('string')
    }),
    { numRuns: 2000 },
  )
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '`',
        '=',
        '&',
        ' ',
        '/',
        '-->',
        '\n',
        '\0',
        'javascript:',
        'on',
        'x',
        '&#34;',
        '\ud800',
        '{{',
        '}}',
      ),
    )
    .map((parts) => parts.join('')),
)

test('no value can end the place that it stands in', () => {
  const places = [
    { before: '<p>', after: '</p>', allowed: /^[^<>"'`\0]*$/ },
    { before: '<p title="', after: '">', allowed: /^[^<>"'`\0]*$/ },
    { before: "<p title='", after: "'>", allowed: /^[^<>"'`\0]*$/ },
    { before: '<p title=', after: ' x>', allowed: /^[\w.&#;-]+$/ },
    { before: '<a href="', after: '">', allowed: /^[\w\-.~:/?#[\]@!$&()*,;=%]*$/ },
    { before: '<a href=', after: '>', allowed: /^[\w.&#;%-]+$/ },
    { before: '<a href="https://x.test/?a=', after: '">', allowed: /^[\w.~%-]*$/ },
    { before: '<p style="color:', after: '">', allowed: /^[#\w.% -]*$/ },
    { before: '<title>', after: '</title>', allowed: /^[^<>"'`\0]*$/ },
    { before: '<textarea>', after: '</textarea>', allowed: /^[^<>"'`\0]*$/ },
  ]
  fc.assert(
    fc.property(fc.constantFrom(...places), hostile, ({ before, after, allowed }, value) => {
      const { text = '' } = renderHtml(`${before}{{ .V }}${after}`, { V: value })
      expect(text.startsWith(before) && text.endsWith(after)).toBe(true)
      expect(text.slice(before.length, text.length - after.length)).toMatch(allowed)
      expect(text.isWellFormed()).toBe(true)
    }),
    { numRuns: 3000 },
  )
})

test('a subject is a template of one line', () => {
  expect(renderSubject('{{ .Token }} is\r\n your <code>', values).text).toBe('123456 is your <code>')
  expect(renderSubject('Hello {{ .Data.name }}', { Data: { name: 'Ann\r\nBcc: all@x.test\u202egnp' } }).text).toBe(
    'Hello Ann Bcc: all@x.test gnp',
  )
  expect(renderSubject('{{ if }}', values).problem).toBe('Line 1: {{  }} lacks a value')
})

test('no value breaks a subject into lines', () => {
  fc.assert(
    fc.property(hostile, (value) => {
      const { text = '' } = renderSubject('For {{ .V }}!', { V: value })
      expect(text).toMatch(/^For ?[^\p{Cc}\p{Zl}\p{Zp}]*$/u)
      expect(Array.from(text).length).toBeLessThanOrEqual(250)
    }),
  )
})
