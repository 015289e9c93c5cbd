import { gate, type TestedService } from '@tollgate/kit/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Simulation } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import type { Plan } from '../rules/plan-shape.ts'
import { insertAgreement } from '../store/agreements.ts'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { createLife, mortalDb } from './crashing.ts'
import { editMerchant } from './edit-merchant.ts'
import { createFinisher } from './finish-pending.ts'
import { recordPlan } from './record-plan.ts'
import { runPlans } from './run-plans.ts'
import { verify } from './verify.ts'

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())
// What one test leaves is not due in the next.
afterEach(
  () => service.app.db`update pay.plans set state = 'stopped', reason = 'asked', ended = ${service.now()} where state = 'active'`,
)

const day = 86_400
const amount = { currency: 'EUR', exponent: 2, value: 995 }
const monthly = { unit: 'month' } as const

type Setting = 'record' | 'authorize' | 'capture'

async function executing(plans: Setting = 'capture', given: Parameters<typeof plantMerchant>[1] = {}) {
  const merchant = await plantMerchant(service, given)
  await editMerchant(service.app, merchant.id, { terms: { plans }, price: {} })
  return merchant
}

/** A payment of a customer that a plan was agreed to with. */
async function agree(merchantId: string, plan: Plan, simulation?: Simulation): Promise<string> {
  const transactionId = await plantTransaction(service, { merchantId, ...(simulation && { simulation }) })
  const now = service.now()
  const agreement = { merchantId, transactionId, created: now, plan, unplannedMerchant: false, unplannedCustomer: false }
  await service.app.db.begin(async (tx) => {
    await insertAgreement(tx, { ...agreement, card: Buffer.from('a card that the simulator does without') })
    await recordPlan(tx, { merchantId, transactionId, plan, now })
  })
  return transactionId
}

function inDays(days: number): Date {
  return new Date(service.now().getTime() + days * day * 1000)
}

function advanceTo(moment: Date) {
  service.now.advance((moment.getTime() - service.now().getTime()) / 1000)
}

type Charge = { id: string; created: Date; amount: number; state: string; code: number | null; captured: number }

/** What was charged for a plan, oldest first. */
async function chargesOf(sourceId: string): Promise<Charge[]> {
  return await service.app.db<Charge>`
    select id, created, amount, state, error_code as code, captured from pay.transactions where source_id = ${sourceId} order by id`
}

async function standing(transactionId: string) {
  const [row] = await service.app.db`
    select state, reason, component, occurrence, due, tries, try_at as "tryAt", made, missed, last_transaction_id as last, error_code as code
    from pay.plans where transaction_id = ${transactionId}`
  return row
}

/** How the simulator behaves towards a payment and all that are made from it. */
async function simulate(transactionId: string, simulation: Simulation) {
  await service.app.db`update pay.transactions set simulation = ${JSON.stringify(simulation)}::json where id = ${transactionId}`
}

