import type { Secret } from '@tollgate/kit/secret'
import type { TestedService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { App } from '../app.ts'
import { sweepSecurityCodes } from '../operations/sweep-security-codes.ts'
import { takeSecurityCode } from '../store/security-codes.ts'
import { startPayments } from '../testing.ts'

const canaries = { pcn: '4200009876540000', pcsc: '737' }
const headers = { 'accept-version': '1' }

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments({ PAY_HOSTS: 'vault.shop.test=/vault' })
})
beforeEach(async () => {
  await service.app.db`delete from pay.security_codes`
})
afterAll(() => service.stop())

const exchange = (json: unknown) => service.call('POST /vault', { headers, json })

async function tokenFor(type: string, value: string): Promise<string> {
  return (await exchange({ type, value })).json<{ token: string }>().token
}

async function codesKept(): Promise<number> {
  return (await service.app.db`select from pay.security_codes`).count
}

/** Takes the key of a security code and opens the code with it, as a payment does. */
async function takeCode(token: string): Promise<string | undefined> {
  const { app, now } = service
  const read = app.vault.readCode(token, now())
  if (typeof read === 'string') return undefined
  const wrappedKey = await app.db.begin((tx) => takeSecurityCode(tx, read.id, now()))
  return wrappedKey && app.vault.openCode(token, wrappedKey)?.reveal()
}

test.each(['4100000000', '4100000000000000', '9999999999999999999'])('the number %s becomes a token', async (value) => {
  const answer = await exchange({ type: 'pcn', value })
  expect(answer.status).toBe(200)
  expect(answer.text).toMatch(/^\{"token":"[A-Za-z0-9+/]+={0,2}"\}\n$/)
  const { token } = answer.json<{ token: string }>()
  expect((service.app.vault.open('pcn', token, service.now()) as Secret).reveal()).toBe(value)
  expect(await codesKept()).toBe(0)
})

test('a security code becomes a token whose key is kept until it is taken, once', async () => {
  const token = await tokenFor('pcsc', '012')
  expect(await codesKept()).toBe(1)
  expect(await takeCode(token)).toBe('012')
  expect(await codesKept()).toBe(0)
  expect(await takeCode(token)).toBeUndefined()
})

test('of ten who take the same code at once one gets it', async () => {
  const token = await tokenFor('pcsc', '123')
  const taken = await Promise.all(Array.from({ length: 10 }, () => takeCode(token)))
  expect(taken.filter((code) => code !== undefined)).toEqual(['123'])
})

test('a code that is taken in a transaction that fails can be taken again', async () => {
  const { app, now } = service
  const token = await tokenFor('pcsc', '123')
  const { id } = app.vault.readCode(token, now()) as { id: Buffer }
  await app.db
    .begin(async (tx) => {
      expect(await takeSecurityCode(tx, id, now())).toBeInstanceOf(Buffer)
      throw new Error('the payment was not made')
    })
    .catch(() => {})
  expect(await takeCode(token)).toBe('123')
})

test('once its row is gone no key of the vault opens the code, nor does the row of another', async () => {
  const { app, now } = service
  const token = await tokenFor('pcsc', '123')
  await tokenFor('pcsc', '123')
  const { id } = app.vault.readCode(token, now()) as { id: Buffer }
  await app.db`delete from pay.security_codes where id = ${id}`
  const left = await app.db<{ wrappedKey: Buffer }>`select wrapped_key as "wrappedKey" from pay.security_codes`
  expect(left.length).toBe(1)
  for (const { wrappedKey } of left) expect(app.vault.openCode(token, wrappedKey)).toBeUndefined()
})

test('codes that were not paid with cannot be taken once they have expired, and are swept away', async () => {
  await tokenFor('pcsc', '111')
  const { app, now } = service
  const late = await tokenFor('pcsc', '222')
  const { id } = app.vault.readCode(late, now()) as { id: Buffer }
  now.advance(600)
  const fresh = await tokenFor('pcsc', '333')
  now.advance(600)
  expect(await app.db.begin((tx) => takeSecurityCode(tx, id, now()))).toBeUndefined()
  expect(await codesKept()).toBe(3)
  await sweepSecurityCodes(app, 1)
  expect(await codesKept()).toBe(1)
  expect(await takeCode(fresh)).toBe('333')
})

