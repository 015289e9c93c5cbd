import { Unavailable } from '@tollgate/kit/failure'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Acquirer, Mishap, MoveAsk, Outcome } from '../acquirers/acquirer.ts'
import { findTransaction } from '../store/transactions.ts'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { createFinisher } from './finish-pending.ts'
import { finishMovement, moveMoney } from './move-money.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Told = { transaction: Record<string, unknown> & { trail: Record<string, unknown>[] } }

async function arrange(acquirer: { capture?: Mishap; refund?: Mishap; void?: Mishap; latency?: number } | undefined) {
  const merchant = await plantMerchant(service)
  const id = await plantTransaction(service, { merchantId: merchant.id, ...(acquirer ? { simulation: { acquirer } } : {}) })
  const headers = { authorization: merchant.authorization, accept: 'application/json' }
  const move = (what: string, amount: number, more: Record<string, string> = {}) =>
    service.call(`POST /transactions/${id}/${what}`, { headers: { ...headers, ...more }, json: { amount } })
  const read = async () => (await service.call(`GET /transactions/${id}`, { headers })).json<Told>().transaction
  const pots = async () => {
    const [row] = await service.app.db<{ capturable: number; refundable: number }>`
      select capturable, refundable from pay.transactions where id = ${id}`
    return row
  }
  const finish = createFinisher(service.app, { after: 1 })
  return { merchant, id, move, read, pots, finish, headers }
}

test.each(['lost', 'unanswered', 'late'] as const)(
  'a capture whose answer is %s is held, told as unknown, and found out later',
  async (mishap) => {
    const { id, move, read, pots, finish } = await arrange({ capture: mishap })
    const answer = await move('captures', 400, { 'idempotency-key': `k-${mishap}` })
    expect(answer.status).toBe(504)
    expect(answer.json()).toMatchObject({ code: 'outcome_unknown', transactionId: id })
    // Nothing of it is told, but nobody else can take it.
    expect(await read()).toMatchObject({ capturedAmount: 0, pendingAmount: 1000, trail: [] })
    expect(await pots()).toEqual({ capturable: 600, refundable: 0 })
    expect((await move('captures', 601)).json()).toEqual([{ field: 'amount', message: 'Can capture at most EUR 6' }])
    expect((await move('captures', 400, { 'idempotency-key': `k-${mishap}` })).status).toBe(409)

    service.now.advance(600)
    await finish()
    expect(await read()).toMatchObject({ capturedAmount: 400, pendingAmount: 600 })
    expect(await pots()).toEqual({ capturable: 600, refundable: 400 })
    const again = await move('captures', 400, { 'idempotency-key': `k-${mishap}` })
    expect([again.status, again.json<Told>().transaction.capturedAmount]).toEqual([201, 400])
  },
)

test('what the acquirer declines goes back into its pot, and a key tells it again', async () => {
  const { move, read, pots } = await arrange({ capture: 'declined' })
  const answer = await move('captures', 400, { 'idempotency-key': 'no' })
  expect([answer.status, answer.json()]).toEqual([400, expect.objectContaining({ code: 8, text: 'Declined by cardholder bank' })])
  expect(await read()).toMatchObject({ capturedAmount: 0, pendingAmount: 1000, trail: [] })
  expect(await pots()).toEqual({ capturable: 1000, refundable: 0 })
  expect((await move('captures', 400, { 'idempotency-key': 'no' })).text).toBe(answer.text)
})

test('what somebody else settles between the two statements of an answer is not in it, as it is not when it is told again', async () => {
  const { merchant, id, move } = await arrange({ latency: 1 })
  const { app } = service
  const found = await findTransaction(app.db, merchant.id, id)
  if (!found) throw new Error('the transaction is gone')
  let others = 0
  const overtaken = (async (template: TemplateStringsArray, ...values: unknown[]) => {
    const rows = await (app.db as (...all: unknown[]) => Promise<unknown>)(template, ...values)
    if (template.join('').includes('update pay.trail') && others++ === 0) expect((await move('captures', 300)).status).toBe(201)
    return rows
  }) as unknown as typeof app.db
  const db = Object.assign(overtaken, { begin: app.db.begin, close: app.db.close })
  const told = await moveMoney({ ...app, db }, { kind: 'capture', found, amount: 100, descriptor: undefined, claim: undefined })
  expect(others).toBe(1)
  expect([told.captured, told.trail.map(({ amount }) => amount)]).toEqual([100, [100]])
})