describe('on time', () => {
  test('a payment is made when it is due and not before, from the first one, and captured', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, scheduled: inDays(1) }])
    await service.app.db`update pay.transactions set descriptor = 'Tea club', custom = '{"order":7}' where id = ${source}`
    service.now.advance(day - 1)
    await runPlans(service.app)
    expect(await chargesOf(source)).toEqual([])
    service.now.advance(1)
    expect(await runPlans(service.app)).toMatchObject({ paid: 1, finished: 1 })
    const [charge] = await chargesOf(source)
    expect(charge).toMatchObject({ amount: 995, state: 'approved', captured: 995, created: service.now() })
    expect(
      await service.app.db`
        select recurring, descriptor, custom, card_code_present, tds from pay.transactions where id = ${charge?.id ?? ''}`,
    ).toEqual([{ recurring: true, descriptor: 'Tea club', custom: { order: 7 }, card_code_present: false, tds: 'none' }])
    expect(await standing(source)).toMatchObject({ state: 'finished', made: 1, missed: 0, last: charge?.id, code: null })
    service.now.advance(30 * day)
    await runPlans(service.app)
    expect(await chargesOf(source)).toHaveLength(1)
  })

  test('where the merchant captures by itself, it is only reserved', async () => {
    const { id } = await executing('authorize')
    const source = await agree(id, [{ amount, scheduled: inDays(1) }])
    service.now.advance(day)
    await runPlans(service.app)
    expect(await chargesOf(source)).toMatchObject([{ state: 'approved', captured: 0 }])
  })

  test('what is due with the order itself is made at once, and finer amounts are rounded up', async () => {
    const { id } = await executing()
    const source = await agree(id, [
      { amount: { currency: 'EUR', exponent: 3, value: 1855 }, repeat: { count: 2, interval: monthly } },
    ])
    await runPlans(service.app)
    expect(await chargesOf(source)).toMatchObject([{ amount: 186 }])
    expect(await standing(source)).toMatchObject({ state: 'active', occurrence: 1, tries: 0 })
  })

  test('a year of months ends with the twelfth, each on its day and not a second before', async () => {
    const { id } = await executing()
    const first = new Date('2031-01-31T12:00:00Z')
    const source = await agree(id, [{ amount, repeat: { first, count: 12, interval: monthly } }])
    const days = '01-31 02-28 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31'.split(' ')
    for (const [before, day] of days.entries()) {
      const due = new Date(`2031-${day}T12:00:00Z`)
      advanceTo(new Date(due.getTime() - 1000))
      await runPlans(service.app)
      expect(await chargesOf(source), day).toHaveLength(before)
      advanceTo(due)
      await runPlans(service.app)
      expect((await chargesOf(source))[before], day).toMatchObject({ created: due, state: 'approved', captured: 995 })
    }
    expect(await standing(source)).toMatchObject({ state: 'finished', made: 12, missed: 0 })
  })

  test('a trial is followed by the whole price', async () => {
    const { id } = await executing()
    const source = await agree(id, [
      { amount: { ...amount, value: 100 }, repeat: { count: 2, interval: monthly } },
      { amount, repeat: { first: inDays(62), interval: monthly } },
    ])
    for (let month = 0; month < 4; month++) {
      await runPlans(service.app)
      service.now.advance(31 * day)
    }
    expect((await chargesOf(source)).map((charge) => charge.amount)).toEqual([100, 100, 995, 995])
  })
})

describe('who is left alone', () => {
  test('a merchant whose plans are only written down', async () => {
    const { id } = await executing('record')
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }])
    service.now.advance(100 * day)
    await runPlans(service.app)
    expect(await chargesOf(source)).toEqual([])
    expect(await standing(source)).toMatchObject({ state: 'active', occurrence: 0, missed: 0 })
  })

  test('who has plans executed from now on has the past left out, and the next one made', async () => {
    const { id } = await executing('record')
    const source = await agree(id, [{ amount, repeat: { interval: { unit: 'week' } } }])
    service.now.advance(24 * day)
    await editMerchant(service.app, id, { terms: { plans: 'capture' }, price: {} })
    expect(await runPlans(service.app)).toMatchObject({ paid: 0, missed: 4 })
    expect(await standing(source)).toMatchObject({ occurrence: 4, missed: 4, tryAt: inDays(4) })
    service.now.advance(4 * day)
    await runPlans(service.app)
    expect(await chargesOf(source)).toHaveLength(1)
  })

  test('a try from before plans were written down for a while is not made up for when they are executed again', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }], { card: { balance: { ...amount, value: 0 } } })
    await runPlans(service.app)
    expect(await standing(source)).toMatchObject({ tries: 1, code: 7 })
    await editMerchant(service.app, id, { terms: { plans: 'record' }, price: {} })
    service.now.advance(20 * day)
    await editMerchant(service.app, id, { terms: { plans: 'capture' }, price: {} })
    await runPlans(service.app)
    expect(await chargesOf(source)).toHaveLength(1)
    expect(await standing(source)).toMatchObject({ occurrence: 1, tries: 0, missed: 1 })
  })

  test('after an outage only the latest is made up for, and nobody is charged for all at once', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: { unit: 'week' } } }])
    service.now.advance(24 * day)
    expect(await runPlans(service.app)).toMatchObject({ paid: 1, missed: 3 })
    expect(await chargesOf(source)).toHaveLength(1)
    expect(await standing(source)).toMatchObject({ state: 'active', occurrence: 4, made: 1, missed: 3 })
  })

  test('a plan that came with a payment that failed charges nobody, and waits for one that has no answer yet', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }])
    const set = (state: string) => service.app.db`update pay.transactions set state = ${state} where id = ${source}`
    await set('pending')
    await runPlans(service.app)
    expect(await standing(source)).toMatchObject({ state: 'active', tries: 0 })
    service.now.advance(61)
    await set('declined')
    await runPlans(service.app)
    expect(await standing(source)).toMatchObject({ state: 'stopped', reason: 'payment_failed' })
    expect(await chargesOf(source)).toEqual([])
    await set('approved')
  })
})

