import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BodyTooLarge, parseForm, parseFormBytes, parseJson, readBytes, UnreadableBody } from './body.ts'

/** What texts are made of: plain, wide, and what the formats themselves use. */
const letter = fc.constantFrom(...'aZ09äß€漢🦊_ "\\/%+&=;,.:{}\u2028\u0001\n')

function json(text: string): unknown {
  return parseJson(Buffer.from(text))
}

function refusal(attempt: () => unknown): string {
  try {
    attempt()
  } catch (problem) {
    if (problem instanceof UnreadableBody) return problem.message
    throw problem
  }
  return 'was taken'
}

describe('reading', () => {
  const request = (chunks: string[], headers: Record<string, string> = {}) =>
    Object.assign(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), { headers }) as unknown as IncomingMessage

  test('a body may have as many bytes as the limit, in however many pieces', async () => {
    expect((await readBytes(request(['ab', 'c']), 3)).toString()).toBe('abc')
    expect((await readBytes(request([]), 3)).toString()).toBe('')
  })

  test('one more is too many, announced or not', async () => {
    await expect(readBytes(request(['ab', 'cd']), 3)).rejects.toThrow(BodyTooLarge)
    await expect(readBytes(request([], { 'content-length': '4' }), 3)).rejects.toThrow(BodyTooLarge)
  })

  test('a caller who hangs up is told apart from one who is done, also when they have gone before', async () => {
    const cut = request(['ab'])
    const reading = readBytes(cut, 3)
    cut.destroy()
    await expect(reading).rejects.toThrow(UnreadableBody)
    await expect(readBytes(cut, 3)).rejects.toThrow(UnreadableBody)
  })
})

describe('JSON', () => {
  test.each<[string, unknown]>([
    ['{"a":[1,null,"ä"]}', { a: [1, null, 'ä'] }],
    ['\uFEFF{}', {}],
    [' 5 ', 5],
    ['"\\u00e9 \\ud83d\\ude00"', 'é 😀'],
  ])('%s is read', (text, value) => {
    expect(json(text)).toEqual(value)
  })

  test.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['{"a":1,}', 'invalid character at position 7'],
    ['{}x', 'invalid character at position 2'],
    ['"a\nb"', 'invalid character at position 2'],
    ['hunter2 at position 99', 'invalid character'],
    ['{"password":"hunter2"', 'invalid character at position 21'],
    ['{"hunter2\\u0000":1}', 'text holds a NUL character'],
    ['["hunter2\\u0000"]', 'text holds a NUL character'],
    ['{"a":{"b":["\\ud800"]}}', 'text holds half a surrogate pair'],
    ['["\\uDE00\\uD83D"]', 'text holds half a surrogate pair'],
  ])('%j is refused: %s', (text, message) => {
    expect(refusal(() => json(text))).toBe(message)
  })

  test.each([
    ['an overlong slash', [0xc0, 0xaf]],
    ['a lone continuation', [0x80]],
    ['a character that is cut off', [0xe2, 0x82]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a character beyond the last', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte that never occurs', [0xff]],
  ])('%s is not UTF-8', (_, bytes) => {
    const body = Buffer.from([0x22, ...bytes, 0x22])
    expect(refusal(() => parseJson(body))).toBe('not valid UTF-8')
    expect(refusal(() => parseFormBytes(body))).toBe('not valid UTF-8')
  })

  test('64 levels are read, 65 are not, and brackets in texts are none', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(refusal(() => json(nested(64)))).toBe('was taken')
    expect(refusal(() => json(nested(65)))).toBe('nested deeper than 64 levels')
    expect(refusal(() => json(JSON.stringify(`"\\${'['.repeat(100)}`)))).toBe('was taken')
  })

  test('a megabyte of brackets, quotes or backslashes is refused in no time', () => {
    const before = performance.now()
    for (const piece of ['[', '{"a":', '"', '\\', ']', '"\\u0000"', '\\ud800'])
      refusal(() => json(piece.repeat(1e6 / piece.length)))
    expect(performance.now() - before).toBeLessThan(1000)
  })

  test.each(['{"__proto__":{"polluted":1},"a":1}', '{"\\u005f_proto__":{"polluted":1},"a":1}', '{"__pro\\u0074o__":5,"a":1}'])(
    '%s loses its prototype',
    (text) => {
      const value = json(text) as Record<string, unknown>
      expect(Object.keys(value)).toEqual(['a'])
      expect(value.polluted).toBeUndefined()
    },
  )

  test('a prototype is dropped at every depth', () => {
    expect(JSON.stringify(json('[{"a":{"__proto__":1,"b":{"__proto__":{"c":1}}}}]'))).toBe('[{"a":{"b":{}}}]')
  })

  test('any value comes back', () => {
    const value = fc.jsonValue({ depthSize: 'medium', stringUnit: letter })
    const wholesome = value.filter((each) => !/__proto__/.test(JSON.stringify(each)))
    fc.assert(
      fc.property(wholesome, (each) => {
        expect(json(JSON.stringify(each))).toEqual(JSON.parse(JSON.stringify(each)))
      }),
    )
  })
})