test('what the acquirer told is written down once the database is back', async () => {
  const { merchant, id, read } = await arrange({ latency: 1 })
  const { app } = service
  const found = await findTransaction(app.db, merchant.id, id)
  if (!found) throw new Error('the transaction is gone')
  let outages = 0
  const shaky = (async (template: TemplateStringsArray, ...values: unknown[]) => {
    if (template.join('').includes('update pay.trail') && outages++ < 2) throw new Unavailable('the database does not answer')
    return (app.db as (...all: unknown[]) => Promise<unknown>)(template, ...values)
  }) as unknown as typeof app.db
  const db = Object.assign(shaky, { begin: app.db.begin, close: app.db.close })
  await moveMoney({ ...app, db }, { kind: 'capture', found, amount: 100, descriptor: undefined, claim: undefined })
  expect(outages).toBe(3)
  expect(await read()).toMatchObject({ capturedAmount: 100 })
})

test('a key tells what was settled before it, whatever the clocks of those who settled it said', async () => {
  const { merchant, id, move } = await arrange({ capture: 'unanswered' })
  const { app } = service
  const capture = (amount: number) => move('captures', amount, { 'idempotency-key': `capture-${amount}` })
  const finish = async (amount: number) => {
    const [entry] = await app.db<{ id: string }>`select id from pay.trail where transaction_id = ${id} and amount = ${amount}`
    await finishMovement(app, merchant.id, id, entry?.id ?? '')
  }
  await capture(100)
  await capture(300)
  service.now.advance(600)
  await finish(300)
  const told = await capture(300)
  expect([told.status, told.json<Told>().transaction.capturedAmount]).toEqual([201, 300])
  service.now.advance(-60)
  await finish(100)
  expect((await capture(300)).text).toBe(told.text)
  expect((await capture(100)).json<Told>().transaction.capturedAmount).toBe(400)
})

test('a refund in three strokes comes to the same as one at once', async () => {
  const [slow, quick] = [await arrange({ refund: 'unanswered' }), await arrange(undefined)]
  for (const { move } of [slow, quick]) await move('captures', 999)
  for (const { move, finish } of [slow, quick])
    for (const amount of [333, 333, 333]) {
      await move('refunds', amount)
      service.now.advance(600)
      await finish()
    }
  const [one, other] = [await slow.read(), await quick.read()]
  const plain = ({ trail }: typeof one) => trail.map(({ fee, amount, balance }) => ({ fee, amount, balance }))
  expect(plain(one)).toEqual(plain(other))
})

test('a refund that is declined leaves no trace in what later refunds take along', async () => {
  const { move, id } = await arrange({ refund: 'declined' })
  await move('captures', 1000)
  expect((await move('refunds', 300)).status).toBe(400)
  expect(
    await service.app
      .db`select refundable, refunded, returned, returned_gross, returned_rate_fee from pay.transactions where id = ${id}`,
  ).toEqual([{ refundable: 1000, refunded: 0, returned: 0, returned_gross: 0, returned_rate_fee: 0 }])
})

test('several who finish the same thing at once do it once', async () => {
  const { id, merchant, move, read } = await arrange({ capture: 'unanswered' })
  await move('captures', 400)
  const [entry] = await service.app.db<{ id: string }>`select id from pay.trail where transaction_id = ${id}`
  service.now.advance(600)
  await Promise.all(Array.from({ length: 10 }, () => finishMovement(service.app, merchant.id, id, entry?.id ?? '')))
  expect(await read()).toMatchObject({ capturedAmount: 400 })
  expect(await service.app.db`select from pay.lines where transaction_id = ${id}`).toHaveLength(1)
})

test.each(['before it asks', 'after it asked'])(
  'a process that dies %s leaves a capture that somebody else finishes',
  async (moment) => {
    const { id, merchant, read, pots, finish } = await arrange(undefined)
    const { simulator } = service.app.acquirers
    const dying: Acquirer = {
      name: simulator.name,
      authorize: simulator.authorize,
      async move(ask: MoveAsk): Promise<Outcome> {
        if (moment === 'after it asked') await simulator.move(ask)
        throw new Error('killed')
      },
    }
    const found = await findTransaction(service.app.db, merchant.id, id)
    if (!found) throw new Error('not planted')
    const app = { ...service.app, acquirers: { simulator: dying, live: undefined } }
    const move = { kind: 'capture' as const, found, amount: 400, descriptor: undefined, claim: undefined }
    await expect(moveMoney(app, move)).rejects.toThrow('killed')
    expect(await pots()).toEqual({ capturable: 600, refundable: 0 })
    service.now.advance(600)
    await finish()
    expect(await read()).toMatchObject({ capturedAmount: 400, pendingAmount: 600 })
    const [sums] = await service.app.db<{ sum: string }>`
    select sum(amount) from pay.simulator_operations where authorization_reference = ${id} and kind = 'capture' and approved`
    expect(Number(sums?.sum)).toBe(400)
  },
)

