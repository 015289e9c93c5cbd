import { expect, test } from 'vitest'
import { anyOrigin } from './cors.ts'

const cors = anyOrigin({ methods: ['GET', 'POST'], headers: ['Authorization', 'X-A'], exposed: ['Link'], credentials: true })

function decorated(origin: string | undefined, before: Record<string, string> = {}) {
  const headers: Record<string, string | number> = { ...before }
  cors.decorate(origin, headers)
  return headers
}

test('a page of any origin may call and read what is exposed', () => {
  expect(decorated('https://shop.test')).toEqual({
    vary: 'Origin',
    'access-control-allow-origin': 'https://shop.test',
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'Link',
  })
})

test('a caller without an origin gets no such headers, but caches are told that others do', () => {
  expect(decorated(undefined)).toEqual({ vary: 'Origin' })
  expect(decorated(undefined, { vary: 'Accept' })).toEqual({ vary: 'Accept, Origin' })
})

test('a preflight names methods and headers', () => {
  expect(cors.preflight('https://shop.test')).toMatchObject({
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'Authorization, X-A',
  })
  expect(cors.preflight(undefined)).toEqual({})
})

test('where nothing is exposed, nothing is said about it', () => {
  const headers: Record<string, string | number> = {}
  anyOrigin({ methods: [], headers: [], exposed: [], credentials: false }).decorate('null', headers)
  expect(headers).not.toHaveProperty('access-control-expose-headers')
})

test('where nobody is known by what a browser keeps, no page may have it sent along', () => {
  const headers: Record<string, string | number> = {}
  anyOrigin({ methods: [], headers: [], exposed: [], credentials: false }).decorate('https://shop.test', headers)
  expect(headers['access-control-allow-origin']).toBe('https://shop.test')
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
})
