import { readFileSync } from 'node:fs'
import { createMetrics } from '@tollgate/kit/metrics'
import { prometheusText } from '@tollgate/kit/scrape'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { noTelemetry } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Acquirer, Simulation } from './acquirers/acquirer.ts'
import { createMeters } from './meters.ts'
import { editMerchant } from './operations/edit-merchant.ts'
import { createFinisher } from './operations/finish-pending.ts'
import { recordPlan } from './operations/record-plan.ts'
import { startPayoutLoop } from './operations/run-payouts.ts'
import { runPlans } from './operations/run-plans.ts'
import type { Plan } from './rules/plan-shape.ts'
import { insertAgreement } from './store/agreements.ts'
import { plantMerchant, plantTransaction, startPayments } from './testing.ts'
import { fakeApple, fakeMerchant } from './wallets/applepay-fake.ts'
import { fakeGoogle, fakeRecipient, message } from './wallets/googlepay-fake.ts'

const metrics = createMetrics()
let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  // What has no answer is asked about by the tests alone.
  const settings = { PAY_PAYOUTS_HOUR: '0', PAY_ASK_AGAIN_AFTER: '3600' }
  service = await startPayments(settings, { telemetry: { ...noTelemetry, metrics } })
})
afterAll(() => service.stop())

/** What a name stands at, by the values of its labels: `approved none test`. Of a histogram, how often something was observed. */
function told(name: string, from = metrics): Record<string, number> {
  const family = from.snapshot().find((each) => each.name === name)
  if (!family) throw new Error(`${name} is not there`)
  return Object.fromEntries(
    family.series.map((series) => [
      series.values.join(' '),
      'value' in series ? series.value : series.counts.reduce((sum, count) => sum + count, 0),
    ]),
  )
}

/** By how much a name grew while something was done, where it did. */
async function grownBy(name: string, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = told(name)
  await work()
  const growth = Object.entries(told(name)).map(([labels, value]) => [labels, value - (before[labels] ?? 0)] as const)
  return Object.fromEntries(growth.filter(([, value]) => value !== 0))
}

async function arrange(simulation?: Simulation) {
  const merchant = await plantMerchant(service)
  const transaction = await plantTransaction(service, { merchantId: merchant.id, ...(simulation ? { simulation } : {}) })
  const headers = { authorization: merchant.authorization, accept: 'application/json' }
  const post = (path: string, json: object, key?: string) =>
    service.call(`POST ${path}`, { headers: { ...headers, ...(key ? { 'idempotency-key': key } : {}) }, json })
  const pay = (json: object, key?: string) =>
    post(`/merchants/${merchant.id}/simulator/payments`, { amount: 500, currency: 'EUR', ...json }, key)
  const move = (what: string, amount: number, key?: string) => post(`/transactions/${transaction}/${what}`, { amount }, key)
  return { merchant, transaction, post, pay, move }
}

test('payments are counted by what the acquirer made of them', async () => {
  const { pay } = await arrange()
  const grown = await grownBy('tollgate_authorizations', async () => {
    await pay({})
    await pay({ card: { number: '4100000000000007' } })
    await pay({ test: { acquirer: { latency: 1 } } })
    await pay({ test: { acquirer: { authorize: 'declined' } } })
    await pay({ test: { acquirer: { authorize: 'unanswered' } } })
  })
  expect(grown).toEqual({
    'approved none test': 2,
    'declined 7 test': 1,
    'declined 8 test': 1,
    'unknown none test': 1,
  })
  service.now.advance(600)
  const found = await grownBy('tollgate_authorizations', createFinisher(service.app, { after: 1 }))
  expect(found).toEqual({ 'approved none test': 1 })
})

test('a payment that was not made leaves no trace in the figures', async () => {
  const { pay } = await arrange()
  const grown = await grownBy('tollgate_authorizations', async () => {
    expect((await pay({ currency: 'XXX' })).status).toBe(400)
    expect((await pay({ amount: 0 })).status).toBe(400)
  })
  expect(grown).toEqual({})
})

