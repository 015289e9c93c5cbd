import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { basic, plantMerchant, startPayments } from '../testing.ts'
import {
  computedId,
  declinedId,
  disputedId,
  disputeId,
  everything,
  exchangedId,
  liveId,
  merchantId,
  recorded,
  recordedId,
} from './seed/testing.ts'
import { SeedProblem, seed } from './seed.ts'
import { verify } from './verify.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

async function own(env: Record<string, string> = {}) {
  const started = await startPayments(env)
  onTestFinished(() => started.stop())
  return started
}

const [shop] = everything().apps as [ReturnType<typeof everything>['apps'][number]]

async function get<T = Record<string, unknown>>(path: string): Promise<T> {
  const answer = await service.call(`GET ${path}`, { headers: { authorization: basic(shop.key) } })
  expect(answer.status, answer.text).toBe(200)
  return answer.json<T>()
}

describe('a file with everything', () => {
  beforeAll(async () => {
    expect(await seed(service.app, everything())).toEqual({
      apps: 1,
      merchants: 2,
      transactions: 8,
      // Twelve that the trails tell of, two decisions, a payout.
      lines: 15,
      cards: 1,
      disputes: 3,
      frauds: 1,
    })
  })

  test('leaves books without a breach', async () => {
    const verdict = await verify(service.app.db, service.now())
    expect(verdict.breaches).toEqual([])
    expect(verdict).toMatchObject({
      breachCount: 0,
      warningCount: 0,
      counts: { apps: 1, users: 1, merchants: 2, prices: 2, members: 3, transactions: 8, trail: 13, lines: 15, payouts: 1 },
    })
  })

  test('loaded again, changes nothing', async () => {
    const before = await verify(service.app.db, service.now())
    expect(Object.values(await seed(service.app, everything()))).toEqual([0, 0, 0, 0, 0, 0, 0])
    expect(await verify(service.app.db, service.now())).toEqual(before)
  })

  test('what is there already stays as it is', async () => {
    const changed = everything()
    for (const merchant of changed.merchants) merchant.descriptor = 'Another'
    for (const transaction of changed.transactions) transaction.amount += 1
    await seed(service.app, { apps: [{ ...shop, name: 'Another' }], merchants: changed.merchants })
    expect(await service.app.db`select name from pay.apps where id = ${shop.id}`).toEqual([{ name: 'Shop' }])
    expect(await get(`/merchants/${merchantId}`)).toMatchObject({ merchant: { descriptor: 'Tea and Toast' } })
  })

  test('gives an app the id, key and date that it had', async () => {
    expect(await get('/me')).toEqual({ identity: { id: shop.id, name: 'Shop', created: shop.created } })
  })

  test('gives merchants all that was said of them, and the usual where nothing was', async () => {
    const [given] = everything().merchants as [ReturnType<typeof everything>['merchants'][number]]
    const { apps: _apps, users: _users, payouts: _payouts, balance: _balance, ...told } = given
    expect(await get(`/merchants/${merchantId}`)).toMatchObject({ merchant: told })
    expect(await get(`/merchants/${liveId}`)).toMatchObject({
      merchant: {
        test: false,
        name: null,
        bank: {},
        pricing: { rate: 0.025, flat: { currency: 'EUR', amount: 25 } },
        tds: { mode: 'attempt' },
      },
    })
    expect(
      await service.app.db`select payouts, plans, plans_since = created as since, accent from pay.merchants order by id`,
    ).toEqual([
      { payouts: 'weekly', plans: 'capture', since: true, accent: '#0b6e4f' },
      { payouts: 'daily', plans: 'record', since: null, accent: null },
    ])
    expect(await service.app.db`select email from pay.users`).toEqual([{ email: 'ada@example.com' }])
  })

  test('gives a recorded transaction back to the last figure', async () => {
    expect(await get(`/transactions/${recordedId}`)).toEqual({ transaction: recorded() })
  })

  test('gives a line that was given back as it was, and makes one where only its id was', async () => {
    const [given] = everything().lines
    expect(await get('/lines/5d18a4000000000000000021')).toEqual(given)
    expect(await get('/lines/5d18a4000000000000000022')).toMatchObject({
      created: '2019-06-30T12:40:00.000Z',
      balance: -2378,
      fee: -61,
      refund: true,
    })
  })

  test('computes fees, balances and lines where none are given', async () => {
    const { transaction } = await get<{ transaction: { trail: { lineId: string }[] } }>(`/transactions/${computedId}`)
    expect(transaction).toMatchObject({
      test: true,
      capturedAmount: 600,
      refundedAmount: 200,
      voidedAmount: 100,
      pendingAmount: 300,
      descriptor: 'Tea and Toast',
      tds: 'none',
      recurring: false,
      successful: true,
      error: false,
      trail: [
        { capture: true, amount: 600, fee: { flat: 25, rate: 15 }, balance: 560 },
        { refund: true, amount: 200, fee: { flat: 0, rate: -5 }, balance: -195 },
        { void: true, amount: 100, fee: { flat: 0, rate: 0 }, balance: 0 },
      ],
    })
    const [captured, refunded] = transaction.trail.map(({ lineId }) => lineId) as [string, string]
    expect(captured.slice(0, 8)).toBe((Date.parse('2019-06-30T12:20:00.000Z') / 1000).toString(16))
    expect(captured < refunded, 'lines of one moment are in the order of the trail').toBe(true)
    expect(await get(`/lines/${refunded}`)).toMatchObject({ refund: true, balance: -195, transactionId: computedId })
  })

  test('exchanges by the shipped rates, and remembers by which', async () => {
    const [entry] = await service.app.db<{ gross: number; rate: string; source: string }>`
      select gross, exchange_rate as rate, exchange_source as source from pay.trail
      where transaction_id = ${exchangedId} and kind = 'capture'`
    // 10,000 yen at 171.94 for a euro.
    expect(entry).toMatchObject({ gross: 5816, rate: expect.stringMatching(/^0\.005815/), source: expect.any(String) })
    const [recordedEntry] = await service.app.db`
      select exchange_rate::float as rate, exchange_source as source from pay.trail
      where transaction_id = ${recordedId} and kind = 'capture'`
    expect(recordedEntry).toEqual({ rate: 7.324, source: 'seed' })
  })

  test('keeps a failed authorization with its error and without money', async () => {
    expect(await get(`/transactions/${declinedId}`)).toMatchObject({
      transaction: { successful: false, error: { code: 7, message: 'Insufficient funds' }, pendingAmount: 0, trail: [] },
    })
  })

  test('opens, wins and loses disputes', async () => {
    const { transaction: open } = await get<{ transaction: object }>(`/transactions/${disputedId.open}`)
    const dispute = { fee: { flat: 1500, rate: 0 }, balance: -2500, amount: 1000 }
    expect(open).toMatchObject({ disputedAmount: 1000, trail: [{}, { ...dispute, dispute: { id: disputeId.open } }] })
    const { transaction: won } = await get<{ transaction: object }>(`/transactions/${disputedId.won}`)
    expect(won).toMatchObject({
      disputedAmount: 0,
      trail: [{}, { fee: { flat: 0, rate: 0 }, balance: 0, amount: 1000, dispute: { id: disputeId.won, won: true } }],
    })
    const { transaction: lost } = await get<{ transaction: object }>(`/transactions/${disputedId.lost}`)
    expect(lost).toMatchObject({ disputedAmount: 1000, trail: [{}, { dispute: { id: disputeId.lost, lost: true } }] })
    expect(await get('/lines/5d18a4000000000000000025')).toMatchObject({ dispute: true, won: true, balance: 2500, fee: -1500 })
    const decisions = await service.app.db`
      select balance, created from pay.lines where transaction_id = ${disputedId.lost} and won is not null`
    expect(decisions, 'decided when it was due').toEqual([{ balance: 0, created: new Date('2019-07-20T00:00:00.000Z') }])
    const [given] = everything().disputes
    expect(await get(`/disputes/${disputeId.open}`)).toEqual({ dispute: given })
  })

  test('finds out what a card was saved from', async () => {
    const [given] = everything().cards
    expect(await get('/cards/5d18a50000000000000000c1')).toEqual({ card: { ...given, deleted: null } })
    const [fraud] = everything().frauds
    expect(await get('/frauds/5d18a50000000000000000f1')).toEqual({ fraud })
  })

  test('moves on from where the file ends: what was seeded can be captured and refunded', async () => {
    const headers = { authorization: basic(shop.key) }
    const captured = await service.call(`POST /transactions/${computedId}/captures`, { headers, json: { amount: 300 } })
    expect(captured.status, captured.text).toBe(201)
    const refunded = await service.call(`POST /transactions/${computedId}/refunds`, { headers, json: { amount: 700 } })
    expect(refunded.status, refunded.text).toBe(201)
    expect((await verify(service.app.db, service.now())).breaches).toEqual([])
  })
})