test('an acquirer that stays silent is asked less and less often', async () => {
  const { id, move, merchant } = await arrange({ capture: 'unanswered' })
  await move('captures', 400)
  let asked = 0
  const silent: Acquirer = {
    name: 'simulator',
    authorize: async () => ({ kind: 'unknown', reason: 'silent' }),
    async move() {
      asked++
      return { kind: 'unknown', reason: 'silent' }
    },
  }
  const app = { ...service.app, acquirers: { simulator: silent, live: undefined } }
  const finish = createFinisher(app, { after: 1 })
  for (let second = 0; second < 600; second++) {
    service.now.advance(1)
    await finish()
  }
  expect(asked).toBeGreaterThan(5)
  expect(asked).toBeLessThan(13)
  await finishMovement(service.app, merchant.id, id, await entryOf(id))
})

const largest = Number.MAX_SAFE_INTEGER

/** A merchant to whom about as much as a number holds was paid, any number of times. */
async function arrangeGigantic() {
  const merchant = await plantMerchant(service)
  const headers = { authorization: merchant.authorization, accept: 'application/json' }
  const pay = (amount = largest) => plantTransaction(service, { merchantId: merchant.id, amount })
  const move = (id: string, what: string, amount = largest) =>
    service.call(`POST /transactions/${id}/${what}`, { headers, json: { amount } })
  const dispute = (transactionId: string) =>
    service.call(`POST /merchants/${merchant.id}/simulator/disputes`, { headers, json: { transactionId } })
  const balance = async () => {
    const told = (await service.call(`GET /merchants/${merchant.id}`, { headers })).json<{ merchant: { balance: number } }>()
    const alone = (await service.call(`GET /merchants/${merchant.id}/balance`, { headers })).json<{
      balance: { amount: number }
    }>()
    expect(alone.balance.amount).toBe(told.merchant.balance)
    return told.merchant.balance
  }
  return { merchant, pay, move, dispute, balance }
}

test('a capture that would make the balance more than can be told is refused', async () => {
  const { pay, move, balance } = await arrangeGigantic()
  const [one, other] = [await pay(), await pay()]
  expect((await move(one, 'captures')).status).toBe(201)
  const before = await balance()
  expect((await move(other, 'captures')).json()).toEqual([{ field: 'amount', message: expect.stringContaining('balance') }])
  expect(await balance()).toBe(before)
  expect((await move(one, 'refunds')).status).toBe(201)
  expect((await move(other, 'captures')).status).toBe(201)
})

test('what a merchant owes beyond what can be told is told as that, and the books have all of it', async () => {
  const { merchant, pay, move, dispute, balance } = await arrangeGigantic()
  const half = 2 ** 52 - 1
  for (const id of [await pay(half), await pay(half), await pay(half)]) {
    expect((await move(id, 'captures', half)).status).toBe(201)
    expect((await move(id, 'refunds', half)).status).toBe(201)
    expect((await dispute(id)).status).toBe(201)
  }
  expect(await balance()).toBe(-largest)
  const [books] = await service.app.db<{ lines: string; postings: string }>`
    select (select sum(balance) from pay.lines where merchant_id = ${merchant.id})::text as lines,
      (select -sum(amount) from pay.ledger where merchant_id = ${merchant.id} and account = 'merchant')::text as postings`
  expect(books?.lines).toBe(books?.postings)
  expect(BigInt(books?.lines ?? 0)).toBeLessThan(-3n * BigInt(half))
})

test('a dispute about as much as a number holds has no room for its fee, and none for what was refunded', async () => {
  const { pay, move, dispute, balance } = await arrangeGigantic()
  const [one, other] = [await pay(), await pay()]
  await move(one, 'captures')
  const before = await balance()
  expect((await dispute(one)).status).toBe(201)
  expect(await balance()).toBe(before - largest)
  await move(other, 'captures')
  await move(other, 'refunds', 10)
  expect((await dispute(other)).json()).toEqual([{ field: 'amount', message: expect.stringContaining('refunded') }])
})

async function entryOf(transactionId: string): Promise<string> {
  const [entry] = await service.app.db<{ id: string }>`select id from pay.trail where transaction_id = ${transactionId}`
  return entry?.id ?? ''
}
