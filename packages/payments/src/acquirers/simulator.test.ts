import { type Db, openDb } from '@tollgate/kit/db'
import { createIds, randomTag } from '@tollgate/kit/id'
import { gate, keptLog, scratchDatabase, stillClock } from '@tollgate/kit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Acquirer, AuthorizeAsk, MoveAsk, Outcome, Simulation } from './acquirer.ts'
import { createSimulator } from './simulator.ts'

const now = stillClock()
const mint = createIds(now)
const merchantId = mint(randomTag())
const { log, lines } = keptLog()
let db: Db
let simulator: Acquirer
let drop: () => Promise<void>

beforeAll(async () => {
  const database = await scratchDatabase('template_payments')
  drop = database.drop
  db = openDb({ url: database.url, schema: { written: 'pay', actual: 'pay' }, name: 'test' })
  simulator = createSimulator({ db, now, log, wait: () => Promise.reject(new Error('nobody asked for latency')) })
})
afterAll(async () => {
  await db.close()
  await drop()
})

function payment(change: Partial<AuthorizeAsk> = {}): AuthorizeAsk {
  return {
    reference: mint('0000'),
    again: false,
    merchantId,
    currency: 'EUR',
    amount: 1000,
    descriptor: 'Shop',
    card: { bin: '410000', last4: '0000', expiry: new Date('2066-08-31T23:59:59.999Z'), scheme: 'visa', codePresent: true },
    previous: undefined,
    simulation: undefined,
    ...change,
  }
}

function move(kind: MoveAsk['kind'], of: AuthorizeAsk, amount: number, simulation?: Simulation): MoveAsk {
  return {
    reference: mint('0000'),
    again: false,
    merchantId: of.merchantId,
    currency: of.currency,
    amount,
    kind,
    descriptor: undefined,
    authorization: { reference: of.reference, acquirerReference: of.reference, amount: of.amount },
    endsAuthorization: false,
    simulation,
  }
}

/** A payment that the simulator has approved. */
async function approved(change: Partial<AuthorizeAsk> = {}): Promise<AuthorizeAsk> {
  const ask = payment(change)
  expect(await simulator.authorize(ask)).toEqual(yes(ask))
  return ask
}

const yes = ({ reference }: { reference: string }): Outcome => ({ kind: 'approved', acquirerReference: reference })
const no = (code: number) => ({ kind: 'declined', code })

const recordOf = (ask: { reference: string }) => db`
  select authorization_reference, kind, amount, currency, approved, code, created from pay.simulator_operations
  where merchant_id = ${merchantId} and reference = ${ask.reference}`

describe('its record', () => {
  test('has every operation with its answer', async () => {
    const first = await approved()
    const capture = move('capture', first, 300)
    await simulator.move(capture)
    const declined = payment({ card: { ...first.card, last4: '0007' } })
    expect(await simulator.authorize(declined)).toEqual(no(7))
    const common = { currency: 'EUR', created: now() }
    expect(await recordOf(first)).toEqual([
      { ...common, authorization_reference: first.reference, kind: 'authorize', amount: 1000, approved: true, code: null },
    ])
    expect(await recordOf(capture)).toEqual([
      { ...common, authorization_reference: first.reference, kind: 'capture', amount: 300, approved: true, code: null },
    ])
    expect(await recordOf(declined)).toEqual([
      { ...common, authorization_reference: declined.reference, kind: 'authorize', amount: 1000, approved: false, code: 7 },
    ])
  })

  test('gives the first answer to whoever asks again, also when it would now be another', async () => {
    const first = await approved()
    const [whole, more] = [move('capture', first, 1000), move('capture', first, 1)]
    expect(await simulator.move(whole)).toEqual(yes(whole))
    expect(await simulator.move(more)).toEqual(no(12))
    expect(await simulator.move({ ...whole, again: true })).toEqual(yes(whole))
    expect(await simulator.move({ ...more, again: true })).toEqual(no(12))
    expect(await simulator.authorize({ ...first, card: { ...first.card, expiry: new Date(0) } })).toEqual(yes(first))
  })

  test('holds one answer for fifty who ask the same thing at once', async () => {
    const first = await approved({ amount: 300 })
    const capture = move('capture', first, 300)
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => simulator.move(capture)))
    expect(outcomes).toEqual(outcomes.map(() => yes(capture)))
    expect(await recordOf(capture)).toHaveLength(1)
  })

  test('does not take one reference for two things', async () => {
    const first = await approved()
    expect(await simulator.authorize({ ...first, amount: 999 })).toEqual(no(12))
    expect(await simulator.authorize({ ...first, currency: 'DKK' })).toEqual(no(12))
    expect(await simulator.move({ ...move('capture', first, 1000), reference: first.reference })).toEqual(no(12))
    expect(await recordOf(first)).toMatchObject([{ kind: 'authorize', amount: 1000, approved: true }])
    expect(lines.at(-1)).toMatchObject({ level: 'error', reference: first.reference })
  })

  test('keeps merchants apart', async () => {
    const first = await approved()
    const stranger = { ...move('capture', first, 1), merchantId: mint(randomTag()) }
    expect(await simulator.move(stranger)).toEqual(no(12))
  })
})