/** Everything that has no business here; each of them with the canary somewhere, if it can. */
const hostile: [string, unknown][] = [
  ['nothing', {}],
  ['no type', { value: canaries.pcn }],
  ['no value', { type: 'pcn' }],
  ['another type', { type: 'applepay', value: canaries.pcn }],
  ['the name of a method as type', { type: 'constructor', value: canaries.pcn }],
  ['the number as type', { type: canaries.pcn, value: 'pcn' }],
  ['a type in capitals', { type: 'PCN', value: canaries.pcn }],
  ['a list of types', { type: ['pcn'], value: canaries.pcn }],
  ['nine digits', { type: 'pcn', value: '420000987' }],
  ['twenty digits', { type: 'pcn', value: `${canaries.pcn}0000` }],
  ['a million digits', { type: 'pcn', value: canaries.pcn.repeat(60_000) }],
  ['a code of two digits', { type: 'pcsc', value: '73' }],
  ['a code of four digits', { type: 'pcsc', value: `${canaries.pcsc}0` }],
  ['a number where a code belongs', { type: 'pcsc', value: canaries.pcn }],
  ['a code where a number belongs', { type: 'pcn', value: canaries.pcsc }],
  ['spaces', { type: 'pcn', value: '4200 0098 7654 0000' }],
  ['a space in front', { type: 'pcn', value: ` ${canaries.pcn}` }],
  ['a line break behind', { type: 'pcsc', value: `${canaries.pcsc}\n` }],
  ['digits of another script', { type: 'pcsc', value: '٧٣٧' }],
  ['full-width digits', { type: 'pcsc', value: '７３７' }],
  ['a sign', { type: 'pcsc', value: '+73' }],
  ['an exponent', { type: 'pcsc', value: '7e2' }],
  ['no text', { type: 'pcn', value: Number(canaries.pcn) }],
  ['a code that is a number', { type: 'pcsc', value: Number(canaries.pcsc) }],
  ['an object', { type: 'pcn', value: { [canaries.pcn]: canaries.pcn } }],
  ['a list', { type: 'pcn', value: [canaries.pcn] }],
  ['null', { type: 'pcn', value: null }],
  ['false', { type: 'pcn', value: false }],
  ['an empty text', { type: 'pcsc', value: '' }],
  ['a bare text', canaries.pcn],
  ['a bare number', Number(canaries.pcn)],
  ['a list of orders', [{ type: 'pcn', value: canaries.pcn }]],
  ['names in capitals', { Type: 'pcn', VALUE: canaries.pcn }],
]

/** The number, or the code as a word of its own: three digits are in many an id. */
const spoken = /420000987|4200 0098|(?<![0-9a-z])(737|\+73|7e2|٧٣٧|７３７)(?![0-9a-z])/

test.each(hostile)('%s is refused, and not repeated', async (_, json) => {
  const answer = await exchange(json)
  expect([answer.status, answer.headers['x-status-code']]).toEqual([400, 'REQUEST_INVALID'])
  const { code, message, errors } = answer.json<{ code: string; message: string; errors: string[] }>()
  expect(code).toBe('REQUEST_INVALID')
  expect(message).toMatch(/^Invalid request: (type|value|body): /)
  expect(errors.length).toBeGreaterThan(0)
  expect(answer.text).not.toMatch(spoken)
  expect(await codesKept()).toBe(0)
})

test.each([
  ['no version', 'VERSION_MISSING', { headers: {}, json: { type: 'pcn', value: canaries.pcn } }],
  ['another version', 'VERSION_UNSUPPORTED', { headers: { 'accept-version': '2' }, json: { type: 'pcn', value: canaries.pcn } }],
  ['a form', 'BODY_INVALID', { headers, form: { type: 'pcn', value: canaries.pcn } }],
  ['no content type', 'BODY_INVALID', { headers, raw: JSON.stringify({ type: 'pcn', value: canaries.pcn }) }],
  [
    'no JSON',
    'BODY_INVALID',
    { headers: { ...headers, 'content-type': 'application/json' }, raw: `{"type":"pcsc","value":${canaries.pcn}x` },
  ],
  [
    'a body that is too long',
    'BODY_INVALID',
    { headers: { ...headers, 'content-type': 'application/json' }, raw: canaries.pcn.repeat(70_000) },
  ],
])('%s is refused as %s', async (_, code, options) => {
  const answer = await service.call('POST /vault', options)
  expect(answer.json()).toMatchObject({ code, message: expect.any(String) })
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(answer.text).not.toMatch(spoken)
})