describe('what is declined', () => {
  test('is tried again 1, 3 and 7 days after the first try, and goes on where it stood', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }])
    const began = service.now()
    await simulate(source, { card: { limit: { ...amount, value: 994 } } })
    for (const days of [0, 1, 3]) {
      advanceTo(new Date(began.getTime() + days * day * 1000 - 1))
      await runPlans(service.app)
      advanceTo(new Date(began.getTime() + days * day * 1000))
      await runPlans(service.app)
    }
    expect((await chargesOf(source)).map(({ state, code }) => [state, code])).toEqual(Array(3).fill(['declined', 25]))
    expect(await standing(source)).toMatchObject({ state: 'active', occurrence: 0, tries: 3, code: 25 })
    await simulate(source, {})
    advanceTo(new Date(began.getTime() + 7 * day * 1000))
    await runPlans(service.app)
    expect((await chargesOf(source)).at(-1)).toMatchObject({ state: 'approved', captured: 995 })
    expect(await standing(source)).toMatchObject({ state: 'active', occurrence: 1, tries: 0, made: 1, code: null })
  })

  test('four times is given up, and tells why', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }], { card: { balance: { ...amount, value: 0 } } })
    for (let each = 0; each < 40; each++) {
      await runPlans(service.app)
      service.now.advance(day)
    }
    expect(await chargesOf(source)).toHaveLength(4)
    expect(await standing(source)).toMatchObject({ state: 'stopped', reason: 'retries_exhausted', code: 7, made: 0 })
  })

  test.each([
    ['expired', 6],
    ['lost', 10],
    ['invalid', 3],
  ] as const)('as %s is not tried again', async (status, code) => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }], { card: { status } })
    expect(await runPlans(service.app)).toMatchObject({ declined: 1, stopped: 1 })
    service.now.advance(40 * day)
    await runPlans(service.app)
    expect(await chargesOf(source)).toHaveLength(1)
    expect(await standing(source)).toMatchObject({ state: 'stopped', reason: 'final_error', code })
  })

  test('keeps the next one waiting, which is then made once', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: { unit: 'week' } } }], {
      card: { balance: { ...amount, value: 0 } },
    })
    const began = service.now()
    for (const days of [0, 1, 3]) {
      advanceTo(new Date(began.getTime() + days * day * 1000))
      await runPlans(service.app)
    }
    await simulate(source, {})
    advanceTo(new Date(began.getTime() + 7 * day * 1000))
    await runPlans(service.app)
    const charges = await chargesOf(source)
    expect(charges.filter(({ state }) => state === 'approved')).toHaveLength(2)
    expect(await standing(source)).toMatchObject({ occurrence: 2, made: 2, missed: 0 })
  })

  test('before there is a payment is tried again like any other', async () => {
    const { id } = await executing()
    await editMerchant(service.app, id, { terms: { canChargeCard: false }, price: {} })
    const source = await agree(id, [{ amount, scheduled: service.now() }])
    await runPlans(service.app)
    expect(await standing(source)).toMatchObject({ state: 'active', tries: 1, code: 27, last: null, tryAt: inDays(1) })
    await editMerchant(service.app, id, { terms: { canChargeCard: true }, price: {} })
    service.now.advance(day)
    await runPlans(service.app)
    expect(await standing(source)).toMatchObject({ state: 'finished', made: 1 })
  })

  test('as a capture leaves the payment reserved, and is not charged again', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }], { acquirer: { capture: 'declined' } })
    await runPlans(service.app)
    expect(await chargesOf(source)).toMatchObject([{ state: 'approved', captured: 0 }])
    expect(await standing(source)).toMatchObject({ state: 'active', occurrence: 1, made: 1 })
  })
})