describe('its books', () => {
  test('ten captures of 300 at once on 1000: three pass, seven are declined', async () => {
    const first = await approved()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => simulator.move(move('capture', first, 300))))
    expect(outcomes.filter(({ kind }) => kind === 'approved')).toHaveLength(3)
    expect(outcomes.filter((outcome) => outcome.kind === 'declined' && outcome.code === 12)).toHaveLength(7)
  })

  test('nothing can be moved of what was declined, is unknown, or is no authorization', async () => {
    const declined = payment({ simulation: { card: { status: 'lost' } } })
    await simulator.authorize(declined)
    expect(await simulator.move(move('capture', declined, 1))).toEqual(no(12))
    expect(await simulator.move(move('void', payment(), 1))).toEqual(no(12))
    const first = await approved()
    const capture = move('capture', first, 500)
    await simulator.move(capture)
    expect(await simulator.move(move('refund', { ...first, reference: capture.reference }, 1))).toEqual(no(12))
  })

  test('whatever is asked, in whatever order, how often and how much at once, no more moves than there is', async () => {
    const step = fc.record({
      kind: fc.constantFrom('capture' as const, 'refund' as const, 'void' as const),
      amount: fc.integer({ min: 1, max: 60 }),
      mishap: fc.constantFrom(undefined, 'lost' as const, 'unanswered' as const, 'late' as const, 'declined' as const),
      times: fc.integer({ min: 1, max: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 4 }), async (batches) => {
        const first = await approved({ amount: 100 })
        const told = { capture: 0, refund: 0, void: 0 }
        for (const batch of batches) {
          const asks = batch.map(({ kind, amount, mishap }) =>
            move(kind, first, amount, mishap && { acquirer: { [kind]: mishap } }),
          )
          await Promise.all(
            batch.flatMap(({ times }, index) =>
              Array.from({ length: times }, (_, time) => simulator.move({ ...(asks[index] as MoveAsk), again: time > 0 })),
            ),
          )
          now.advance(5)
          const outcomes = await Promise.all(asks.map((ask) => simulator.move({ ...ask, again: true })))
          for (const [index, { kind, amount, mishap }] of batch.entries()) {
            // After five seconds everything that was asked for can be found out.
            const outcome = outcomes[index] as Outcome
            if (outcome.kind === 'approved') told[kind] += amount
            else expect(outcome).toEqual(no(mishap === 'declined' ? 8 : 12))
          }
          expect(told.capture + told.void).toBeLessThanOrEqual(100)
          expect(told.refund).toBeLessThanOrEqual(told.capture)
        }
        const [recorded] = await db`
          select coalesce(sum(amount) filter (where kind = 'capture'), 0)::bigint as capture,
            coalesce(sum(amount) filter (where kind = 'refund'), 0)::bigint as refund,
            coalesce(sum(amount) filter (where kind = 'void'), 0)::bigint as void
          from pay.simulator_operations
          where merchant_id = ${merchantId} and authorization_reference = ${first.reference} and approved`
        expect(recorded).toEqual(told)
      }),
      { numRuns: 40 },
    )
  })
})

