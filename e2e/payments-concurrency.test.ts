import { randomUUID } from 'node:crypto'
import type { Called, TestedService } from '@tollgate/kit/testing'
import type { Simulation } from '@tollgate/payments/acquirers/acquirer'
import type { App } from '@tollgate/payments/app'
import { createFinisher } from '@tollgate/payments/operations/finish-pending'
import { verify } from '@tollgate/payments/operations/verify'
import { plantMerchant, plantTransaction, startPayments } from '@tollgate/payments/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

/** Two processes of the service that share nothing but their database. */
let services: [TestedService<App>, TestedService<App>]
beforeAll(async () => {
  const first = await startPayments()
  services = [first, await startPayments({ DATABASE_URL: first.app.config.db.url.reveal() })]
})
afterAll(async () => {
  // The second first: the database is the first one's.
  for (const service of services.toReversed()) await service.stop()
})

afterEach(async () => {
  const { breaches, warnings } = await verify(services[0].app.db, services[0].now())
  expect([...breaches, ...warnings]).toEqual([])
})

type Told = { transaction: Record<string, unknown> & { trail: Record<string, unknown>[] } }

type Arranged = Awaited<ReturnType<typeof arrange>>

async function arrange(given: { simulation?: Simulation } = {}) {
  const merchant = await plantMerchant(services[0])
  const id = await plantTransaction(services[0], { merchantId: merchant.id, ...given })
  const headers = { authorization: merchant.authorization, accept: 'application/json' }
  const post = (service: number, path: string, json: unknown, key?: string) =>
    (services[service % 2] as TestedService<App>).call(`POST ${path}`, {
      headers: key === undefined ? headers : { ...headers, 'idempotency-key': key },
      json,
    })
  return {
    merchant,
    id,
    post,
    move: (service: number, what: string, amount: number, key?: string) =>
      post(service, `/transactions/${id}/${what}`, { amount }, key),
    read: async () => (await services[0].call(`GET /transactions/${id}`, { headers })).json<Told>().transaction,
  }
}

/** As many at once as are asked for, on both processes in turn. */
const crowd = <T>(count: number, act: (number: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, number) => act(number)))

const passed = (answers: Called[]) => answers.filter(({ status }) => status === 201)

function expectOnly(answers: Called[], statuses: number[]) {
  const others = answers.filter(({ status }) => !statuses.includes(status)).map(({ status, text }) => `${status} ${text}`)
  expect(others).toEqual([])
}

async function linesOf({ id }: Arranged): Promise<{ kind: string; amount: number }[]> {
  return await services[0].app.db<{
    kind: string
    amount: number
  }>`select kind, amount from pay.lines where transaction_id = ${id}`
}

test('50 captures of 300 on 1000 at once, over two processes: exactly 3 pass', async () => {
  const arranged = await arrange()
  const answers = await crowd(50, (number) => arranged.move(number, 'captures', 300))
  expect(passed(answers)).toHaveLength(3)
  expectOnly(answers, [201, 400, 409])
  // Whoever was told that something else happened at the same moment finds out now that nothing is left.
  for (const refused of answers.filter(({ status }) => status === 400))
    expect(refused.json()).toEqual([{ field: 'amount', message: 'Can capture at most EUR 1' }])
  expect(await arranged.read()).toMatchObject({ capturedAmount: 900, pendingAmount: 100 })
  expect(await linesOf(arranged)).toHaveLength(3)
  // What each of the three was told fits together, whoever else had come in between.
  const told = passed(answers).map((answer) => answer.json<Told>().transaction)
  for (const { trail, capturedAmount } of told) expect(trail).toHaveLength(Number(capturedAmount) / 300)
  expect(Math.max(...told.map(({ capturedAmount }) => Number(capturedAmount)))).toBe(900)
})

test('1,000 refunds of 7 at once, over two processes: exactly the captured amount goes back, and not one more', async () => {
  const arranged = await arrange()
  expect((await arranged.move(0, 'captures', 994)).status).toBe(201)
  const answers = await crowd(1000, (number) => arranged.move(number, 'refunds', 7))
  expectOnly(answers, [201, 400])
  expect(passed(answers)).toHaveLength(142)
  expect(await arranged.read()).toMatchObject({ capturedAmount: 994, refundedAmount: 994 })
  const [sums] = await services[0].app.db<{ fees: number; balance: number }>`
    select sum(fee)::bigint as fees, sum(balance)::bigint as balance from pay.lines where transaction_id = ${arranged.id}`
  // Of the fees only the flat part is left: what came in by percentage went back in 142 parts to the last cent.
  expect(sums).toEqual({ fees: 25, balance: -25 })
}, 120_000)

test.each([
  ['decided at once', undefined],
  ['decided over a wire that takes its time', { acquirer: { latency: 20 } }],
])('captures and voids that race for the same money share it, where they are %s', async (_, simulation) => {
  const arranged = await arrange(simulation ? { simulation } : {})
  const answers = await crowd(30, (number) => arranged.move(number, number % 4 < 2 ? 'captures' : 'voids', 300))
  expectOnly(answers, [201, 400, 409])
  expect(passed(answers)).toHaveLength(3)
  const { capturedAmount, voidedAmount, pendingAmount } = await arranged.read()
  expect([Number(capturedAmount) + Number(voidedAmount), pendingAmount]).toEqual([900, 100])
})

