import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startPostgres } from '@tollgate/kit/embedded-postgres'
import { migrate } from '@tollgate/kit/migrate'
import { startOtlpReceiver } from '@tollgate/kit/otlp-receiver'
import { startTelemetry } from '@tollgate/kit/telemetry'
import { payments } from '@tollgate/payments/main'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseFiles } from './database-files.ts'

/** Somebody's card, as far as anybody can tell. Three digits are everywhere by chance, so that its code is sent often and counted. */
const number = '4929736184052961'
const code = '739'
const times = 40

type Service = Awaited<ReturnType<typeof startPayments>>
type Merchant = Awaited<ReturnType<typeof plantMerchant>>

const folder = mkdtempSync(join(tmpdir(), 'tollgate-canary-'))
let postgres: EmbeddedPostgres
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>
let telemetry: Awaited<ReturnType<typeof startTelemetry>>
let service: Service
let merchant: Merchant
let url: string

beforeAll(async () => {
  // A server of its own, whose log of changes holds nothing but this.
  postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    template: join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate', 'postgres'),
    settings: { log_statement: 'all', log_min_error_statement: 'error', log_min_messages: 'info' },
  })
  url = postgres.url('postgres')
  await migrate({ url, schema: { written: 'pay', actual: 'pay' }, migrations: payments.migrations })
  receiver = await startOtlpReceiver()
  telemetry = await startTelemetry({
    ...{ service: 'payments', version: '1', versionAttribute: 'pay.version' },
    ...{ tracing: true, metrics: 'opentelemetry', endpoint: receiver.url },
  })
  service = await startPayments({ DATABASE_URL: url, PAY_LOG_LEVEL: 'debug' }, { telemetry })
  merchant = await plantMerchant(service)
  await payEveryWay()
  await telemetry.stop()
}, 120_000)

