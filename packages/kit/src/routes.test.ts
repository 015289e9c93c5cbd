import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRoutes } from './routes.ts'

function routesOf(...declared: string[]) {
  const routes = createRoutes<string>()
  for (const each of declared) {
    const [method = '', path = ''] = each.split(' ')
    routes.add(method, path, each)
  }
  return routes
}

const api = routesOf(
  'GET /',
  'GET /health',
  'GET /merchants',
  'POST /merchants',
  'GET /merchants/{id}',
  'PUT /merchants/{merchant}',
  'GET /merchants/{id}/lines',
  'GET /merchants/search/lines/{line}',
  'GET /merchants/search',
  'GET /{kind}/{id}/history',
)

test.each<[string, string, Record<string, string>]>([
  ['GET /', 'GET /', {}],
  ['GET /health', 'GET /health', {}],
  ['GET /health/', 'GET /health', {}],
  ['GET /merchants/', 'GET /merchants', {}],
  ['GET /merchants/5', 'GET /merchants/{id}', { id: '5' }],
  ['GET /merchants/5/', 'GET /merchants/{id}', { id: '5' }],
  ['PUT /merchants/5', 'PUT /merchants/{merchant}', { merchant: '5' }],
  ['GET /merchants/search', 'GET /merchants/search', {}],
  ['GET /merchants/search/lines', 'GET /merchants/{id}/lines', { id: 'search' }],
  ['GET /merchants/search/lines/7', 'GET /merchants/search/lines/{line}', { line: '7' }],
  ['GET /merchants/search/history', 'GET /{kind}/{id}/history', { kind: 'merchants', id: 'search' }],
  ['GET /merchants/a%2Fb', 'GET /merchants/{id}', { id: 'a/b' }],
  ['GET /merchants/%C3%A4', 'GET /merchants/{id}', { id: 'ä' }],
  ['GET /merchants/constructor', 'GET /merchants/{id}', { id: 'constructor' }],
  ['GET /merchants/__proto__', 'GET /merchants/{id}', { id: '__proto__' }],
])('%s is answered by %s', (asked, target, params) => {
  const [method = '', path = ''] = asked.split(' ')
  expect(api.find(method, path)).toEqual({ target, params })
})

test.each([
  '/nothing',
  '/health/more',
  '/Health',
  '/merchants//',
  '/merchants//lines',
  '//merchants',
  '/merchants/5//',
  '/merchants/%',
  '/merchants/%zz',
  '/merchants/%C0%AF',
  '/merchants/a%00',
  '/{kind}/5',
  '/constructor',
  '',
  '*',
  '!health',
])('nothing is at %j', (path) => {
  expect(api.find('GET', path)).toBeUndefined()
})

test.each([
  ['DELETE', '/merchants', ['GET', 'POST']],
  ['DELETE', '/merchants/5', ['GET', 'PUT']],
  ['PUT', '/merchants/search', ['GET']],
  ['toString', '/health/', ['GET']],
])('%s %s names the methods that the path does answer', (method, path, methods) => {
  expect(api.find(method, path)).toEqual({ methods })
})

describe('a declaration is refused', () => {
  test.each([
    ['twice', ['GET /a', 'GET /a']],
    ['twice but for the slash', ['GET /a', 'GET /a/']],
    ['twice but for the name', ['GET /a/{x}', 'GET /a/{y}']],
    ['without its slash', ['GET a']],
    ['with a placeholder that is not a word', ['GET /a/{user-id}']],
    ['with half a placeholder', ['GET /a/{id']],
    ['with one name for two placeholders', ['GET /a/{id}/b/{id}']],
  ])('%s', (_, declared) => {
    expect(() => routesOf(...declared)).toThrow(declared.at(-1)?.split(' ')[1])
  })
})

test('what is declared is found, with the values that stand in the path', () => {
  const word = fc.constantFrom('a', 'b', 'c')
  const segment = fc.oneof(word, fc.constant('{}'))
  const path = fc
    .array(segment, { minLength: 1, maxLength: 5 })
    .map((segments) => `/${segments.map((each, index) => (each === '{}' ? `{p${index}}` : each)).join('/')}`)
  const text = fc.string({ minLength: 1, unit: fc.constantFrom(...'xyz%/?#{}ä🦊. ') })
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
      fc.array(text, { minLength: 5, maxLength: 5 }),
      (paths, texts) => {
        const routes = routesOf(...paths.map((each) => `GET ${each}`))
        for (const each of paths) {
          const params = Object.fromEntries(
            [...each.matchAll(/\{(p(\d))\}/g)].map(([, name, index]) => [name, texts[Number(index)]]),
          )
          const asked = each.replace(/\{p(\d)\}/g, (_, index) => encodeURIComponent(texts[Number(index)] ?? ''))
          expect(routes.find('GET', asked)).toEqual({ target: `GET ${each}`, params })
        }
      },
    ),
  )
})