test('captures, refunds and voids are counted by what became of them, those found out later when they are', async () => {
  const [plain, silent, refusing] = [
    await arrange(),
    await arrange({ acquirer: { capture: 'unanswered' } }),
    await arrange({ acquirer: { void: 'declined' } }),
  ]
  const grown = await grownBy('tollgate_movements', async () => {
    await plain.move('captures', 400)
    await plain.move('captures', 601)
    await plain.move('refunds', 100)
    await plain.move('voids', 200)
    await silent.move('captures', 300)
    await refusing.move('voids', 300)
  })
  expect(grown).toEqual({
    'capture approved none test': 1,
    'refund approved none test': 1,
    'void approved none test': 1,
    'capture unknown none test': 1,
    'void declined 8 test': 1,
  })
  service.now.advance(600)
  const found = await grownBy('tollgate_movements', createFinisher(service.app, { after: 1 }))
  expect(found).toEqual({ 'capture approved none test': 1 })
})

test('of what has no answer the last look tells how much it is and for how long the oldest waits', async () => {
  const finish = createFinisher(service.app, { after: 1 })
  await finish()
  expect([told('tollgate_acquirer_pending'), told('tollgate_acquirer_pending_age')]).toEqual([{ '': 0 }, { '': 0 }])
  const one = await arrange({ acquirer: { capture: 'lost' } })
  await one.move('captures', 100)
  service.now.advance(30)
  await one.pay({ test: { acquirer: { authorize: 'lost' } } })
  service.now.advance(10)
  await finish()
  expect([told('tollgate_acquirer_pending'), told('tollgate_acquirer_pending_age')]).toEqual([{ '': 2 }, { '': 40 }])
  service.now.advance(600)
  await finish()
  await finish()
  expect([told('tollgate_acquirer_pending'), told('tollgate_acquirer_pending_age')]).toEqual([{ '': 0 }, { '': 0 }])
})

test('acquirers that are asked over a wire are timed by operation and outcome', async () => {
  const [slow, silent] = [await arrange({ acquirer: { latency: 1 } }), await arrange({ acquirer: { refund: 'lost' } })]
  const grown = await grownBy('tollgate_acquirer_duration', async () => {
    await slow.pay({ test: { acquirer: { latency: 1 } } })
    await slow.move('captures', 100)
    await silent.move('captures', 100)
    await silent.move('refunds', 100)
  })
  expect(grown).toEqual({ 'simulator authorize approved': 1, 'simulator capture approved': 1, 'simulator refund unknown': 1 })
  service.now.advance(600)
  await createFinisher(service.app, { after: 1 })()
})

test('keys that are sent again are counted, wherever they are', async () => {
  const { merchant, post, pay, move } = await arrange()
  const grown = await grownBy('tollgate_idempotency_replays', async () => {
    for (const amount of [100, 100, 200]) await move('captures', amount, 'the-same')
    for (const amount of [100, 100]) await pay({ amount }, 'a-payment')
    for (const email of ['a@example.com', 'a@example.com', 'b@example.com'])
      await post(`/merchants/${merchant.id}/users`, { email }, 'a-person')
  })
  expect(grown).toEqual({ replayed: 3, mismatch: 2 })
})

test('disputes are counted when they are opened and when they are decided, once', async () => {
  const { merchant, transaction, post, move } = await arrange()
  await move('captures', 1000)
  const open = (amount: number, key: string) =>
    post(`/merchants/${merchant.id}/simulator/disputes`, { transactionId: transaction, amount }, key)
  const grown = await grownBy('tollgate_disputes', async () => {
    const ids = []
    for (const key of ['one', 'two', 'two']) ids.push((await open(100, key)).json<{ dispute: { id: string } }>().dispute.id)
    const decide = (id: string | undefined, won: boolean) =>
      post(`/merchants/${merchant.id}/simulator/disputes/${id}/decisions`, { won })
    for (let count = 0; count < 2; count++) await decide(ids[0], true)
    await decide(ids[1], false)
    await open(5000, 'too-much')
  })
  expect(grown).toEqual({ 'opened test': 2, 'won test': 1, 'lost test': 1 })
})

test('payouts of the loop are counted, those that failed as well', async () => {
  const [paid, unpaid] = [await arrange(), await arrange()]
  for (const { move } of [paid, unpaid]) await move('captures', 1000)
  await service.app.db`update pay.merchants set payouts = 'never' where id not in (${paid.merchant.id}, ${unpaid.merchant.id})`
  await service.app.db`update pay.merchants set bank_iban = 'nonsense' where id = ${unpaid.merchant.id}`
  service.now.advance(86_400)
  const { config } = service.app
  const app = { ...service.app, config: { ...config, payouts: { ...config.payouts, enabled: true } } }
  const grown = await grownBy('tollgate_payouts', async () => {
    const loop = startPayoutLoop(app)
    await expect.poll(() => service.lines.some(({ message }) => message === 'payouts made')).toBe(true)
    await loop.stop()
  })
  expect(grown).toEqual({ made: 1, failed: 1 })
})