afterAll(async () => {
  await service?.stop()
  await receiver?.close()
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const device = { 'accept-version': '1', 'content-type': 'application/json' }

const ask = (what: string, json: object, headers: Record<string, string> = device) =>
  service.call(`POST ${what}`, { json, headers })

async function tokenOf(type: string, value: string) {
  return (await ask('/vault', { type, value })).json<{ token: string }>()
}

async function orderWith(more: object = {}) {
  return {
    integration: { key: merchant.key },
    test: { tds: { challenge: false, fingerprint: 'unavailable' } },
    amount: { currency: 'EUR', exponent: 2, value: 1000 },
    card: { number: await tokenOf('pcn', number), code: await tokenOf('pcsc', code), expiry: { month: 12, year: 2030 } },
    unplanned: { merchant: true },
    ...more,
  }
}

async function pay(order: object) {
  const hints: string[] = []
  for (const step of ['authorize-integration', 'tds-enrolled', 'authorize']) {
    const answer = await ask(`/payments/challenges/${step}`, { ...order, hints })
    if (answer.status !== 200) return answer
    hints.push(...answer.json<{ hints: string[] }>().hints)
  }
  return ask('/payments', { ...order, hints })
}

const plain = { number, code, expiry: { month: 12, year: 2030 } }

/** Right, wrong, in the wrong place, half, and while everything breaks. */
async function payEveryWay() {
  const answers: { status: number; text: string; headers: object }[] = []
  for (let time = 0; time < times; time++) answers.push(await pay(await orderWith()))
  for (const test of [{ card: { status: 'lost' } }, { card: { code: 'invalid' } }, { card: { scheme: 'unknown' } }])
    answers.push(await pay(await orderWith({ test })))
  answers.push(
    // Into the vault, wrongly.
    ...(await Promise.all([
      ask('/vault', { type: 'pcn', value: `${number}x` }),
      ask('/vault', { type: 'pcsc', value: number }),
      ask('/vault', { type: number, value: code }),
      ask('/vault', { type: 'pcn', value: { deep: number } }),
      ask('/vault', { [number]: code }),
      ask('/vault', { type: 'pcn', value: number }, { 'content-type': 'application/json' }),
      service.call('POST /vault', { raw: `{"type":"pcn","value":"${number}`, headers: device }),
      service.call('POST /vault', {
        raw: `type=pcn&value=${number}&code=${code}`,
        headers: { ...device, 'content-type': 'text/plain' },
      }),
      service.call(`POST /vault?value=${number}`, { json: { type: 'pcsc', value: code }, headers: device }),
    ])),
    // To endpoints that want a token.
    await ask('/payments', { ...(await orderWith()), card: plain }),
    await ask('/payments', { ...(await orderWith()), card: { ...plain, number: { token: number }, code: { token: code } } }),
    await ask('/payments', { ...(await orderWith()), hints: [number, code] }),
    await ask(`/payments/challenges/${number}`, await orderWith()),
    // As old integrations do, with forms and JSON, well and badly.
    await ask('/transactions', { key: merchant.key, currency: 'EUR', amount: 100, card: plain }),
    await ask('/transactions', { key: merchant.key, currency: 'EUR', amount: 'x', card: plain }),
    await ask('/transactions', { key: number, currency: 'EUR', amount: 100, card: { ...plain, code: `${code}0` } }),
    await service.call('POST /transactions', {
      form: {
        ...{ key: merchant.key, currency: 'EUR', amount: '100', 'card[number]': number, 'card[code]': code },
        ...{ 'card[expiry][month]': '12', 'card[expiry][year]': '2030' },
      },
      headers: { 'idempotency-key': 'canary' },
    }),
    await ask('/cards', { key: merchant.key, ...plain }),
    await ask('/cards', { key: merchant.key, ...plain, number: `${number}999999` }),
    // To places that have nothing to do with cards.
    await service.call(`POST /merchants/${merchant.id}/simulator/payments`, {
      json: { amount: 100, currency: 'EUR', card: plain },
      headers: { authorization: merchant.authorization },
    }),
    await service.call(`GET /transactions/${number}`, { headers: { authorization: merchant.authorization } }),
    await service.call(`GET /pos?key=${merchant.key}&test=1&value=1&currency=EUR&number=${number}`),
    await service.call('POST /3dsecure/v2/challenge', { form: { creq: number } }),
  )
  answers.push(...(await payWhileItBreaks()))
  for (const { text, headers } of answers) expect(text + JSON.stringify(headers)).not.toContain(number)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(times)
}

/** Statements fail, each at another point of a payment: what is thrown then goes into the log. */
async function payWhileItBreaks() {
  const answers = []
  for (const table of ['security_codes', 'agreements', 'transactions', 'idempotency']) {
    const order = await orderWith()
    await service.app.db`select 1`
    await query(`alter table pay.${table} rename to broken`)
    answers.push(await pay(order), await ask('/vault', { type: 'pcsc', value: code }))
    answers.push(await ask('/transactions', { key: merchant.key, currency: 'EUR', amount: 100, card: plain }))
    await query(`alter table pay.broken rename to ${table}`)
  }
  expect(answers.some(({ status }) => status === 500)).toBe(true)
  return answers
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** A number that stands by itself, and not in the middle of an id or of something encrypted. */
function countCode(text: string): number {
  return text.match(new RegExp(`(?<![0-9A-Za-z+/.:-])${code}(?![0-9A-Za-z+/.:-])`, 'g'))?.length ?? 0
}

test('the log has neither', () => {
  const text = service.lines.map((line) => JSON.stringify(line)).join('\n')
  expect(text.length).toBeGreaterThan(10_000)
  expect([text.includes(number), countCode(text)]).toEqual([false, 0])
})

test('nor have traces and metrics', () => {
  const text = JSON.stringify([receiver.spans(), receiver.metrics()], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(receiver.spans().length).toBeGreaterThan(times)
  expect([text.includes(number), countCode(JSON.stringify(receiver.spans().map(({ attributes }) => attributes)))]).toEqual([
    false,
    0,
  ])
})

test('no table has either, in any form that reads like it', async () => {
  const tables = await query("select tablename from pg_tables where schemaname = 'pay'")
  expect(tables.length).toBeGreaterThan(15)
  const texts = await Promise.all(
    tables.map(async ({ tablename }) => JSON.stringify(await query(`select t::text as row from pay.${tablename} t`))),
  )
  const dump = texts.join('\n')
  const forms = [number, Buffer.from(number).toString('hex'), Buffer.from(number).toString('base64').slice(0, 20)]
  for (const form of forms) expect(dump).not.toContain(form)
  expect(countCode(dump)).toBe(0)
  // What has been paid with cannot be opened any more; what has not can, for some minutes.
  const [kept] = await query('select count(*)::int as codes from pay.security_codes')
  expect(Number(kept?.codes)).toBeLessThan(times)
})

test('the log of changes and every file of the database are clean, and so is its log of statements with their parameters', async () => {
  await query('checkpoint')
  const { files, changes, statements } = databaseFiles(join(folder, 'postgres'))
  expect(files.filter((file) => readFileSync(file).includes(number))).toEqual([])
  // By chance alone three digits stand here and there; once for every payment would be no chance.
  expect(countCode(changes)).toBeLessThan(times / 2)
  expect(statements).toContain('security_codes')
  expect(countCode(statements)).toBe(0)
})