describe('mishaps', () => {
  const unknown = { kind: 'unknown' }

  test('what is lost leaves no record, and is done when it is asked for again', async () => {
    const ask = payment({ simulation: { acquirer: { authorize: 'lost' } } })
    expect(await simulator.authorize(ask)).toMatchObject(unknown)
    expect(await recordOf(ask)).toEqual([])
    expect(await simulator.authorize({ ...ask, again: true })).toEqual(yes(ask))
    expect(await recordOf(ask)).toMatchObject([{ approved: true }])
  })

  test('what is unanswered is done, and is answered when it is asked about again', async () => {
    const first = await approved()
    const ask = move('capture', first, 1000, { acquirer: { capture: 'unanswered' } })
    expect(await simulator.move(ask)).toMatchObject(unknown)
    expect(await recordOf(ask)).toMatchObject([{ approved: true, amount: 1000 }])
    expect(await simulator.move(move('void', first, 1))).toEqual(no(12))
    expect(await simulator.move({ ...ask, again: true })).toEqual(yes(ask))
  })

  test('what is unanswered may have been declined', async () => {
    const ask = payment({ simulation: { acquirer: { authorize: 'unanswered' }, card: { status: 'expired' } } })
    expect(await simulator.authorize(ask)).toMatchObject(unknown)
    expect(await simulator.authorize({ ...ask, again: true })).toEqual(no(6))
  })

  test('what is late is not done for five seconds, however often it is asked about', async () => {
    const first = await approved()
    const ask = move('capture', first, 1000, { acquirer: { capture: 'late' } })
    expect(await simulator.move(ask)).toMatchObject(unknown)
    now.advance(4.999)
    expect(await simulator.move({ ...ask, again: true })).toMatchObject(unknown)
    expect(await recordOf(ask)).toMatchObject([{ approved: false, code: null }])
    now.advance(0.001)
    expect(await simulator.move({ ...ask, again: true })).toEqual(yes(ask))
    expect(await recordOf(ask)).toMatchObject([{ approved: true, created: now() }])
  })

  test('what is late holds nothing, so that it may come too late', async () => {
    const first = await approved()
    const late = move('capture', first, 600, { acquirer: { capture: 'late' } })
    await simulator.move(late)
    const faster = move('void', first, 600)
    expect(await simulator.move(faster)).toEqual(yes(faster))
    now.advance(5)
    expect(await simulator.move({ ...late, again: true })).toEqual(no(12))
  })

  test('what is declined is declined by the bank, for good', async () => {
    const first = await approved()
    const ask = move('refund', first, 1, { acquirer: { refund: 'declined' } })
    expect(await simulator.move(ask)).toEqual(no(8))
    expect(await simulator.move({ ...ask, again: true })).toEqual(no(8))
  })

  test('every capture of a transaction meets the mishap, its void does not', async () => {
    const simulation: Simulation = { acquirer: { capture: 'lost' } }
    const first = await approved({ simulation })
    expect(await simulator.move(move('capture', first, 1, simulation))).toMatchObject(unknown)
    expect(await simulator.move(move('capture', first, 1, simulation))).toMatchObject(unknown)
    const cancel = move('void', first, 1, simulation)
    expect(await simulator.move(cancel)).toEqual(yes(cancel))
  })

  test('an answer takes as long as it is told to, and what it is about is done by then', async () => {
    const pause = gate<number>()
    const slow = createSimulator({ db, now, log, wait: pause.enter })
    const ask = payment({ simulation: { acquirer: { latency: 250 } } })
    const answer = slow.authorize(ask)
    expect(await pause.entered()).toBe(250)
    expect(await recordOf(ask)).toMatchObject([{ approved: true }])
    pause.leave(1, undefined)
    expect(await answer).toEqual(yes(ask))
  })

  test('a database that is gone makes the outcome unknown, and is told in the log', async () => {
    const closed = openDb({ url: 'postgres://127.0.0.1:1/none', schema: { written: 'pay', actual: 'pay' }, name: 'test' })
    const cut = createSimulator({ db: closed, now, log })
    expect(await cut.authorize(payment())).toEqual({ kind: 'unknown', reason: 'the simulator could not answer' })
    expect(lines.at(-1)).toMatchObject({ level: 'warn', message: 'the simulator could not answer' })
    await closed.close()
  })
})

