import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAccount, startIdentity } from '../testing.ts'

test('while the secret alone signs there is no key to see', async () => {
  const service = await startIdentity()
  const answer = await service.call('GET /.well-known/jwks.json')
  expect(answer.json()).toEqual({ keys: [] })
  expect(answer.headers['cache-control']).toBe('public, max-age=600')
  await service.stop()
})

test('the key that signs is published without its private part, and verifies what it signed', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', key_ops: ['sign', 'verify'] }
  const service = await startIdentity({ AUTH_JWT_KEYS: JSON.stringify([key]) })
  const { keys } = (await service.call('GET /.well-known/jwks.json')).json<{ keys: Record<string, unknown>[] }>()
  expect(keys).toMatchObject([{ kid: 'one', alg: 'ES256', kty: 'EC' }])
  expect(keys[0]).not.toHaveProperty('d')
  const { authorization } = await createAccount(service)
  expect((await service.call('GET /user', { headers: { authorization } })).status).toBe(200)
  await service.stop()
})

test('keys that do not go together with the secret are complained about at start, without a word of them', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'one', key_ops: ['sign', 'verify'] }
  const outcome = startIdentity({ AUTH_JWT_KEYS: JSON.stringify([key]), AUTH_JWT_KEY_ID: 'one' })
  await expect(outcome).rejects.toThrow(/AUTH_JWT_KEYS.*cannot be used together/)
  await expect(outcome).rejects.not.toThrow(String(key.d))
})
