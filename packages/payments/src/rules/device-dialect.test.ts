import { Failure } from '@tollgate/kit/failure'
import { expect, test } from 'vitest'
import { isForDevices, wordForDevices } from './device-dialect.ts'

test.each([
  '/payments',
  '/payments/challenges/authorize',
  '/vault',
  '/applepay/token',
  '/googlepay/token',
  '/3dsecure/v2/method',
])('%s is for devices', (path) => expect(isForDevices(path)).toBe(true))

test.each(['/', '/pos', '/merchants/1/transactions', '/vaults', '/paymentsx', '/transactions'])('%s is not', (path) =>
  expect(isForDevices(path)).toBe(false),
)

function word(code: string, status: number, details = {}) {
  const { body, ...wire } = wordForDevices(new Failure(code, status, 'Why', details))
  return { ...wire, body: String(body) }
}

test('a refusal is one line of JSON with its code, which is in a header as well', () => {
  const { body, status, headers } = word('TOKEN_INVALID', 400, { more: { path: 'card.number' } })
  expect(body).toBe('{"code":"TOKEN_INVALID","message":"Why","path":"card.number"}\n')
  expect([status, headers['x-status-code']]).toEqual([400, 'TOKEN_INVALID'])
})

test('fields that do not fit are named', () => {
  const problems = [{ path: 'card.expiry.month', kind: 'value', message: 'Required' }]
  expect(JSON.parse(word('validation_failed', 400, { problems }).body)).toEqual({
    code: 'REQUEST_INVALID',
    message: 'Invalid request: card.expiry.month: Required',
    errors: ['card.expiry.month: Required'],
  })
})

test.each([
  ['bad_json', 400, 'BODY_INVALID'],
  ['request_entity_too_large', 413, 'BODY_INVALID'],
  ['not_found', 404, 'ENDPOINT_NOT_FOUND'],
  ['method_not_allowed', 405, 'ENDPOINT_NOT_FOUND'],
  ['vault_missing', 503, 'INTERNAL_ERROR'],
])('%s is said in the words that devices know', (code, status, said) => {
  expect(JSON.parse(word(code, status).body)).toMatchObject({ code: said })
})

test.each([
  ['unavailable', 503],
  ['request_timeout', 504],
  ['outcome_unknown', 504],
  ['unexpected_failure', 500],
  ['idempotency_running', 409],
])('%s may go better in a moment, so that it is not said in JSON, which clients take for the last word', (code, status) => {
  const wire = word(code, status)
  expect(wire.contentType).toBe('text/plain; charset=utf-8')
  expect(wire.status).toBeGreaterThanOrEqual(500)
  expect(wire.headers['x-status-code']).toBe('INTERNAL_ERROR')
})