test('invitations are counted by what the mail server said', async () => {
  const [metrics, sink] = [createMetrics(), await startSmtpSink()]
  const mail = { PAY_SMTP_HOST: '127.0.0.1', PAY_SMTP_PORT: String(sink.port), PAY_SMTP_ADMIN_EMAIL: 'pay@example.com' }
  const own = await startPayments({ ...mail, PAY_SITE_URL: 'https://site.test' }, { telemetry: { ...noTelemetry, metrics } })
  onTestFinished(() => own.stop())
  const { id, authorization } = await plantMerchant(own)
  const invite = (email: string) =>
    own.call(`POST /merchants/${id}/users`, { headers: { authorization, accept: '*/*' }, json: { email } })
  const expectTold = (expected: Record<string, number>) =>
    expect.poll(() => told('tollgate_invitations', metrics)).toEqual(expected)
  await invite('ann@example.com')
  await expectTold({ delivered: 1, postponed: 0, refused: 0 })
  await sink.close()
  await invite('bob@example.com')
  await expectTold({ delivered: 1, postponed: 1, refused: 0 })
  own.now.advance(6 * 86_400)
  own.app.nudge()
  await expectTold({ delivered: 1, postponed: 1, refused: 1 })
})

const [day, month] = [86_400, 31 * 86_400]

/** A payment whose customer agreed to three more from tomorrow on, one a month, of a merchant who has plans executed. */
async function agree(simulation?: Simulation): Promise<string> {
  return agreeAt(await arrange(simulation))
}

async function agreeAt({ merchant, transaction: transactionId }: Awaited<ReturnType<typeof arrange>>): Promise<string> {
  await editMerchant(service.app, merchant.id, { terms: { plans: 'authorize' }, price: {} })
  const first = new Date(service.now().getTime() + day * 1000)
  const amount = { currency: 'EUR', exponent: 2, value: 995 }
  const plan: Plan = [{ amount, repeat: { first, count: 3, interval: { unit: 'month' } } }]
  const agreed = { merchantId: merchant.id, transactionId, plan }
  await service.app.db.begin(async (tx) => {
    const now = service.now()
    const card = Buffer.from('a card that the simulator does without')
    await insertAgreement(tx, { ...agreed, created: now, unplannedMerchant: false, unplannedCustomer: false, card })
    await recordPlan(tx, { ...agreed, now })
  })
  return transactionId
}

test('payments of plans are counted by outcome, one without an answer once and again when it has one', async () => {
  await agree()
  await agree({ acquirer: { authorize: 'declined' } })
  await agree({ acquirer: { authorize: 'unanswered' } })
  service.now.advance(day)
  const run = () => runPlans(service.app)
  expect(await grownBy('tollgate_plan_payments', run)).toEqual({ paid: 1, declined: 1, pending: 1 })
  service.now.advance(61)
  expect(await grownBy('tollgate_plan_payments', run)).toEqual({})
  await createFinisher(service.app, { after: 1 })()
  service.now.advance(61)
  expect(await grownBy('tollgate_plan_payments', run)).toEqual({ paid: 1 })
  service.now.advance(3 * month)
  // Two were left of each plan: one is too late by now, where it was not to be tried again.
  expect(await grownBy('tollgate_plan_payments', run)).toEqual({ missed: 2, paid: 1, declined: 3, pending: 1 })
})

test('plans that end while they are charged are counted by reason', async () => {
  await service.app.db`update pay.plans set state = 'stopped', reason = 'asked', ended = ${service.now()} where state = 'active'`
  await agree()
  const [failed, expired] = [await agree(), await agree({ card: { status: 'expired' } })]
  await service.app.db`update pay.transactions set state = 'declined', error_code = 8, capturable = 0 where id = ${failed}`
  service.now.advance(month)
  const grown = await grownBy('tollgate_plans_ended', async () => {
    for (let count = 0; count < 3; count++) {
      await runPlans(service.app)
      service.now.advance(month)
    }
  })
  expect(grown).toEqual({ finished: 1, payment_failed: 1, final_error: 1 })
  const [plan] = await service.app.db`select reason from pay.plans where transaction_id = ${expired}`
  expect(plan).toEqual({ reason: 'final_error' })
})