test('captures, refunds, voids and disputes at once never take more than there is', async () => {
  const arranged = await arrange()
  await arranged.move(0, 'captures', 400)
  const { merchant, id } = arranged
  const answers = await crowd(60, (number) => {
    if (number % 5 === 0) return arranged.move(number, 'captures', 70)
    if (number % 5 === 1) return arranged.move(number, 'voids', 50)
    if (number % 5 === 2)
      return arranged.post(number, `/merchants/${merchant.id}/simulator/disputes`, { transactionId: id, amount: 60 })
    return arranged.move(number, 'refunds', 45)
  })
  expectOnly(answers, [201, 400, 409])
  const { capturedAmount, voidedAmount, refundedAmount, disputedAmount } = (await arranged.read()) as Record<string, number>
  expect((capturedAmount ?? 0) + (voidedAmount ?? 0)).toBeLessThanOrEqual(1000)
  expect(refundedAmount).toBeLessThanOrEqual(capturedAmount ?? 0)
  expect(disputedAmount).toBeLessThanOrEqual(capturedAmount ?? 0)
  expect(passed(answers).length).toBeGreaterThan(10)
})

const things: [
  what: string,
  (arranged: Arranged) => [path: string, body: Record<string, unknown>],
  rows: (arranged: Arranged) => Promise<number>,
][] = [
  [
    'capture',
    ({ id }) => [`/transactions/${id}/captures`, { amount: 200 }],
    async (arranged) => (await linesOf(arranged)).length - 1,
  ],
  [
    'refund',
    ({ id }) => [`/transactions/${id}/refunds`, { amount: 200 }],
    async (arranged) => (await linesOf(arranged)).length - 1,
  ],
  [
    'void',
    ({ id }) => [`/transactions/${id}/voids`, { amount: 200 }],
    async ({ read }) => (await read()).trail.filter((entry) => entry.void).length,
  ],
  [
    'payment from an earlier transaction',
    ({ id, merchant }) => [`/merchants/${merchant.id}/transactions`, { transactionId: id, currency: 'EUR', amount: 200 }],
    async ({ merchant }) =>
      (await services[0].app.db`select from pay.transactions where merchant_id = ${merchant.id}`).length - 1,
  ],
  [
    'payment through the simulator',
    ({ merchant }) => [`/merchants/${merchant.id}/simulator/payments`, { currency: 'EUR', amount: 200 }],
    async ({ merchant }) =>
      (await services[0].app.db`select from pay.transactions where merchant_id = ${merchant.id}`).length - 1,
  ],
  [
    'dispute',
    ({ id, merchant }) => [`/merchants/${merchant.id}/simulator/disputes`, { transactionId: id, amount: 200 }],
    async ({ merchant }) => (await services[0].app.db`select from pay.disputes where merchant_id = ${merchant.id}`).length,
  ],
  [
    'fraud alert',
    ({ id, merchant }) => [`/merchants/${merchant.id}/simulator/frauds`, { transactionId: id }],
    async ({ merchant }) => (await services[0].app.db`select from pay.frauds where merchant_id = ${merchant.id}`).length,
  ],
  [
    'merchant',
    () => [
      '/merchants',
      { currency: 'EUR', test: true, email: 'a@b.test', website: 'b.test', descriptor: 'B', company: { country: 'DK' } },
    ],
    async ({ merchant }) => (await services[0].app.db`select from pay.members where identity_id = ${merchant.app.id}`).length - 1,
  ],
]

test.each(things)('a %s under one key, sent to both processes at once by twenty, is done once', async (_, wish, count) => {
  const arranged = await arrange()
  await arranged.move(0, 'captures', 500)
  const [path, body] = wish(arranged)
  const key = randomUUID()
  const answers = await crowd(20, (number) => arranged.post(number, path, body, key))
  expectOnly(answers, [201, 409])
  expect(passed(answers).length).toBeGreaterThan(0)
  const later = await crowd(4, async (number) => {
    for (;;) {
      const answer = await arranged.post(number, path, body, key)
      if (answer.status !== 409) return answer
    }
  })
  expectOnly(later, [201])
  expect(new Set([...passed(answers), ...later].map(({ text }) => text)).size).toBe(1)
  expect(await count(arranged)).toBe(1)
  const other = await arranged.post(
    1,
    path,
    { ...body, ...('amount' in body ? { amount: 199 } : { transactionId: arranged.id, email: 'c@d.test', reason: 1 }) },
    key,
  )
  expect(other.status).toBe(422)
  expect(await count(arranged)).toBe(1)
})

test('one key for two different things at once does one of them', async () => {
  const arranged = await arrange()
  const key = randomUUID()
  const answers = await crowd(10, (number) => arranged.move(number, number % 2 === 0 ? 'captures' : 'voids', 100, key))
  expectOnly(answers, [201, 409, 422])
  const { trail } = await arranged.read()
  expect(trail).toHaveLength(1)
  expect(passed(answers).length).toBeLessThanOrEqual(5)
})

test('what stayed without an answer is finished once, by whichever process comes first', async () => {
  const arranged = await arrange({ simulation: { acquirer: { capture: 'unanswered' } } })
  const answers = await crowd(10, (number) => arranged.move(number, 'captures', 100))
  expectOnly(answers, [504])
  const [first, second] = services
  for (const { now } of services) now.advance(120)
  const finishers = [first, second, first, second].map(({ app }) => createFinisher(app, { after: 60 }))
  await Promise.all(finishers.map((finish) => finish()))
  expect(await arranged.read()).toMatchObject({ capturedAmount: 1000, pendingAmount: 0 })
  expect(await linesOf(arranged)).toHaveLength(10)
})