test('a file may speak of what is there already, and lines of the past are in the sums again', async () => {
  const started = await own()
  const { app, now } = started
  await seed(app, everything())
  await app.db`
    insert into pay.line_sums (merchant_id, through, lines, balance)
    select merchant_id, max(created), count(*), sum(balance) from pay.lines where merchant_id = ${merchantId} group by merchant_id`
  const [first] = everything().transactions as [ReturnType<typeof everything>['transactions'][number]]
  const more = { ...first, id: '5d18a3000000000000000099' }
  const fraud = { ...everything().frauds[0], id: '5d18a50000000000000000f2' }
  expect(await seed(app, { transactions: [more], frauds: [fraud] })).toMatchObject({ transactions: 1, lines: 2, frauds: 1 })
  expect((await verify(app.db, now())).breaches).toEqual([])
})

test('a merchant that was made here can be given a past', async () => {
  const started = await own()
  const { app, now } = started
  const { id } = await plantMerchant(started, { currency: 'EUR' })
  const [first] = everything().transactions as [ReturnType<typeof everything>['transactions'][number]]
  await seed(app, { transactions: [{ ...first, merchantId: id }] })
  expect(await app.db`select balance, fee from pay.lines order by id`).toEqual([
    { balance: 560, fee: 40 },
    { balance: -195, fee: -5 },
  ])
  expect((await verify(app.db, now())).breaches).toEqual([])
})

