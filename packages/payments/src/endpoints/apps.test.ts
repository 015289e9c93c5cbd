import { oneProcess } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hashKey } from '../rules/keys.ts'
import { basic, createApp, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Created = { app: { id: string; name: string | null; key: string } }
const uuid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

test('an app is told its id, its name and its key, in a wrapper on one line', async () => {
  const answer = await service.call('POST /apps', { json: { name: 'Shop' } })
  expect(answer.status).toBe(201)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.text).toMatch(new RegExp(`^\\{"app":\\{"id":"[0-9a-f]{24}","name":"Shop","key":"${uuid}"\\}\\}\n$`))
})

test.each([
  ['JSON', 'application/json', '{"name":"Shop"}', 'Shop'],
  [
    'JSON that names its character set',
    'application/json; charset=utf-8',
    '{"name":"Sh\u00f6p \u{1f600}"}',
    'Sh\u00f6p \u{1f600}',
  ],
  ['the type of the PHP client', 'application/vnd.api+json', '{"name":"Shop"}', 'Shop'],
  ['a form', 'application/x-www-form-urlencoded', 'name=Caf%C3%A9+%26+Bar', 'Caf\u00e9 & Bar'],
  ['a form that names its character set', 'application/x-www-form-urlencoded; charset=UTF-8', 'name=Shop&other=x', 'Shop'],
  ['no type at all', undefined, '{"name":"Shop"}', 'Shop'],
  ['an empty body as JSON', 'application/json', '', null],
  ['an empty body as text', 'text/plain', '', null],
  ['an empty form', 'application/x-www-form-urlencoded', '', null],
  ['an empty object', 'application/json', '{}', null],
  ['an empty list, as PHP writes an empty object', 'application/json', '[]', null],
  ['a name that is false', 'application/json', '{"name":false}', null],
  ['a name that is null', 'application/json', '{"name":null}', null],
  ['an empty name', 'application/json', '{"name":""}', null],
  ['an empty name in a form', 'application/x-www-form-urlencoded', 'name=', null],
  ['more than was asked for', 'application/json', '{"name":"Shop","key":"mine","id":"mine"}', 'Shop'],
])('%s is taken', async (_, type, raw, name) => {
  const answer = await service.call('POST /apps', { raw, headers: type === undefined ? {} : { 'content-type': type } })
  expect(answer.status).toBe(201)
  expect(answer.json<Created>().app.name).toBe(name)
  expect(answer.json<Created>().app.key).not.toBe('mine')
})

test.each([
  ['none', undefined],
  ['just a colon, as the Go client sends', 'Basic Og=='],
  ['a key that nobody has', basic('4f1f3c8e-0000-4000-8000-000000000000')],
  ['nonsense', 'Nonsense %%%'],
])('credentials do not matter: %s', async (_, authorization) => {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) }
  expect((await service.call('POST /apps', { headers, raw: '' })).status).toBe(201)
})

test.each([
  ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name', 'Must be at most 200 characters long'],
  ['a name that is a number', { name: 7 }, 'name', 'Must be text'],
  ['a name that is true', { name: true }, 'name', 'Must be text'],
  ['a name that is a list', { name: ['a'] }, 'name', 'Must be text'],
  ['a name with a NUL', { name: 'a\0b' }, 'body', 'The body could not be read: text holds a NUL character'],
  ['a list', ['a'], 'body', 'Must be an object'],
])('%s is refused', async (_, json, field, message) => {
  const answer = await service.call('POST /apps', { json })
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
})

test('only the hash of the key is kept', async () => {
  const { id, key } = await createApp(service.call, 'Careful')
  const rows = await service.app.db<Record<string, unknown>>`select * from pay.apps where id = ${id}`
  expect(rows).toEqual([{ id, name: 'Careful', key_hash: hashKey(key), created: service.now() }])
  expect(service.lines.map((line) => JSON.stringify(line)).join()).not.toContain(key)
})

test('ids grow, and begin with the second in which they were made', async () => {
  const own = await oneProcess('inside a millisecond each process counts by itself', () => startPayments())
  onTestFinished(() => own.stop())
  const ids: string[] = []
  for (let count = 0; count < 20; count++) {
    ids.push((await createApp(own.call)).id)
    if (count === 10) own.now.advance(1)
  }
  const inOrder = (id: string) => id.slice(0, 8) + id.slice(12)
  expect(ids.map(inOrder)).toEqual(ids.map(inOrder).toSorted())
  const seconds = Math.floor(own.now().getTime() / 1000)
  expect(Number.parseInt(ids.at(-1)?.slice(0, 8) ?? '', 16)).toBe(seconds)
})