describe('a balance', () => {
  const simulation: Simulation = { card: { balance: { currency: 'EUR', exponent: 2, value: 1000 } } }
  const next = (after: AuthorizeAsk, amount: number, change: Partial<AuthorizeAsk> = {}) =>
    payment({ amount, simulation, previous: { reference: after.reference, acquirerReference: after.reference }, ...change })

  test('is used up by the payments of a series', async () => {
    const first = await approved({ amount: 400, simulation })
    const second = next(first, 400)
    expect(await simulator.authorize(second)).toEqual(yes(second))
    expect(await simulator.authorize(next(first, 201))).toEqual(no(7))
    // The one before may itself be a later one of the series.
    expect(await simulator.authorize(next(second, 201))).toEqual(no(7))
    const third = next(second, 200)
    expect(await simulator.authorize(third)).toEqual(yes(third))
    expect(await simulator.authorize(next(first, 1))).toEqual(no(7))
  })

  test('gets back what is voided and refunded, of any payment of the series', async () => {
    const first = await approved({ amount: 500, simulation })
    const second = next(first, 500)
    await simulator.authorize(second)
    await simulator.move(move('void', first, 100))
    await simulator.move(move('capture', second, 500))
    await simulator.move(move('refund', second, 50))
    expect(await simulator.authorize(next(first, 151))).toEqual(no(7))
    const third = next(first, 150)
    expect(await simulator.authorize(third)).toEqual(yes(third))
  })

  test('belongs to one series: another with the same card has its own', async () => {
    await approved({ amount: 1000, simulation })
    await approved({ amount: 1000, simulation })
  })

  test('ten payments of 300 at once after one of 100 on 1000: three pass', async () => {
    const first = await approved({ amount: 100, simulation })
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => simulator.authorize(next(first, 300))))
    expect(outcomes.filter(({ kind }) => kind === 'approved')).toHaveLength(3)
    expect(outcomes.filter((outcome) => outcome.kind === 'declined' && outcome.code === 7)).toHaveLength(7)
  })

  test('is not known of a card whose first payment the simulator never approved', async () => {
    expect(await simulator.authorize(next(payment(), 1))).toEqual(no(12))
  })

  test('keeps its count when answers get lost', async () => {
    const first = await approved({ amount: 400, simulation })
    const unanswered = next(first, 600, { simulation: { ...simulation, acquirer: { authorize: 'unanswered' } } })
    expect(await simulator.authorize(unanswered)).toMatchObject({ kind: 'unknown' })
    expect(await simulator.authorize({ ...unanswered, again: true })).toEqual(yes(unanswered))
    expect(await simulator.authorize(next(first, 1))).toEqual(no(7))
  })
})

describe('at once', () => {
  const atOnce = (ask: AuthorizeAsk | MoveAsk) => simulator.atOnce?.(ask)

  test('is decided what nothing stands in the way of, without any record', async () => {
    const ask = payment()
    expect(atOnce(ask)).toEqual(yes(ask))
    expect(atOnce(payment({ simulation: { card: { status: 'lost' } } }))).toEqual(no(10))
    expect(atOnce(payment({ card: { ...ask.card, expiry: new Date(now().getTime() - 1) } }))).toEqual(no(6))
    const capture = move('capture', ask, 1, { card: { status: 'lost' }, acquirer: { refund: 'lost', latency: 0 } })
    expect(atOnce(capture)).toEqual(yes(capture))
    expect(await recordOf(ask)).toEqual([])
  })

  test.each<[string, Simulation]>([
    ['a mishap', { acquirer: { authorize: 'unanswered' } }],
    ['a decline that the bank is to give', { acquirer: { authorize: 'declined' } }],
    ['latency', { acquirer: { latency: 1 } }],
    ['a balance', { card: { balance: { currency: 'EUR', exponent: 2, value: 1 } } }],
  ])('is not decided what meets %s', (_, simulation) => {
    expect(atOnce(payment({ simulation }))).toBeUndefined()
  })

  test('a movement is not held up by a balance, for it takes nothing from it', () => {
    const capture = move('capture', payment(), 1, { card: { balance: { currency: 'EUR', exponent: 2, value: 0 } } })
    expect(atOnce(capture)).toEqual(yes(capture))
  })

  test('and asked for says the same', async () => {
    for (const [last4, amount] of [
      ['0000', 1000],
      ['0007', 1000],
      ['0031', 5],
      ['0012', 40413],
    ] as const) {
      const ask = payment({ amount, card: { ...payment().card, last4 } })
      expect(await simulator.authorize(ask)).toEqual(atOnce(ask))
    }
  })
})