describe('what has no answer', () => {
  function finisher() {
    return createFinisher(service.app, { after: 1 })
  }

  test('is waited for, and gone on from when it turns out to be made', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }], { acquirer: { authorize: 'unanswered' } })
    expect(await runPlans(service.app)).toMatchObject({ pending: 1, paid: 0 })
    const [pending] = await chargesOf(source)
    expect(pending?.state).toBe('pending')
    expect(await standing(source)).toMatchObject({ state: 'active', occurrence: 0, tries: 0, last: pending?.id })
    service.now.advance(61)
    expect(await runPlans(service.app)).toMatchObject({ pending: 1, paid: 0 })
    expect(await chargesOf(source)).toHaveLength(1)
    await finisher()()
    service.now.advance(61)
    expect(await runPlans(service.app)).toMatchObject({ paid: 1 })
    expect(await chargesOf(source)).toMatchObject([{ state: 'approved', captured: 995 }])
    expect(await standing(source)).toMatchObject({ occurrence: 1, made: 1 })
  })

  test('and turns out to be declined is tried again like any other', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }], {
      acquirer: { authorize: 'unanswered' },
      card: { limit: { ...amount, value: 1 } },
    })
    await runPlans(service.app)
    service.now.advance(61)
    await finisher()()
    await runPlans(service.app)
    expect(await chargesOf(source)).toMatchObject([{ state: 'declined', code: 25 }])
    expect(await standing(source)).toMatchObject({ occurrence: 0, tries: 1, code: 25 })
  })

  test('as a capture is finished by others, while the plan goes on', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }], { acquirer: { capture: 'unanswered' } })
    await runPlans(service.app)
    expect(await standing(source)).toMatchObject({ occurrence: 1, made: 1 })
    service.now.advance(61)
    await finisher()()
    expect(await chargesOf(source)).toMatchObject([{ state: 'approved', captured: 995 }])
  })
})

describe('at the same moment', () => {
  test('several processes make every payment once', async () => {
    const { id } = await executing()
    const sources: string[] = []
    for (let each = 0; each < 30; each++) sources.push(await agree(id, [{ amount, repeat: { interval: monthly } }]))
    const runs = await Promise.all(Array.from({ length: 4 }, () => runPlans({ ...service.app })))
    expect(runs.reduce((sum, { paid }) => sum + paid, 0)).toBe(30)
    for (const source of sources) expect(await chargesOf(source)).toHaveLength(1)
  })

  test('a process that is overtaken while it waits for the acquirer charges nobody again', async () => {
    const { id } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }])
    const { atOnce: _, ...far } = service.app.acquirers.simulator
    const wire = gate()
    const slow = {
      ...far,
      async authorize(ask: Parameters<typeof far.authorize>[0]) {
        await wire.enter()
        return far.authorize(ask)
      },
    }
    const first = runPlans({ ...service.app, acquirers: { simulator: slow, live: undefined } })
    await wire.entered()
    service.now.advance(301)
    expect(await runPlans(service.app)).toMatchObject({ pending: 1, paid: 0 })
    wire.leave(1)
    await first
    service.now.advance(61)
    await runPlans(service.app)
    expect(await chargesOf(source)).toMatchObject([{ state: 'approved', captured: 995 }])
    expect(await standing(source)).toMatchObject({ occurrence: 1, made: 1 })
  })

  test('a plan that is stopped while it is being paid stays stopped, and tells of the payment', async () => {
    const { id, authorization } = await executing()
    const source = await agree(id, [{ amount, repeat: { interval: monthly } }])
    const { atOnce: _, ...far } = service.app.acquirers.simulator
    const stopping = {
      ...far,
      async authorize(ask: Parameters<typeof far.authorize>[0]) {
        await service.call(`DELETE /merchants/${id}/plans/${source}`, { headers: { authorization } })
        return far.authorize(ask)
      },
    }
    await runPlans({ ...service.app, acquirers: { simulator: stopping, live: undefined } })
    const [charge] = await chargesOf(source)
    expect(await standing(source)).toMatchObject({ state: 'stopped', reason: 'asked', made: 1, last: charge?.id })
    service.now.advance(40 * day)
    await runPlans(service.app)
    expect(await chargesOf(source)).toHaveLength(1)
  })
})

