import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { ConfigProblem, defineSettings, type Env } from '@tollgate/kit/env'
import { createFetch } from '@tollgate/kit/fetch'
import { keptLog } from '@tollgate/kit/testing'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { acquirerSettings } from './acquirer-settings.ts'
import { openAcquirer } from './all.ts'
import { startClearhausFake } from './clearhaus-fake.ts'

const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'tollgate/test' })
afterAll(() => fetch.close())

const settings = defineSettings({ prefix: 'PAY', title: 'the payments service' }, acquirerSettings)
const pair = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
const { privateKey, publicKey } = pair(2048)
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const chosen: Env = {
  PAY_ACQUIRER: 'clearhaus',
  PAY_CLEARHAUS_API_KEY: 'canary-api-key',
  PAY_CLEARHAUS_SIGNING_KEY_ID: 'key-7',
  PAY_CLEARHAUS_SIGNING_KEY: pem,
}

function complaints(env: Env): readonly string[] {
  try {
    settings.read(env)
    return []
  } catch (problem) {
    if (problem instanceof ConfigProblem) return problem.complaints
    throw problem
  }
}

test('nobody is asked where nobody is chosen', () => {
  const { config } = settings.read({})
  expect([config.name, config.clearhaus.base, config.clearhaus.timeout]).toEqual(['none', 'https://gateway.clearhaus.com', 30])
  expect(openAcquirer(config, { fetch, log: keptLog().log })).toBeUndefined()
})

test('whoever is chosen is asked with what is set, keys in one line included', async () => {
  const fake = await startClearhausFake({ apiKey: 'canary-api-key', signingKeyId: 'key-7', publicKey })
  onTestFinished(() => fake.close())
  const { config } = settings.read({
    ...chosen,
    PAY_CLEARHAUS_URL: `${fake.origin}/`,
    PAY_CLEARHAUS_SIGNING_KEY: pem.replaceAll('\n', '\\n'),
  })
  const acquirer = openAcquirer(config, { fetch, log: keptLog().log })
  expect(acquirer?.name).toBe('clearhaus')
  const outcome = await acquirer?.move({
    kind: 'capture',
    reference: '5f0000000000000000000002',
    merchantId: '5f0000000000000000000001',
    currency: 'EUR',
    amount: 100,
    again: false,
    simulation: undefined,
    descriptor: undefined,
    authorization: { reference: 'x', acquirerReference: '84412a34-fa29-4369-a098-0165a80e8fda', amount: 100 },
    endsAuthorization: false,
  })
  // The gateway knows the key and has no such authorization.
  expect(outcome).toEqual({ kind: 'declined', code: 12 })
  expect(fake.requests.map(({ path, body }) => [path, body])).toEqual([
    ['/authorizations/84412a34-fa29-4369-a098-0165a80e8fda/captures', 'amount=100'],
  ])
})

test('keys are not shown with the settings', () => {
  const { config } = settings.read(chosen)
  const shown = inspect(config, { depth: 9 }) + JSON.stringify(config)
  expect(shown).not.toContain('canary-api-key')
  expect(shown).not.toContain('PRIVATE KEY')
})

describe('complaints', () => {
  test('all that is missing is named, and why it is needed', () => {
    const missing = complaints({ PAY_ACQUIRER: 'clearhaus' })
    expect(missing.map((line) => line.split(' ')[0])).toEqual([
      'PAY_CLEARHAUS_API_KEY',
      'PAY_CLEARHAUS_SIGNING_KEY_ID',
      'PAY_CLEARHAUS_SIGNING_KEY',
    ])
    for (const line of missing) expect(line).toContain('although PAY_ACQUIRER is clearhaus')
  })

  test.each<[string, string, string]>([
    ['somebody unknown', 'PAY_ACQUIRER', 'stripes'],
    ['an address in the open', 'PAY_CLEARHAUS_URL', 'http://gateway.clearhaus.com'],
    ['one that only looks local', 'PAY_CLEARHAUS_URL', 'http://127.0.0.1.example.com'],
    ['credentials in the address', 'PAY_CLEARHAUS_URL', 'https://user:canary-word@gateway.clearhaus.com'],
    ['a query in the address', 'PAY_CLEARHAUS_URL', 'https://gateway.clearhaus.com?x=1'],
    ['no address', 'PAY_CLEARHAUS_URL', 'gateway'],
    ['a key id with a line break', 'PAY_CLEARHAUS_SIGNING_KEY_ID', 'a\r\nb'],
    ['no key', 'PAY_CLEARHAUS_SIGNING_KEY', 'canary-word'],
    ['a public key', 'PAY_CLEARHAUS_SIGNING_KEY', publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ['a short key', 'PAY_CLEARHAUS_SIGNING_KEY', pair(1024).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    [
      'a key of another kind',
      'PAY_CLEARHAUS_SIGNING_KEY',
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ],
    ['no time', 'PAY_CLEARHAUS_TIMEOUT', '0'],
  ])('%s', (_what, name, value) => {
    const told = complaints({ ...chosen, [name]: value })
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(`${name} must be`)
    expect(told[0]).not.toMatch(/canary|BEGIN P(UBLIC|RIVATE) KEY-----\n/)
  })

  test.each(['https://gateway.test.clearhaus.com', 'http://127.0.0.1:4000', 'http://localhost', 'http://[::1]:4000/clearhaus'])(
    '%s is an address',
    (address) => {
      expect(settings.read({ ...chosen, PAY_CLEARHAUS_URL: `${address}/` }).config.clearhaus.base).toBe(address)
    },
  )
})