test('five thousand transactions of one moment are loaded in some seconds, and their lines have ids of their own', async () => {
  const { app, now } = await own()
  const { apps, merchants } = everything()
  const [first] = everything().transactions as [ReturnType<typeof everything>['transactions'][number]]
  const transactions = Array.from({ length: 5000 }, (_, index) => ({
    ...first,
    id: `5d18a3000000${index.toString(16).padStart(12, '0')}`,
  }))
  expect(await seed(app, { apps, merchants, transactions })).toMatchObject({ transactions: 5000, lines: 10_000 })
  expect(await verify(app.db, now())).toMatchObject({ breachCount: 0, counts: { lines: 10_000, simulatorOperations: 20_000 } })
}, 60_000)

test('all of a file is loaded or nothing, and a key that is taken is told', async () => {
  await seed(service.app, { apps: [shop] })
  const other = { ...shop, id: '5d18a2ea0000000000000002', key: '4f1f3c8e-7d1c-4a2b-9c3d-000000000002' }
  const thief = { ...shop, id: '5d18a2ea0000000000000003' }
  await expect(seed(service.app, { apps: [other, thief] })).rejects.toThrow(
    new SeedProblem(
      'The seed file is not as it should be:\n  - apps.1: app 5d18a2ea0000000000000003 has the same key as app 5d18a2ea0000000000000001',
    ),
  )
  expect(await service.app.db`select id from pay.apps where id = ${other.id}`).toEqual([])
})

test.each([
  ['no object', [], 'the file'],
  ['an id of another kind', { apps: [{ ...shop, id: 'abc' }] }, 'apps.0.id'],
  ['a key that is no UUID', { apps: [{ ...shop, key: 'abc' }] }, 'apps.0.key'],
  ['no date', { apps: [{ ...shop, created: undefined }] }, 'apps.0.created'],
  ['a day that does not exist', { apps: [{ ...shop, created: '2019-02-31T00:00:00Z' }] }, 'apps.0.created'],
  ['an hour that does not exist', { apps: [{ ...shop, created: '2019-02-01T25:00:00Z' }] }, 'apps.0.created'],
])('a file with %s is refused, and the place is named', async (_, content, place) => {
  const problem = await seed(service.app, content).catch((thrown: unknown) => thrown)
  expect(problem).toBeInstanceOf(SeedProblem)
  expect(String(problem)).toMatch(new RegExp(`The seed file is not as it should be:\n {2}- ${place}:`))
})

type File = ReturnType<typeof everything>

/** Gives the thing at a dotted path other values. */
function set(file: File, path: string, values: Record<string, unknown>) {
  let thing: unknown = file
  for (const step of path.split('.')) thing = (thing as Record<string, unknown>)[step]
  Object.assign(thing as object, values)
}