test.each([
  ['the simulator at hand', true],
  ['an acquirer far away', false],
])(
  'whenever a process dies with %s, a payment is made and captured once',
  async (_, near) => {
    const { id } = await executing()
    const { atOnce, ...far } = service.app.acquirers.simulator
    let stroke = 1
    for (let over = true; over; stroke++) {
      for (const moment of ['before', 'after'] as const) {
        const source = await agree(id, [{ amount, repeat: { count: 2, interval: monthly } }])
        const life = createLife()
        const db = mortalDb(service.app.db, life)
        life.arm({ stroke, moment })
        const simulator = near && atOnce ? { ...far, atOnce } : far
        await runPlans({ ...service.app, db, acquirers: { simulator, live: undefined } }).catch(() => {})
        over = life.isOver()
        // Whoever comes after finds out what the dead one left.
        for (let each = 0; each < 4; each++) {
          service.now.advance(301)
          await createFinisher(service.app, { after: 1 })()
          await runPlans(service.app)
        }
        const what = `stroke ${stroke}, ${moment}`
        expect(await chargesOf(source), what).toMatchObject([{ state: 'approved', captured: 995 }])
        expect(await standing(source), what).toMatchObject({ state: 'active', occurrence: 1, made: 1, missed: 0 })
      }
    }
    // Holding, looking, beginning, charging, looking, capturing, writing down.
    expect(stroke).toBeGreaterThan(6)
  },
  60_000,
)

test('a payment whose process died before it was written down is found weeks later, and not left out', async () => {
  const { id } = await executing()
  const source = await agree(id, [{ amount, repeat: { interval: { unit: 'week' } } }])
  const life = createLife()
  // Holding, looking, beginning, charging: the capture is not come to.
  life.arm({ stroke: 4, moment: 'after' })
  await expect(runPlans({ ...service.app, db: mortalDb(service.app.db, life) })).rejects.toThrow('has died')
  expect(await chargesOf(source)).toMatchObject([{ state: 'approved', captured: 0 }])
  service.now.advance(22 * day)
  await runPlans(service.app)
  expect(await chargesOf(source)).toMatchObject([{ captured: 995 }, { captured: 995 }])
  expect(await standing(source)).toMatchObject({ occurrence: 4, made: 2, missed: 2 })
})

test('a plan that something is wrong with keeps nobody else from being paid', async () => {
  const { id } = await executing()
  const broken = await agree(id, [{ amount, repeat: { interval: monthly } }])
  const sound = await agree(id, [{ amount, repeat: { interval: monthly } }])
  const { atOnce: _, ...far } = service.app.acquirers.simulator
  const simulator = {
    ...far,
    authorize(ask: Parameters<typeof far.authorize>[0]) {
      if (ask.previous?.reference === broken) throw new Error('out of order')
      return far.authorize(ask)
    },
  }
  expect(await runPlans({ ...service.app, acquirers: { simulator, live: undefined } })).toMatchObject({ paid: 1, failed: 1 })
  expect(await standing(sound)).toMatchObject({ made: 1 })
  expect(await standing(broken)).toMatchObject({ state: 'active', made: 0 })
  service.now.advance(301)
  await createFinisher(service.app, { after: 1 })()
  await runPlans(service.app)
  expect(await standing(broken)).toMatchObject({ made: 1 })
  expect(await chargesOf(broken)).toHaveLength(1)
})

test('after all of this every promise is kept', async () => {
  const { breaches, counts } = await verify(service.app.db, service.now())
  expect(breaches).toEqual([])
  expect(counts.transactions).toBeGreaterThan(100)
})