describe('forms', () => {
  test.each<[string, unknown]>([
    ['', {}],
    ['&&', {}],
    ['a=1&b=two+words%21', { a: '1', b: 'two words!' }],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['=1', { '': '1' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=1&a=2', { a: '2' }],
    ['a%5Bb%5D=1&a[c]=2', { a: { b: '1', c: '2' } }],
    ['card[expiry][month]=1&card[expiry][year]=30', { card: { expiry: { month: '1', year: '30' } } }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[0]=1&a[1]=2', { a: { 0: '1', 1: '2' } }],
    ['a[][b]=1&a[][b]=2', { a: [{ b: '1' }, { b: '2' }] }],
    ['a[', { 'a[': '' }],
    ['a[b=1', { 'a[b': '1' }],
    ['a]b=1', { 'a]b': '1' }],
    ['[x]=1', { '[x]': '1' }],
    ['a[b]c=1', { 'a[b]c': '1' }],
    ['a[[b]]=1', { a: { '[b]': '1' } }],
    ['a=1&a[b]=2', { a: { b: '2' } }],
    ['a[b]=2&a=1', { a: '1' }],
    ['a[]=1&a[b]=2', { a: ['1', '2'] }],
    ['a[b]=1&a[]=2', { a: { b: '1', '': '2' } }],
    ['a[b]=1&a[b][c]=2', { a: { b: { c: '2' } } }],
    ['a[constructor][prototype][x]=1', { a: { constructor: { prototype: { x: '1' } } } }],
    ['toString[x]=1', { toString: { x: '1' } }],
  ])('%s', (text, value) => {
    expect(parseForm(text)).toEqual(value)
  })

  test.each([
    '__proto__=1',
    '__proto__[x]=1',
    'a[__proto__][x]=1',
    '%5f_proto__[x]=1',
    'a[%5F%5Fproto__][x]=1',
    'a[][__proto__][x]=1',
  ])('%s sets nothing', (text) => {
    expect(JSON.stringify(parseForm(text))).not.toContain('x')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test.each([
    ['a=%', 'a percent-encoded field is not valid UTF-8'],
    ['a=%zz', 'a percent-encoded field is not valid UTF-8'],
    ['a=%C0%AF', 'a percent-encoded field is not valid UTF-8'],
    ['%ED%A0%80=1', 'a percent-encoded field is not valid UTF-8'],
    ['a=hunter2%00', 'text holds a NUL character'],
    ['a=\ud800', 'text holds half a surrogate pair'],
    [`a${'[b]'.repeat(10)}=1`, 'fields nested deeper than 10 levels'],
  ])('%j is refused: %s', (text, message) => {
    expect(refusal(() => parseForm(text))).toBe(message)
  })

  test('a thousand fields are read, one more is not, and a million are refused in no time', () => {
    expect(Object.keys(parseForm(Array.from({ length: 1000 }, (_, index) => `f${index}=1`).join('&')))).toHaveLength(1000)
    expect(refusal(() => parseForm('&'.repeat(1000)))).toBe('more than 1000 fields')
    const before = performance.now()
    expect(refusal(() => parseForm('a[b]=1&'.repeat(150_000)))).toBe('more than 1000 fields')
    expect(performance.now() - before).toBeLessThan(200)
  })

  test('flat fields come back as they were sent', () => {
    const word = fc.string({ unit: letter }).filter((text) => text !== '__proto__')
    fc.assert(
      fc.property(fc.dictionary(word, word), (fields) => {
        expect(parseForm(new URLSearchParams(Object.entries(fields)).toString())).toEqual({ ...fields })
      }),
    )
  })
})

test('any bytes are read or refused, whatever they are', () => {
  const fragments = [
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\u0000',
    '\\ud800',
    '__proto__',
    '=',
    '&',
    '%',
    '%5b',
    '[]',
    'a',
    '1e999',
    '-',
    '\uFEFF',
  ]
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((each) => Buffer.from(each)),
    fc.array(fc.constantFrom(...fragments), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
  )
  fc.assert(
    fc.property(bytes, (body) => {
      refusal(() => parseJson(body))
      refusal(() => parseFormBytes(body))
    }),
    { numRuns: 1000 },
  )
  expect(Object.keys(Object.prototype)).toEqual([])
})