test.each<[string, (file: File) => void, string]>([
  ['a float for an amount', (file) => set(file, 'transactions.0', { amount: 10.5 }), 'transactions.0.amount: '],
  ['a currency that does not exist', (file) => set(file, 'transactions.0', { currency: 'XXX' }), 'transactions.0.currency: '],
  [
    'an unknown merchant',
    (file) => set(file, 'transactions.0', { merchantId: '5d18a2eb00000000000000ff' }),
    'transactions.0: merchant 5d18a2eb00000000000000ff is not known',
  ],
  [
    'an unknown app',
    (file) => set(file, 'merchants.0', { apps: ['5d18a2ea00000000000000ff'] }),
    'merchants.0: merchant 5d18a2eb00000000000000a1 has app 5d18a2ea00000000000000ff, which is not known',
  ],
  [
    'an id twice',
    (file) => set(file, 'transactions.1', { id: computedId }),
    `transactions.1: the id ${computedId} is there twice`,
  ],
  [
    'a key twice',
    (file) => set(file, 'merchants.1', { key: file.merchants[0]?.key }),
    `merchants.1: merchant ${liveId} has the same key as merchant ${merchantId}`,
  ],
  [
    'something of tomorrow',
    (file) => set(file, 'frauds.0', { created: '2099-01-01T00:00:00Z' }),
    'frauds.0: created is in the future',
  ],
  [
    'an entry of tomorrow',
    (file) => set(file, 'transactions.0.trail.2', { created: '2099-01-01T00:00:00Z' }),
    'transactions.0: trail.2: created is in the future',
  ],
  [
    'more captured than authorized',
    (file) => set(file, 'transactions.0.trail.0', { amount: 1001 }),
    'transactions.0: trail.0: a capture of 1001, but only 1000 is left of what was authorized',
  ],
  [
    'more refunded than captured',
    (file) => set(file, 'transactions.0.trail.1', { amount: 601 }),
    'transactions.0: trail.1: a refund of 601, but only 600 is left of what was captured',
  ],
  [
    'more voided than left',
    (file) => set(file, 'transactions.0.trail.2', { amount: 401 }),
    'transactions.0: trail.2: a void of 401, but only 400 is left of what was authorized',
  ],
  [
    'more disputed than captured',
    (file) => set(file, 'transactions.3.trail.1', { amount: 1001 }),
    'transactions.3: trail.1: a dispute about 1001, but only 1000 is left of what was captured to dispute',
  ],
  [
    'a trail out of order',
    (file) => set(file, 'transactions.0.trail.2', { created: '2019-06-30T12:19:00Z' }),
    'transactions.0: trail.2: it is older than what comes before it',
  ],
  [
    'an entry of two kinds',
    (file) => set(file, 'transactions.0.trail.0', { void: true }),
    'transactions.0: trail.0: it must be one of capture, refund, void and dispute',
  ],
  [
    'an amount that the trail does not come to',
    (file) => set(file, 'transactions.1', { refundedAmount: 332 }),
    'transactions.1: its refundedAmount is 332, but should be 333',
  ],
  [
    'a pending amount that is not left',
    (file) => set(file, 'transactions.1', { pendingAmount: 1 }),
    'transactions.1: its pendingAmount is 1, but should be 0',
  ],
  [
    'another test than the merchant',
    (file) => set(file, 'transactions.1', { test: true }),
    'transactions.1: its test is true, but should be false',
  ],
  [
    'an error nobody knows',
    (file) => set(file, 'transactions.2', { error: { code: 99 } }),
    'transactions.2: 99 is not the code of a processing error',
  ],
  [
    'a failure without an error',
    (file) => set(file, 'transactions.2', { error: false }),
    'transactions.2: it is not successful, but has no error',
  ],
  [
    'a success with an error',
    (file) => set(file, 'transactions.2', { successful: true }),
    'transactions.2: it is successful, but has error 7',
  ],
  [
    'a failure with a trail',
    (file) => set(file, 'transactions.2', { trail: [{ capture: true, amount: 1, created: '2019-07-01T00:00:00Z' }] }),
    'transactions.2: it was not successful, but has a trail',
  ],
  [
    'fees that do not add up',
    (file) => set(file, 'transactions.0.trail.0', { balance: 560, fee: { flat: 25, rate: 16 } }),
    'transactions.0: trail.0: its balance and fees make 601, but its amount is 600 of the same currency',
  ],
  [
    'a void that costs',
    (file) => set(file, 'transactions.0.trail.2', { balance: 5 }),
    'transactions.0: trail.2: a void moves no money',
  ],
  [
    'a void with a line',
    (file) => set(file, 'transactions.0.trail.2', { lineId: '5d18a40000000000000000ee' }),
    'transactions.0: trail.2: a void has no line',
  ],
  [
    'a line with another balance',
    (file) => set(file, 'lines.0', { balance: 3380 }),
    'transactions.1: trail.0: the balance of line 5d18a4000000000000000021 is 3380, but should be 3379',
  ],
  [
    'a line with another fee',
    (file) => set(file, 'lines.0', { fee: 284 }),
    'transactions.1: trail.0: the fee of line 5d18a4000000000000000021 is 284, but should be 283',
  ],
  [
    'a line of another kind',
    (file) => set(file, 'lines.0', { capture: false, refund: true }),
    'transactions.1: trail.0: the kind of line 5d18a4000000000000000021 is refund, but should be capture',
  ],
  [
    'a line of another amount',
    (file) => set(file, 'lines.0', { amount: { currency: 'EUR', amount: 499 } }),
    'transactions.1: trail.0: the amount of line 5d18a4000000000000000021 is 499, but should be 500',
  ],
  [
    'a line of another merchant',
    (file) => set(file, 'lines.0', { merchantId }),
    `transactions.1: trail.0: the merchantId of line 5d18a4000000000000000021 is ${merchantId}, but should be ${liveId}`,
  ],
  [
    'a line of two entries',
    (file) => set(file, 'transactions.1.trail.1', { lineId: '5d18a4000000000000000021' }),
    'transactions.1: line 5d18a4000000000000000021 belongs to something else already',
  ],
  [
    'a line that nothing made',
    (file) => set(file, 'transactions.1.trail.0', { lineId: undefined }),
    'lines.0: line 5d18a4000000000000000021 is no payout, and no trail of a new transaction names it',
  ],
  [
    'a decision with another balance',
    (file) => set(file, 'lines.1', { balance: 2499 }),
    'transactions.4: trail.1: the balance of line 5d18a4000000000000000025 is 2499, but should be 2500',
  ],
  [
    'a decision the other way round',
    (file) => set(file, 'lines.1', { won: false, lost: true }),
    'lines.1: line 5d18a4000000000000000025 is no payout',
  ],
  [
    'a decision before the dispute',
    (file) => set(file, 'disputes.2', { decided: '2019-07-02T08:00:00Z' }),
    `transactions.5: trail.1: dispute ${disputeId.lost} was decided before it was opened`,
  ],
  [
    'a dispute that was won and costs',
    (file) => set(file, 'transactions.4.trail.1', { balance: -2500 }),
    'transactions.4: trail.1: a dispute that was won costs nothing in the end, but it has a balance or a fee',
  ],
  [
    'a dispute won and lost',
    (file) => set(file, 'transactions.4.trail.1.dispute', { lost: true }),
    'transactions.4: trail.1: a dispute is won or lost, not both',
  ],
  [
    'a dispute that nobody tells of',
    (file) => void file.disputes.shift(),
    `transactions.3: trail.1: it is about dispute ${disputeId.open}, which the file does not tell of`,
  ],
  [
    'a dispute that no trail has',
    (file) => set(file, 'transactions.3', { trail: [] }),
    `disputes.0: no entry in the trail of a new transaction ${disputedId.open} is about dispute ${disputeId.open}`,
  ],
  [
    'a dispute about another amount',
    (file) => set(file, 'disputes.0', { amount: 999 }),
    `transactions.3: trail.1: the amount of dispute ${disputeId.open} is 999, but should be 1000`,
  ],
  [
    'a payout that brings money',
    (file) => set(file, 'lines.2', { balance: 700 }),
    'lines.2: its balance is 700, but a payout takes from the balance',
  ],
  ['a payout that costs', (file) => set(file, 'lines.2', { fee: 1 }), 'lines.2: its fee is 1, but should be 0'],
  [
    'two payouts a day',
    (file) => set(file, 'lines', { 3: { ...file.lines[2], id: '5d18a40000000000000000ab' } }),
    `lines.3: merchant ${merchantId} has another payout on 2019-07-12`,
  ],
  [
    'a payout to nowhere',
    (file) =>
      set(file, 'lines', {
        3: {
          id: '5d18a40000000000000000ab',
          merchantId: liveId,
          created: '2019-07-12T04:00:00.000Z',
          balance: -700,
          payout: true,
        },
      }),
    'lines.3: neither it nor its merchant has a bank.iban',
  ],
  [
    'a balance that is not that of the lines',
    (file) => set(file, 'merchants.0', { balance: 1 }),
    `merchants.0: the balance of merchant ${merchantId} is 1, but its lines add up to`,
  ],
  [
    'a fraud without a transaction',
    (file) => set(file, 'frauds.0', { transactionId: recordedId }),
    `frauds.0: merchant ${merchantId} has no transaction ${recordedId}`,
  ],
  [
    'a card that nobody paid with',
    (file) => set(file, 'cards.0', { last4: '9999' }),
    'cards.0: no transaction of its merchant was made with it',
  ],
  [
    'a card of another transaction',
    (file) => set(file, 'cards.0', { last4: '9999', transactionId: computedId }),
    `cards.0: transaction ${computedId} was made with another card`,
  ],
  [
    'no rate to exchange by',
    (file) => set(file, 'transactions.6', { currency: 'KPW' }),
    'transactions.6: trail.0: there is no rate from KPW to EUR to exchange it by; give its balance and fee',
  ],
])('a file with %s is refused in a sentence, and nothing of it is loaded', async (_, change, sentence) => {
  const file = everything()
  change(file)
  const { app } = empty
  const problem = await seed(app, JSON.parse(JSON.stringify(file))).catch((thrown: unknown) => thrown)
  expect(problem).toBeInstanceOf(SeedProblem)
  expect(String(problem)).toContain(`\n  - ${sentence}`)
  expect(await app.db`select from pay.apps`).toHaveLength(0)
  expect(await app.db`select from pay.merchants`).toHaveLength(0)
})

