import { oneProcess } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { basic, createApp, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

test('an app is told who it is', async () => {
  const app = await createApp(service.call, 'Shop')
  const answer = await service.call('GET /me', { headers: { authorization: app.authorization } })
  expect(answer.status).toBe(200)
  expect(answer.text).toBe(`{"identity":{"id":"${app.id}","name":"Shop","created":"${service.now().toISOString()}"}}\n`)
})

test('an app without a name has a null one', async () => {
  const { authorization } = await createApp(service.call)
  expect((await service.call('GET /me', { headers: { authorization } })).json()).toMatchObject({ identity: { name: null } })
})

test('the user name and the case of the scheme do not matter', async () => {
  const { key } = await createApp(service.call)
  const authorization = `bAsIc ${Buffer.from(`somebody:${key}`).toString('base64')}`
  expect((await service.call('GET /me', { headers: { authorization } })).status).toBe(200)
})

test.each([
  ['no credentials', undefined],
  ['an unknown key', basic('4f1f3c8e-0000-4000-8000-000000000000')],
  ['an empty key', basic('')],
  ['a bearer token that is none', 'Bearer abc'],
  ['a bearer scheme without a token', 'Bearer'],
  ['something that is not base64', 'Basic %%%'],
  ['the hash of a key instead of the key', basic('0'.repeat(64))],
  ['a key with a NUL', basic('a\0b')],
  ['a very long key', basic('x'.repeat(8000))],
])('%s are refused with 401', async (_, authorization) => {
  const answer = await service.call('GET /me', {
    headers: { accept: 'application/json', ...(authorization ? { authorization } : {}) },
  })
  expect(answer.status).toBe(401)
  expect(answer.headers['www-authenticate']).toContain('Basic')
  expect(answer.json()).toMatchObject({ code: 'unauthorized' })
})

test('a body on GET is ignored, and so is a trailing slash', async () => {
  const { authorization } = await createApp(service.call)
  const answer = await service.call('GET /me/', { headers: { authorization, 'content-type': 'application/json' }, raw: '{}' })
  expect(answer.status).toBe(200)
})

test('being told costs one statement the first time, and none after that', async () => {
  // A connection binds its way to ask when it opens, so the count has to begin before.
  const asked = vi.spyOn(pg.Client.prototype as { query(statement: { text?: string }): void }, 'query')
  const own = await oneProcess('each process remembers by itself', () => startPayments())
  onTestFinished(async () => {
    asked.mockRestore()
    await own.stop()
  })
  const { authorization } = await createApp(own.call)
  asked.mockClear()
  for (let count = 0; count < 10; count++) await own.call('GET /me', { headers: { authorization } })
  // The loops of the service look for work meanwhile, and connections open for it, which is no cost of the caller's.
  const told = asked.mock.calls.flatMap(([{ text = '' }]) => (/^$|\.(jobs|transactions|trail)\b/.test(text) ? [] : [text]))
  expect(told).toEqual([expect.stringMatching(/^select .* from "pay"\.apps where key_hash = \$1$/)])
})
