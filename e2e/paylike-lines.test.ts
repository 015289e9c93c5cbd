import { oneProcess } from '@tollgate/kit/testing'
import { runPayouts } from '@tollgate/payments/operations/run-payouts'
import { startPayments } from '@tollgate/payments/testing'
import Paylike from 'paylike'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, type Payments, pay } from './payments-service.ts'

// What the tool that exports lines for bookkeeping makes of them, read with the official client.
let service: Payments
beforeAll(async () => {
  service = await oneProcess('it lists what was made in one millisecond, which only one process has in order', () =>
    startPayments({ PAY_EXCHANGE_MAX_AGE: '0' }),
  )
})
afterAll(() => service.stop())

type Line = {
  created: string
  balance: number
  fee: number
  amount: { currency: string; amount: number }
  bank?: { iban: string }
} & Partial<Record<'payout' | 'capture' | 'refund' | 'dispute' | 'won' | 'lost', unknown>>

/** Looks for what is `true`, and nothing that is merely truthy. */
function textOf(line: Line): string {
  const major = ({ currency, amount }: Line['amount']) => `${currency} ${amount / 100}`
  if (line.payout === true) return `Payout to ${line.bank?.iban}`
  if (line.capture === true) return `Capture (${major(line.amount)})`
  if (line.refund === true) return `Refund (${major(line.amount)})`
  if (line.dispute !== true) return 'Unknown'
  if (line.won === true) return 'Dispute won'
  return line.lost === true ? 'Dispute lost' : 'Dispute opened'
}

const rowOf = (line: Line) => [line.created.slice(0, 10), textOf(line), line.fee / 100, line.balance / 100]

test('every kind of line is told apart, and what it did adds up to the balance', async () => {
  const iban = 'DK5000400440116243'
  const shop = await openShop(service, { bank: { iban } })
  await service.app.db`update pay.merchants set payouts = 'daily' where id = ${shop.id}`
  const paylike = Paylike(shop.app.key, { url: service.origin })
  const simulate = (what: string, json: object) => paylike.service.post(`/merchants/${shop.id}/simulator/${what}`, json)
  const dispute = async (transactionId: string, won: boolean) => {
    const raised = (await simulate('disputes', { transactionId })) as { dispute: { id: string } }
    await simulate(`disputes/${raised.dispute.id}/decisions`, { won })
  }
  const first = await pay(service, shop, { amount: 20_000 })
  await paylike.transactions.capture(first, { amount: 20_000 })
  await paylike.transactions.refund(first, { amount: 500 })
  for (const won of [true, false]) {
    const disputed = await pay(service, shop, { amount: 1000, currency: 'USD' })
    await paylike.transactions.capture(disputed, { amount: 1000 })
    await dispute(disputed, won)
  }
  // Nothing is captured, so nothing is moved.
  await paylike.transactions.void(await pay(service, shop), { amount: 300 })
  const before = (await paylike.merchants.findOne(shop.id)).balance as number
  service.now.advance(24 * 3600)
  await runPayouts(service.app, { day: service.now().toISOString().slice(0, 10) })
  const lines = (await paylike.merchants.lines.find(shop.id).toArray()) as unknown as Line[]
  expect(lines.map(rowOf).toReversed()).toEqual([
    ['2030-01-02', 'Capture (EUR 200)', 5.25, 194.75],
    ['2030-01-02', 'Refund (EUR 5)', -0.13, -4.87],
    ['2030-01-02', 'Capture (USD 10)', expect.any(Number), expect.any(Number)],
    ['2030-01-02', 'Dispute opened', expect.any(Number), expect.any(Number)],
    ['2030-01-02', 'Dispute won', expect.any(Number), expect.any(Number)],
    ['2030-01-02', 'Capture (USD 10)', expect.any(Number), expect.any(Number)],
    ['2030-01-02', 'Dispute opened', expect.any(Number), expect.any(Number)],
    ['2030-01-02', 'Dispute lost', expect.any(Number), 0],
    ['2030-01-03', `Payout to ${iban}`, 0, -before / 100],
  ])
  for (const { balance, fee, amount } of lines)
    for (const sum of [balance, fee, amount.amount]) expect(sum).toSatisfy(Number.isInteger)
  expect(lines.reduce((sum, { balance }) => sum + balance, 0)).toBe(0)
  expect(await paylike.merchants.findOne(shop.id)).toMatchObject({ balance: 0 })
})