let empty: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  empty = await startPayments()
})
afterAll(() => empty.stop())

test('the balance of a merchant may be told, where all of its lines are', async () => {
  const { app } = await own()
  const file = everything()
  await seed(app, file)
  const [sum] = await app.db<{
    balance: number
  }>`select sum(balance)::bigint as balance from pay.lines where merchant_id = ${merchantId}`
  const other = await own()
  for (const merchant of file.merchants.slice(0, 1)) merchant.balance = sum?.balance
  expect(await seed(other.app, JSON.parse(JSON.stringify(file)))).toMatchObject({ merchants: 2 })
})

test('a line may have the id of a dispute: they are not the same thing', async () => {
  const { app } = await own()
  const file = everything()
  set(file, 'lines.2', { id: disputeId.open })
  expect(await seed(app, JSON.parse(JSON.stringify(file)))).toMatchObject({ lines: 15, disputes: 3 })
})

test('what is there under the same id with another merchant is refused', async () => {
  const { app } = await own()
  await seed(app, everything())
  const { transactions, cards } = everything()
  const content = { transactions: [{ ...transactions[0], merchantId: liveId }], cards: [{ ...cards[0], merchantId: liveId }] }
  const problem = String(await seed(app, content).catch((thrown: unknown) => thrown))
  expect(problem).toContain(`transactions.0: ${computedId} is there already, with merchant ${merchantId}`)
  expect(problem).toContain(`cards.0: ${cards[0]?.id} is there already, with merchant ${merchantId}`)
})

test('two files that are loaded at once are loaded one after the other', async () => {
  const { app } = await own()
  const loaded = await Promise.all([seed(app, everything()), seed(app, everything())])
  expect(loaded.map(({ transactions }) => transactions).toSorted()).toEqual([0, 8])
})

test('of a thousand mistakes the first are told, and how many more there are', async () => {
  const frauds = Array.from({ length: 30 }, (_, index) => ({
    ...everything().frauds[0],
    id: `5d18a500000000000000${(index + 4096).toString(16)}`,
    transactionId: recordedId,
  }))
  const problem = String(await seed(empty.app, { frauds }).catch((thrown: unknown) => thrown))
  expect(problem.split('\n')).toHaveLength(22)
  expect(problem).toContain('\n  - and 10 more')
})

test('nothing is loaded in production', async () => {
  const { app } = await own({ PAY_ENV: 'production' })
  await expect(seed(app, { apps: [shop] })).rejects.toThrow(/PAY_ENV is production/)
})
