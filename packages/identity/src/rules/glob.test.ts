import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileGlob } from './glob.ts'

function match(glob: string, text: string): boolean | undefined {
  return compileGlob(glob)?.({ text, authority: /^[^/]*:\/\/([^/?#]*)/.exec(text)?.[1] ?? '' })
}

describe('one glob, what it matches and what it does not', () => {
  test.each<[glob: string, matched: string[], not: string[]]>([
    [
      'https://a.example',
      ['https://a.example'],
      ['https://a.example/', 'https://a_example', 'https://b.example', 'https://a.example.evil'],
    ],
    [
      'https://*.example',
      ['https://a.example', 'https://a-b.example', 'https://.example'],
      ['https://a.b.example', 'https://example', 'https://a.example/'],
    ],
    ['https://**.example', ['https://a.example', 'https://a.b.example'], ['https://a.example/', 'https://example']],
    [
      'https://a.example/*',
      ['https://a.example/', 'https://a.example/x', 'https://a.example/x?y=z'],
      ['https://a.example', 'https://a.example/x/y', 'https://a.example/x.y'],
    ],
    [
      'https://a.example/**',
      ['https://a.example/', 'https://a.example/x/y.z', 'https://a.example/?x'],
      ['https://a.example', 'https://a.example:1/x'],
    ],
    ['https://a.example**', ['https://a.example', 'https://a.example/x', 'https://a.example:1'], ['https://b.example']],
    [
      'https://a?.example',
      ['https://ab.example', 'https://aü.example'],
      ['https://a.example', 'https://a..example', 'https://abc.example'],
    ],
    [
      'https://a[bc].example',
      ['https://ab.example', 'https://ac.example'],
      ['https://ad.example', 'https://a[bc].example', 'https://a.example'],
    ],
    [
      'https://a[!bc].example',
      ['https://ad.example', 'https://a-.example'],
      ['https://ab.example', 'https://a..example', 'https://a/.example'],
    ],
    ['https://a[0-9].example', ['https://a0.example', 'https://a9.example'], ['https://aa.example', 'https://a-.example']],
    ['https://a[!0-9].example', ['https://aa.example'], ['https://a5.example', 'https://a/.example']],
    ['https://a[a-c0-2-].example', ['https://ab.example', 'https://a1.example', 'https://a-.example'], ['https://ad.example']],
    [
      'https://{a,b}.example',
      ['https://a.example', 'https://b.example'],
      ['https://c.example', 'https://a,b.example', 'https://ab.example'],
    ],
    [
      'https://{a,*.b}.example/**',
      ['https://a.example/x', 'https://c.b.example/'],
      ['https://b.example/', 'https://c.d.b.example/'],
    ],
    [
      'https://{a,{b,c}d}.example',
      ['https://a.example', 'https://bd.example', 'https://cd.example'],
      ['https://b.example', 'https://d.example'],
    ],
    ['https://a{,-b}.example', ['https://a.example', 'https://a-b.example'], ['https://a-c.example']],
    ['{http,https}://a.example', ['http://a.example', 'https://a.example'], ['ftp://a.example']],
    ['{https://a.example,com.app}/**', ['https://a.example/x'], ['https://b.example/a.example/']],
    ['https://a.example/\\*', ['https://a.example/*'], ['https://a.example/x']],
    ['https://a.example/\\{x\\}', ['https://a.example/{x}'], ['https://a.example/x']],
    ['https://a.example/}],x', ['https://a.example/}],x'], []],
    ['com.app://*', ['com.app://login', 'com.app://'], ['com.app://login/x', 'com.apps://login', 'xcom.app://login']],
    ['com.app://**', ['com.app://login/x?y'], ['com.app:login']],
    ['com.app:/*', ['com.app:/login'], ['com.app://login']],
    ['**', ['https://a.example/x', 'com.app://y', 'com.app:y'], []],
    ['*', [], ['https://a.example/x', 'https://a']],
    ['***', ['https://a.example/x'], []],
    ['HTTPS://A.Example/Path', ['https://a.example/Path'], ['https://a.example/path']],
    ['https://*.EXAMPLE/**', ['https://a.example/X'], []],
  ])('%s', (glob, matched, not) => {
    for (const text of matched) expect([text, match(glob, text)]).toEqual([text, true])
    for (const text of not) expect([text, match(glob, text)]).toEqual([text, false])
  })
})

test.each([
  ['https://**.mine.example/**', 'https://evil.example/x.mine.example/'],
  ['https://**.mine.example', 'https://evil.example/.mine.example'],
  ['https://**.mine.example', 'https://evil.example?.mine.example'],
  ['https://*.mine.example', 'https://evil?x.mine.example'],
  ['https://**mine.example/**', 'https://evil.example/mine.example/'],
  ['**.mine.example/**', 'https://evil.example/.mine.example/'],
  ['**mine.example**', 'https://evil.example/?mine.example'],
  ['*://**.mine.example/**', 'https://evil.example/a.mine.example/'],
  ['http*://**.mine.example/**', 'https://evil.example/a.mine.example/'],
  ['{https://**.mine.example,x}/**', 'https://evil.example/a.mine.example/'],
])('%s does not look for its host in the rest of %s', (glob, text) => {
  expect(match(glob, text)).toBe(false)
})

test.each([
  ...['', '[', '[]', '[!]', '[a', '{', '{a', '{a,', '{a,{b}', '\\', 'a\\', '[z-a]', '{a,[}', 'x'.repeat(2049)],
  '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}',
])('%s is no glob', (text) => {
  expect(compileGlob(text)).toBeUndefined()
})

const plain = fc.stringMatching(/^[a-z0-9:/.=&-]{1,20}$/)

test('a text with nothing special in it matches itself and nothing else', () => {
  fc.assert(
    fc.property(plain, plain, (one, other) => {
      expect(match(`x://${one}`, `x://${one}`)).toBe(true)
      expect(match(`x://${one}`, `x://${other}`)).toBe(one === other)
    }),
  )
})

test('any text matches itself once every character is escaped', () => {
  const text = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }).map((each) => each.toLowerCase())
  fc.assert(
    fc.property(text, (each) => {
      const escaped = Array.from(each, (character) => `\\${character}`).join('')
      expect(match(escaped, each)).toBe(true)
    }),
  )
})

test('a star takes a run exactly when no separator is in it', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z./]{0,12}$/), (run) => {
      expect(match('com.app:<*>', `com.app:<${run}>`)).toBe(!/[./]/.test(run))
      expect(match('com.app:<**>', `com.app:<${run}>`)).toBe(true)
    }),
  )
})

test('nothing written makes the compiler throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'*?[]{},!-\\a/.:') }), fc.string(), (glob, text) => {
      expect([true, false, undefined]).toContain(match(glob, text))
    }),
  )
})

test.each([
  '**a'.repeat(200),
  `${'*'.repeat(300)}x`,
  '{a,aa}'.repeat(8),
  `${'**/'.repeat(300)}x`,
  '?'.repeat(500),
  '**[!b]'.repeat(300),
])('a glob made to run for ever does not (%#)', (glob) => {
  const compiled = compileGlob(glob)
  const before = performance.now()
  for (const text of ['a'.repeat(5000), 'a/'.repeat(2500), '.'.repeat(5000)]) compiled?.({ text, authority: text })
  expect(performance.now() - before).toBeLessThan(3000)
})