test('it answers at the root of a host name of its own', async () => {
  const host = { ...headers, host: 'vault.shop.test' }
  const json = { type: 'pcn', value: canaries.pcn }
  const answer = await service.call('POST /', { headers: { ...host, origin: 'https://shop.test' }, json })
  expect(answer.status).toBe(200)
  expect(answer.headers['access-control-allow-origin']).toBe('https://shop.test')
  const { token } = answer.json<{ token: string }>()
  expect(service.app.vault.open('pcn', token, service.now())).not.toBe('invalid')
  expect((await service.call('POST /', { headers: host, json: { type: 'pcn' } })).json()).toMatchObject({
    code: 'REQUEST_INVALID',
  })
  expect((await service.call('POST /', { headers, json })).status).toBe(404)
})

test('one caller gets so many tokens, and nothing is kept of those that are refused', async () => {
  const limited = await startPayments({ PAY_RATE_LIMIT_HEADER: 'X-Caller', PAY_RATE_LIMIT_VAULT: '2/1m' })
  onTestFinished(limited.stop)
  const ask = async (from: string, json: object = { type: 'pcsc', value: '123' }) =>
    (await limited.call('POST /vault', { headers: { ...headers, 'x-caller': from }, json })).status
  expect([await ask('192.0.2.1'), await ask('192.0.2.1'), await ask('192.0.2.1')]).toEqual([200, 200, 429])
  expect(await ask('192.0.2.2')).toBe(200)
  expect((await limited.app.db`select from pay.security_codes`).count).toBe(3)
  limited.now.advance(60)
  // A slip of the finger is not counted.
  expect([await ask('192.0.2.1', { type: 'pcsc', value: '12' }), await ask('192.0.2.1')]).toEqual([400, 200])
})

test('without keys it is said who has to do something, and at start already', async () => {
  const keyless = await startPayments({ PAY_VAULT_KEYS: '' })
  onTestFinished(() => keyless.stop())
  for (const [type, value] of Object.entries(canaries)) {
    const answer = await keyless.call('POST /vault', { headers, json: { type, value } })
    expect(answer.status).toBe(503)
    expect(answer.json()).toMatchObject({ message: expect.stringContaining('PAY_VAULT_KEYS') })
  }
  expect(keyless.lines.find(({ level }) => level === 'warn')?.message).toContain('PAY_VAULT_KEYS')
  expect((await keyless.call('GET /health')).status).toBe(200)
})

test('neither number nor code reaches the log, whatever becomes of the request', async () => {
  const { call, app, lines, stop } = await startPayments()
  onTestFinished(stop)
  const sent = Object.entries(canaries).map(([type, value]) => ({ type, value }))
  const statuses: number[] = []
  const ask = async (json: unknown, path = '/vault') => {
    statuses.push((await call(`POST ${path}`, { headers, json })).status)
  }
  for (const each of sent) await ask(each)
  for (const [, json] of hostile) await ask(json)
  for (const each of sent) await ask(each, `/vault?type=${each.type}&value=${each.value}`)
  for (const each of sent) await ask(each, `/vault/${each.value}`)
  // Bugs of ours, at the worst moment: the database refuses the row, and has no table for it.
  await app.db`alter table pay.security_codes add constraint broken check (expires < '2000-01-01') not valid`
  for (const each of sent) await ask(each)
  await app.db`drop table pay.security_codes`
  for (const each of sent) await ask(each)

  const count = (status: number) => statuses.filter((each) => each === status).length
  expect([count(200), count(400), count(404), count(500)]).toEqual([6, hostile.length, 2, 2])
  expect(lines.filter(({ level, error }) => level === 'error' && error).length).toBe(2)
  expect(lines.filter(({ message }) => message === 'request').length).toBe(statuses.length)
  // What is counted and measured may come to any number.
  const told = lines.map((line) => JSON.stringify({ ...line, time: '', ms: '' }))
  expect(told.filter((line) => spoken.test(line))).toEqual([])
})