test('a plan that somebody stops is counted, once, and one that had ended is not', async () => {
  const shop = await arrange()
  const { merchant } = shop
  const another = await plantTransaction(service, { merchantId: merchant.id })
  const [running, ended] = [await agreeAt(shop), await agreeAt({ ...shop, transaction: another })]
  await service.app.db`update pay.plans set state = 'finished', ended = ${service.now()} where transaction_id = ${ended}`
  const stop = (id: string) =>
    service.call(`DELETE /merchants/${merchant.id}/plans/${id}`, { headers: { authorization: merchant.authorization } })
  const grown = await grownBy('tollgate_plans_ended', async () => {
    const answers = await Promise.all([stop(running), stop(running), stop(ended)])
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
    expect((await stop(merchant.id)).status).toBe(404)
  })
  expect(grown).toEqual({ asked: 1 })
})

test('of payments of plans that are due and not made, the age of the oldest is told until it is made', async () => {
  await service.app.db`update pay.plans set state = 'stopped', reason = 'asked', ended = ${service.now()} where state = 'active'`
  service.now.advance(600)
  const overdue = () => told('tollgate_plan_overdue_age')['']
  expect(overdue()).toBe(0)
  const source = await agree({ acquirer: { authorize: 'unanswered' } })
  const [plan] = await service.app.db<{ due: Date }>`select due from pay.plans where transaction_id = ${source}`
  const due = plan?.due.getTime() ?? 0
  service.now.advance((due - service.now().getTime()) / 1000 + 20)
  await runPlans(service.app)
  expect(overdue()).toBe(20)
  service.now.advance(61)
  await runPlans(service.app)
  service.now.advance(100)
  expect(overdue()).toBe(181)
  await createFinisher(service.app, { after: 1 })()
  await runPlans(service.app)
  service.now.advance(61)
  expect(overdue()).toBe(0)
})

test('what hides behind an older one comes to light when that is made', () => {
  const own = createMetrics()
  const start = Date.parse('2030-01-01T00:00:00Z')
  let seconds = 1000
  const at = (second: number) => new Date(start + second * 1000)
  const meters = createMeters(own, { now: () => at(seconds), day: () => undefined })
  const overdue = () => told('tollgate_plan_overdue_age', own)['']
  meters.planOverdue(at(900), at(1100))
  meters.planOverdue(at(950), at(1300))
  meters.planOverdue(at(990), at(1200))
  expect(overdue()).toBe(100)
  seconds = 1160
  expect(overdue()).toBe(210)
  seconds = 1360
  expect(overdue()).toBe(0)
})

test('tokens of the vault are counted by type, those that were refused are not, and refusals by limit', async () => {
  const metrics = createMetrics()
  const own = await startPayments(
    { PAY_RATE_LIMIT_HEADER: 'X-Caller', PAY_RATE_LIMIT_VAULT: '3/1m', PAY_RATE_LIMIT_NEWCOMERS: '1/1h' },
    { telemetry: { ...noTelemetry, metrics } },
  )
  onTestFinished(() => own.stop())
  const ask = async (what: string, json: object) =>
    (await own.call(`POST ${what}`, { headers: { 'accept-version': '1', 'x-caller': '192.0.2.1' }, json })).status
  const pcn = { type: 'pcn', value: '4100000000000000' }
  const statuses = [
    await ask('/vault', pcn),
    await ask('/vault', { type: 'pcn', value: 'no number' }),
    await ask('/vault', pcn),
    await ask('/vault', { type: 'pcsc', value: '123' }),
    await ask('/vault', pcn),
    await ask('/vault', pcn),
    await ask('/apps', {}),
    await ask('/apps', {}),
  ]
  expect(statuses).toEqual([200, 400, 200, 200, 429, 429, 201, 429])
  expect(told('tollgate_vault_tokens', metrics)).toEqual({ pcn: 2, pcsc: 1, applepay: 0, googlepay: 0 })
  expect(told('tollgate_rate_limited', metrics)).toEqual({ declined: 0, vault: 2, newcomers: 1 })
})

