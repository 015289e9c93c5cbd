import { startIdentity } from '@tollgate/identity/testing'
import { expect, onTestFinished, test } from 'vitest'
import { exchange, type Heard, wrongWithAny, wrongWithIdentity, wrongWithPayments } from './fuzz-bytes.ts'
import { luckOf } from './fuzz-calls.ts'
import { createFindings, reachOf, statusesOf } from './fuzz-findings.ts'
import type { FuzzRequest } from './fuzz-requests.ts'

const always = {
  'x-request-id': '0af7651916cd43dd8448eb211c80319c',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'content-security-policy': "default-src 'none'",
}
const answer = (status: number, body = '', headers: Record<string, string> = {}): Heard => ({
  status,
  body,
  headers: new Map(Object.entries({ ...always, ...headers })),
})
const request = (...headers: [string, string][]): FuzzRequest => ({
  ...{ method: 'GET', path: '/', headers, length: 'right', body: Buffer.alloc(0) },
})
const json = { 'content-type': 'application/json' }
const jsonLine = { 'content-type': 'application/json; charset=utf-8' }

test('of bytes that were read as two requests the first answer is heard', async () => {
  const service = await startIdentity()
  onTestFinished(() => service.stop())
  const bytes = Buffer.from(
    'GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  )
  const { status, body } = await exchange(service.origin, bytes, true)
  expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ name: 'GoTrue' })])
})

test('a 5xx, and every header that is missing, is a broken promise', () => {
  expect(wrongWithAny(answer(200))).toBeUndefined()
  expect(wrongWithAny(answer(500))).toBe('500')
  for (const name of Object.keys(always)) expect(wrongWithAny(answer(200, '', { [name]: '' })), name).toMatch(/^no /)
})

test.each([
  ['as promised', { code: 404, error_code: 'not_found', msg: 'No' }, 'not_found', undefined],
  ['a field too many', { code: 404, error_code: 'not_found', msg: 'No', stack: 'x' }, 'not_found', expect.any(String)],
  ['another code than in the header', { code: 404, error_code: 'not_found', msg: 'No' }, 'other', expect.any(String)],
  ['another status', { code: 400, error_code: 'not_found', msg: 'No' }, 'not_found', expect.any(String)],
])('a refusal of identity: %s', (_, told, code, wrong) => {
  const heard = answer(404, JSON.stringify(told), { ...json, 'x-sb-error-code': code })
  expect(wrongWithIdentity(heard, request())).toEqual(wrong)
})

test('a refusal of identity has the form of the version that was asked for', () => {
  const version = { 'x-supabase-api-version': '2024-01-01' }
  const newer = answer(404, '{"code":"not_found","message":"No"}', { ...json, ...version, 'x-sb-error-code': 'not_found' })
  expect(wrongWithIdentity(newer, request(['X-Supabase-Api-Version', '2024-01-01']))).toBeUndefined()
  expect(wrongWithIdentity(newer, request())).toBe('404 in the form of another version')
})

test.each([
  ['a list of fields', 400, '[\n{"field":"a","message":"Required"}\n]\n', undefined],
  ['an empty list', 400, '[\n]\n', expect.any(String)],
  ['a field too many', 400, '[\n{"field":"a","message":"b","c":1}\n]\n', expect.any(String)],
  ['a code', 404, '{"code":"not_found","message":"No"}\n', undefined],
  ['a line that does not end', 404, '{"code":"not_found","message":"No"}', expect.any(String)],
])('a refusal of payments: %s', (_, status, body, wrong) => {
  expect(wrongWithPayments(answer(status, body, jsonLine), request(['Accept', '*/*']))).toEqual(wrong)
})

test('a refusal of payments has no body for those who cannot read one', () => {
  const body = '{"code":"not_found","message":"No"}\n'
  const old = request(['Accept', 'application/vnd.api+json'])
  expect(wrongWithPayments(answer(404, body, jsonLine), old)).toBe('404 with a body for those who cannot read it')
  expect(wrongWithPayments(answer(404), old)).toBeUndefined()
})

test('a bug is kept once a kind, with its first request and what the log says of it', () => {
  const findings = createFindings()
  const call = { method: 'GET', path: '/me', headers: {}, body: undefined, encoding: 'json' } as const
  for (const path of ['/me', '/me?again'])
    findings.noteCall('GET /me: 500', { ...call, path }, { status: 500, text: 'oh', headers: { 'x-request-id': 'r1' } })
  findings.explain([
    { level: 'error', message: 'request', request_id: 'r2', error: 'other' },
    { level: 'error', message: 'request', request_id: 'r1', error: { message: 'why' } },
  ])
  const [bug, ...more] = findings.bugs.values()
  expect(more).toEqual([])
  expect(bug).toMatchObject({ kind: 'GET /me: 500', times: 2, what: expect.stringMatching(/"path":"\/me".*\n500 oh\n.*"why"/) })
  findings.count('GET /me', 200)
  findings.count('GET /apps', 200)
  findings.count('GET /apps', 404)
  expect(statusesOf(findings)).toEqual({ 200: 2, 404: 1 })
})

test('an endpoint has done something where it neither refused nor led to a place where a refusal is told', () => {
  const findings = createFindings()
  findings.count('GET /verify', 303, 'https://site.test/#access_token=x')
  findings.count('GET /verify', 303, 'https://site.test/#error=access_denied')
  findings.count('GET /verify', 303, 'https://site.test/?a=b&error_code=x')
  findings.count('GET /verify', 303)
  findings.count('GET /verify', 404)
  findings.count('GET /verify/more', 200)
  findings.count('GET /verify', 200)
  expect(reachOf(findings, ['GET /verify', 'GET /me'])).toEqual([
    { name: 'GET /verify', answers: 6, done: 2, refused: 1 },
    { name: 'GET /me', answers: 0, done: 0, refused: 0 },
  ])
})

test('luck is the same for the same seed, and spread', () => {
  const draw = (seed: number) =>
    Array.from(
      { length: 400 },
      (
        (luck) => () =>
          luck(4)
      )(luckOf(seed)),
    )
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
  for (const value of [0, 1, 2, 3]) expect(draw(7).filter((each) => each === value).length).toBeGreaterThan(60)
})
