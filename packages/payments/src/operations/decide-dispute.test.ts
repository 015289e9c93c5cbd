import { randomUUID } from 'node:crypto'
import { createInTurn } from '@tollgate/kit/in-turn'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { decideDispute } from './decide-dispute.ts'
import { recordDispute } from './record-dispute.ts'
import { verify } from './verify.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments({ PAY_EXCHANGE_MAX_AGE: '0' })
})
afterAll(() => service.stop())

type Terms = { currency: string; rate: string; flat: number; disputeFee: number }

const usual: Terms = { currency: 'EUR', rate: '0.025', flat: 25, disputeFee: 1500 }

/** A payment of an amount in euros. */
async function arrange(terms: Terms, amount: number) {
  const { app, call } = service
  const merchant = await plantMerchant(service, terms)
  const id = await plantTransaction(service, { merchantId: merchant.id, amount })
  const headers = { authorization: merchant.authorization }
  const move = async (what: 'captures' | 'refunds', asked: number) =>
    (await call(`POST /transactions/${id}/${what}`, { headers, json: { amount: asked } })).status === 201
  const dispute = (asked?: number) =>
    recordDispute(app, {
      merchantId: merchant.id,
      transactionId: id,
      amount: asked,
      reason: { code: 4853, title: 'Cardholder Dispute' },
      due: app.now(),
      acquirerReference: randomUUID(),
    }).then((made) => made.id)
  const decide = (disputeId: string, won: boolean) => decideDispute(app, { merchantId: merchant.id, disputeId, won })
  const pots = async () =>
    (
      await app.db<{
        amount: number
        captured: number
        refunded: number
        refundable: number
        disputed: number
        held: number
        lost: number
      }>`
        select amount, captured, refunded, refundable, disputed,
          (select coalesce(sum(held), 0)::bigint from pay.disputes where transaction_id = transactions.id and won is distinct from true) as held,
          (select count(*) from pay.disputes where transaction_id = transactions.id and not won) as lost
        from pay.transactions where merchant_id = ${merchant.id} and id = ${id}`
    )[0] as { captured: number; refunded: number; refundable: number; disputed: number; held: number; lost: number }
  /** What an account holds in the merchant's currency, credits less debits. */
  const account = async (name: string) =>
    (
      await app.db<{ sum: number }>`
        select coalesce(-sum(amount), 0)::bigint as sum from pay.ledger
        where merchant_id = ${merchant.id} and account = ${name} and currency = ${terms.currency}`
    )[0]?.sum
  const balance = async () =>
    (
      await app.db<{
        sum: number
      }>`select coalesce(sum(balance), 0)::bigint as sum from pay.lines where merchant_id = ${merchant.id}`
    )[0]?.sum
  return { merchant, move, dispute, decide, pots, account, balance }
}

test('two processes decide at once: one of them does', async () => {
  const { merchant, move, dispute, account } = await arrange(usual, 1000)
  await move('captures', 1000)
  const disputeId = await dispute(400)
  const decide = (won: boolean) =>
    decideDispute({ ...service.app, inTurn: createInTurn() }, { merchantId: merchant.id, disputeId, won })
  const decided = await Promise.allSettled([decide(true), decide(false), decide(true), decide(false), decide(true)])
  const won = decided[0]?.status === 'fulfilled'
  expect(decided.map(({ status }) => status === 'fulfilled')).toEqual([won, !won, won, !won, won])
  expect(
    await service.app.db`select from pay.lines where merchant_id = ${merchant.id} and dispute_id = ${disputeId}`,
  ).toHaveLength(2)
  expect(await account('reserve')).toBe(0)
})

test('a dispute of another merchant is not there', async () => {
  const [own, other] = [await arrange(usual, 1000), await arrange(usual, 1000)]
  await own.move('captures', 1000)
  await expect(other.decide(await own.dispute(), true)).rejects.toMatchObject({ code: 'not_found' })
})

test('what was lost keeps its percentage: a refund of the rest gives back the percentage of the rest', async () => {
  const { move, dispute, decide, balance } = await arrange(usual, 1000)
  await move('captures', 1000)
  await decide(await dispute(400), false)
  await move('refunds', 600)
  expect(await balance()).toBe(950 - 1900 - 585)
})

test('refunds beside an open dispute, and of what it held when it is won, give back the percentage to the last cent', async () => {
  const { move, dispute, decide, balance } = await arrange({ ...usual, rate: '0.0333' }, 1000)
  await move('captures', 1000)
  const disputeId = await dispute(333)
  await move('refunds', 667)
  await decide(disputeId, true)
  await move('refunds', 333)
  expect(await balance()).toBe(-25)
})

type Step = { kind: 'capture' | 'refund' | 'dispute' | 'win' | 'lose'; part: number }

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('capture', 'refund', 'dispute', 'win', 'lose'),
    part: fc.integer({ min: 1, max: 700 }),
  }),
  { minLength: 4, maxLength: 14 },
)

const terms = fc.record<Terms>({
  currency: fc.constantFrom('EUR', 'DKK', 'HUF', 'GBP'),
  rate: fc.constantFrom('0', '0.025', '0.0333'),
  flat: fc.integer({ min: 0, max: 300 }),
  disputeFee: fc.integer({ min: 0, max: 2000 }),
})

test('whatever is captured, refunded, disputed and decided, pots and books agree, and what was won back returns what came in', async () => {
  await fc.assert(
    fc.asyncProperty(terms, steps, fc.boolean(), async (price, story, atOnce) => {
      const payment = await arrange(price, 2000)
      const open: string[] = []
      let captures = 0
      const tell = async ({ kind, part }: Step) => {
        if (kind === 'capture' && (await payment.move('captures', part))) captures++
        if (kind === 'refund') await payment.move('refunds', part)
        if (kind === 'dispute') await payment.dispute(part).then((id) => open.push(id), refusedForAmount)
        const decided = kind === 'win' || kind === 'lose' ? open.shift() : undefined
        if (decided) await payment.decide(decided, kind === 'win')
      }
      await tell({ kind: 'capture', part: 700 })
      if (atOnce) await Promise.all(story.map(tell))
      else for (const step of story) await tell(step)

      const before = await payment.pots()
      expect(before.refundable + before.refunded + before.held).toBe(before.captured)
      expect(await payment.account('merchant')).toBe(await payment.balance())

      for (const id of open) await payment.decide(id, true)
      const { refundable } = await payment.pots()
      if (refundable > 0) expect(await payment.move('refunds', refundable)).toBe(true)
      const after = await payment.pots()
      expect(after.refunded + after.held).toBe(after.captured)
      expect(await payment.account('merchant')).toBe(await payment.balance())
      expect(await payment.account('reserve')).toBe(0)
      if (after.lost === 0) {
        expect(after).toMatchObject({ disputed: 0, refunded: after.captured })
        expect(await payment.balance()).toBe(-captures * price.flat || 0)
      }
    }),
    { numRuns: 25 },
  )
  expect((await verify(service.app.db, service.now())).breaches).toEqual([])
}, 60_000)

function refusedForAmount(problem: { problems?: { path: string }[] }) {
  if (problem.problems?.[0]?.path !== 'amount') throw problem
}