test('tokens of wallets are counted by wallet, and what is not genuine is not', async () => {
  const metrics = createMetrics()
  const [apple, merchant, google, recipient] = [fakeApple(service.now()), fakeMerchant(), fakeGoogle(), fakeRecipient()]
  const own = await startPayments(
    {
      ...{ PAY_APPLEPAY_KEYS: merchant.setting, PAY_APPLEPAY_ROOT: apple.root },
      ...{ PAY_GOOGLEPAY_KEYS: recipient.setting, PAY_GOOGLEPAY_ROOT_KEYS: google.rootKeys() },
      PAY_GOOGLEPAY_RECIPIENT: 'gateway:tollgate',
    },
    { telemetry: { ...noTelemetry, metrics } },
  )
  onTestFinished(() => own.stop())
  const ask = async (wallet: string, token: object) => {
    const asked = { headers: { 'accept-version': '1' }, json: { token: JSON.stringify(token) } }
    return (await own.call(`POST /${wallet}/token`, asked)).status
  }
  const later = String(own.now().getTime() + 600_000)
  const content = { ...message, messageExpiration: later }
  const statuses = [
    await ask('applepay', apple.pay(merchant, { signing: { time: own.now() } })),
    await ask('applepay', apple.pay(fakeMerchant(), { signing: { time: own.now() } })),
    await ask('googlepay', google.pay(recipient.publicKey, { content, keyExpiration: later })),
    await ask('googlepay', google.pay(recipient.publicKey, { content, keyExpiration: later })),
    await ask('googlepay', google.pay(fakeRecipient().publicKey, { content, keyExpiration: later })),
  ]
  expect(statuses).toEqual([200, 400, 200, 200, 400])
  expect(told('tollgate_vault_tokens', metrics)).toEqual({ pcn: 0, pcsc: 0, applepay: 1, googlepay: 2 })
})

test('a scrape shows them under the names that the guide tells', () => {
  const text = prometheusText(metrics.snapshot())
  expect(text).toMatch(/^tollgate_plan_payments_total\{outcome="paid"\} \d+$/m)
  expect(text).toMatch(/^tollgate_plans_ended_total\{reason="retries_exhausted"\} \d+$/m)
  expect(text).toMatch(/^tollgate_plan_overdue_age_seconds \d+$/m)
  expect(text).toMatch(/^tollgate_vault_tokens_total\{type="pcsc"\} \d+$/m)
  expect(text).toMatch(/^tollgate_rate_limited_total\{limit="newcomers"\} \d+$/m)
  const guide = readFileSync(new URL('../../../docs/guides/running.md', import.meta.url), 'utf8')
  const names = metrics
    .snapshot()
    .flatMap(({ name, unit }) => (/^tollgate_/.test(name) ? [unit === 's' ? `${name}_seconds` : name] : []))
  expect(names.filter((name) => name !== 'tollgate_metrics_dropped' && !guide.includes(`\`${name}\``))).toEqual([])
})

test('exchange rates are as old as the day that they are of, and not a number where there are none', () => {
  let day: string | undefined = '2030-01-01'
  const own = createMetrics()
  createMeters(own, { now: () => new Date('2030-01-04T23:00:00Z'), day: () => day })
  expect(told('tollgate_exchange_rates_age_days', own)).toEqual({ '': 3 })
  day = '2030-01-05'
  expect(told('tollgate_exchange_rates_age_days', own)).toEqual({ '': 0 })
  day = undefined
  expect(told('tollgate_exchange_rates_age_days', own)).toEqual({ '': Number.NaN })
  expect(told('tollgate_exchange_rates_age_days')['']).toBeGreaterThan(365)
})

test('what may happen any day is at zero from the start', () => {
  const own = createMetrics()
  createMeters(own, { now: service.now, day: () => undefined })
  expect(told('tollgate_authorizations', own)).toEqual({
    'approved none live': 0,
    'approved none test': 0,
    'unknown none live': 0,
    'unknown none test': 0,
  })
  expect(told('tollgate_payouts', own)).toEqual({ made: 0, failed: 0 })
  expect(told('tollgate_plan_payments', own)).toEqual({ paid: 0, declined: 0, pending: 0, missed: 0 })
  expect(told('tollgate_plans_ended', own)).toEqual({
    ...{ finished: 0, asked: 0, final_error: 0 },
    ...{ retries_exhausted: 0, payment_failed: 0 },
  })
  expect(told('tollgate_vault_tokens', own)).toEqual({ pcn: 0, pcsc: 0, applepay: 0, googlepay: 0 })
  expect(told('tollgate_rate_limited', own)).toEqual({ declined: 0, vault: 0, newcomers: 0 })
})

test('where nobody wants metrics nothing is counted, and no acquirer is timed', () => {
  const meters = createMeters(undefined, { now: service.now, day: () => undefined })
  const acquirer: Acquirer = { name: 'somebody', authorize: () => Promise.reject(), move: () => Promise.reject() }
  expect(meters.timed(acquirer)).toBe(acquirer)
  expect(() => meters.movement('capture', { kind: 'unknown', reason: 'lost' }, false)).not.toThrow()
})
