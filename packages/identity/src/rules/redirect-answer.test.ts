import fc from 'fast-check'
import { expect, test } from 'vitest'
import { refusalAnswers, withFragment, withQuery } from './redirect-answer.ts'

test.each([
  ['https://site.test', 'https://site.test#a=1&b=2'],
  ['https://site.test/', 'https://site.test/#a=1&b=2'],
  ['https://site.test/in?x=y', 'https://site.test/in?x=y#a=1&b=2'],
  ['https://site.test/#/route?a=0', 'https://site.test/#a=1&b=2'],
  ['com.app://callback', 'com.app://callback#a=1&b=2'],
  ['https://site.test/#one#two', 'https://site.test/#a=1&b=2'],
])('%s with a fragment is %s', (address, expected) => {
  expect(withFragment(address, { b: '2', a: '1' })).toBe(expected)
})

test.each([
  ['https://site.test', 'https://site.test?a=1&b=2'],
  ['https://site.test/?', 'https://site.test/?a=1&b=2'],
  ['https://site.test/in?x=y', 'https://site.test/in?x=y&a=1&b=2'],
  ['https://site.test/in?x=y&', 'https://site.test/in?x=y&a=1&b=2'],
  ['https://site.test/in?x=%20+y#there', 'https://site.test/in?x=%20+y&a=1&b=2#there'],
  ['https://site.test/#/route?x=y', 'https://site.test/?a=1&b=2#/route?x=y'],
  ['com.app://callback?x', 'com.app://callback?x&a=1&b=2'],
  ['https://site.test/in?u=https://a.test/?a', 'https://site.test/in?u=https://a.test/?a&a=1&b=2'],
])('%s with a query is %s', (address, expected) => {
  expect(withQuery(address, { b: '2', a: '1' })).toBe(expected)
})

test.each(['?a=forged', '?a=forged&x=y', '?x=y&a=forged&a', '?%61=forged&b=0'])(
  'what a link puts into %s under our names gives way',
  (query) => {
    const { searchParams } = new URL(withQuery(`https://site.test/${query}`, { a: '1', b: '2' }))
    expect([searchParams.getAll('a'), searchParams.getAll('b')]).toEqual([['1'], ['2']])
  },
)

const addresses = fc.webUrl({ withFragments: true, withQueryParameters: true })
const answersOf = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: 'binary' }), { minKeys: 1, maxKeys: 4 })

test('every answer can be read back from a fragment, and nothing before it has changed', () => {
  fc.assert(
    fc.property(addresses, answersOf, (address, answers) => {
      const [before, fragment = ''] = splitOnce(withFragment(address, answers), '#')
      expect(before).toBe(splitOnce(address, '#')[0])
      expect(Object.fromEntries(new URLSearchParams(fragment))).toEqual(formRead(answers))
    }),
  )
})

test('every answer can be read back from a query, once, and the path and the fragment have not changed', () => {
  fc.assert(
    fc.property(addresses, answersOf, (address, answers) => {
      const [was, is] = [new URL(address), new URL(withQuery(address, answers))]
      expect([is.origin, is.pathname, is.hash]).toEqual([was.origin, was.pathname, was.hash])
      for (const [name, value] of Object.entries(formRead(answers))) expect(is.searchParams.getAll(name)).toEqual([value])
    }),
  )
})

test('answers are in the order of the alphabet', () => {
  expect(withFragment('https://site.test', { type: 'signup', access_token: 'a', sb: '', expires_in: '3600' })).toBe(
    'https://site.test#access_token=a&expires_in=3600&sb=&type=signup',
  )
})

test('an address of a hundred thousand marks takes no time', () => {
  const started = performance.now()
  for (const mark of ['#', '?', '&', '#\n', '?#']) {
    const address = `https://site.test/${mark.repeat(100_000)}`
    expect(withFragment(address, { a: '1' })).toMatch(/a=1$/)
    expect(withQuery(address, { a: '1' })).toContain('a=1')
  }
  expect(performance.now() - started).toBeLessThan(2000)
})

test.each([
  [400, 'invalid_request'],
  [401, 'unauthorized_client'],
  [403, 'access_denied'],
  [500, 'server_error'],
  [503, 'temporarily_unavailable'],
])('a refusal with status %i is %s to pages', (status, error) => {
  expect(refusalAnswers({ status, code: 'otp_expired', message: 'Gone' })).toEqual({
    error,
    error_code: 'otp_expired',
    error_description: 'Gone',
  })
})

test.each([404, 422, 429])('a refusal with status %i has no such name', (status) => {
  expect(refusalAnswers({ status, code: 'x', message: 'y' })).toEqual({ error_code: 'x', error_description: 'y' })
})

/** What a form says after it was written and read: halves of characters become question marks. */
function formRead(answers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(answers).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]))
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
