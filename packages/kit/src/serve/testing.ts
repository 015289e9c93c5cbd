import Type from 'typebox'
import { onTestFinished } from 'vitest'
import { anyOrigin } from '../cors.ts'
import { Answer, anyone, type Endpoint, Nothing } from '../endpoint.ts'
import { failures, type TransportCode, Unavailable } from '../failure.ts'
import { listen } from '../listen.ts'
import { createHandler } from '../serve.ts'
import type { Telemetry } from '../telemetry.ts'
import { caller, keptLog, noTelemetry } from '../testing.ts'
import type { Manner } from './manner.ts'

const table = {
  bad_request: [400, 'Not understood'],
  bad_json: [400, 'Not readable'],
  validation_failed: [400, 'Not fitting'],
  not_found: [404, 'Not here'],
  method_not_allowed: [405, 'Not so'],
  request_entity_too_large: [413, 'Too much'],
  request_timeout: [504, 'Too slow'],
  unavailable: [503, 'Not now'],
  unexpected_failure: [500, 'Our fault'],
  teapot: [418, 'Short and stout'],
} as const satisfies Record<TransportCode | 'teapot', readonly [number, string]>
const fail = failures(table)

const cors = anyOrigin({ methods: ['GET', 'POST'], headers: ['Authorization'], exposed: ['Link'], credentials: true })

const manner: Manner = {
  input: { absent: () => false, convertJson: false, caseInsensitive: false },
  bodies: 'declared',
  bodyLimit: 1000,
  fail,
  misfit: (_, problems) => fail('validation_failed', { problems }),
  word: ({ status, code, headers }, { id }) => ({ status, headers, body: JSON.stringify({ code, id }) }),
  contentType: 'application/json',
  ending: '',
  headers: { 'x-content-type-options': 'nosniff' },
  cors: () => cors,
  mounts: new Map([['things.test', '/things']]),
  requestId: { header: 'X-Trace', mint: () => 'minted' },
  longestRequest: 5,
}

export function endpoint(
  method: string,
  path: string,
  run: () => unknown,
  more: Partial<Endpoint<unknown>> = {},
): Endpoint<unknown> {
  const reply = { 200: Type.Object({ ok: Type.Boolean() }) }
  return { method, path, summary: path, tag: 'Test', caller: anyone, reply, fails: [], run, ...more }
}

/** One endpoint for every way in which a request can go. */
const endpoints = [
  endpoint('GET', '/plain', () => ({ ok: true })),
  endpoint('GET', '/things/{id}', () => ({ ok: true })),
  endpoint('DELETE', '/things/{id}', () => undefined, { reply: { 204: Nothing } }),
  endpoint('POST', '/body', () => ({ ok: true }), { body: Type.Object({ name: Type.Optional(Type.String()) }) }),
  endpoint('POST', '/owned/{id}', () => ({ ok: true }), {
    body: Type.Object({ name: Type.String() }),
    subject(_, { params }) {
      if ((params as { id: string }).id !== 'mine') throw fail('not_found')
    },
  }),
  endpoint('POST', '/looked-up/{id}', () => ({ ok: true }), {
    body: Type.Object({ name: Type.String() }),
    async firstRefusal(_, { params }) {
      if ((params as { id: string }).id !== 'mine') throw fail('not_found')
    },
  }),
  endpoint('GET', '/quiet', () => ({ ok: true }), { quiet: true }),
  endpoint('GET', '/bug', () => {
    throw new Error('the password is swordfish')
  }),
  endpoint('GET', '/unnamed', () => Promise.reject(fail('teapot'))),
  endpoint('GET', '/named', () => Promise.reject(fail('teapot', { headers: { 'x-tea': 'green' } })), { fails: ['teapot'] }),
  endpoint('GET', '/outage', () => Promise.reject(new Unavailable('no database'))),
  endpoint('GET', '/header', () => new Answer(200, { ok: true }, { 'x-bad': 'a\r\nb: c' })),
  endpoint('GET', '/bad-failure', () => Promise.reject(fail('teapot', { headers: { 'x-bad': '\u0000' } })), {
    fails: ['teapot'],
  }),
]

type Options = {
  telemetry?: Telemetry
  more?: Endpoint<unknown>[]
  manner?: Partial<Manner>
  strict?: boolean
  leaving?: () => boolean
}

/** A server that speaks plainly, and its log. */
export async function start({ more = [], manner: own = {}, telemetry = noTelemetry, ...rest }: Options = {}) {
  const { log, lines } = keptLog()
  const all = [...endpoints, ...more]
  const handler = createHandler({ app: {}, endpoints: all, manner: { ...manner, ...own }, log, telemetry, ...rest })
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    portSetting: 'TEST_PORT',
    malformed: () => ({ contentType: '', body: '' }),
  })
  onTestFinished(() => listening.drain(0))
  const origin = `http://127.0.0.1:${listening.port}`
  return {
    call: caller(origin),
    origin,
    port: listening.port,
    lines,
    told: () => lines.filter(({ message }) => message === 'request'),
  }
}
