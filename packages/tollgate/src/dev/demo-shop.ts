/**
 * Some weeks of a small shop, for development mode: what it sold, gave back, lost to disputes and was paid out, as a seed file. Always the
 * same for the same day, so that a second start finds all of it there already.
 */
export function demoShop({ app, today }: { app: { id: string; key: string; created: string }; today: Date }) {
  const merchant = {
    id: idOf(daysBefore(today, weeks * 7), 0),
    // Derived, not secret: links and pages of development name the shop by it.
    key: `00000000-0000-4000-8000-${tag}${app.id.slice(0, 8)}`,
    created: daysBefore(today, weeks * 7).toISOString(),
    name: 'Fjord & Fern',
    currency: 'EUR',
    test: true,
    email: 'shop@fjord-and-fern.example',
    website: 'https://fjord-and-fern.example',
    descriptor: 'FJORD AND FERN',
    company: { country: 'DK', number: '12345678' },
    bank: { iban: 'DK5000400440116243' },
    pricing: { rate, flat: { currency: 'EUR', amount: flat }, dispute: { currency: 'EUR', amount: disputeFee } },
    payouts: 'weekly',
    accent: '#2f5d4a',
    apps: [app.id],
  }
  const sales = Array.from({ length: weeks * 7 }, (_, day) => salesOf(day, today)).flat()
  const transactions = sales.map((sale) => tellSale(sale, merchant.id))
  const disputed = sales.filter(({ dispute }) => dispute)
  return {
    apps: [{ ...app, name: 'Development app' }],
    merchants: [merchant] as const,
    transactions,
    lines: payouts(sales, today).map((line) => ({ ...line, merchantId: merchant.id, bank: merchant.bank })),
    disputes: disputed.map(({ amount, dispute, id }) => ({
      id: dispute?.id,
      merchantId: merchant.id,
      transactionId: id,
      created: dispute?.created.toISOString(),
      amount,
      reason: { code: 13, title: 'Goods or services not received' },
      due: daysBefore(dispute?.created ?? today, -14).toISOString(),
      ...(dispute?.decided ? { decided: dispute.decided.toISOString() } : {}),
    })),
    frauds: sales
      .filter(({ fraud }) => fraud)
      .map(({ id, created }) => ({
        id: idOf(later(created, 50), 900),
        merchantId: merchant.id,
        transactionId: id,
        created: later(created, 50).toISOString(),
        reported: later(created, 48).toISOString(),
        reason: 6,
      })),
  }
}

const weeks = 5
const rate = 0.025
const flat = 25
const disputeFee = 1500
const tag = 'd390'

type Sale = {
  id: string
  number: number
  created: Date
  amount: number
  item: string
  card: { bin: string; last4: string; scheme: 'visa' | 'mastercard' }
  /** The code of the error that it failed with. */
  declined: number | undefined
  captured: Date | undefined
  voided: Date | undefined
  refunded: { at: Date; amount: number } | undefined
  dispute: { id: string; created: Date; decided: Date | undefined; won: boolean } | undefined
  fraud: boolean
}

const items = [
  ['Fern in a clay pot', 2450],
  ['Linen tablecloth', 6900],
  ['Beeswax candles, three', 1800],
  ['Wool blanket', 12_900],
  ['Ceramic mug', 2200],
  ['Gift card', 5000],
  ['Oak serving board', 4350],
] as const

const cards = [
  { bin: '410000', last4: '0000', scheme: 'visa' },
  { bin: '510000', last4: '0000', scheme: 'mastercard' },
  { bin: '401211', last4: '1111', scheme: 'visa' },
] as const

/** What happened on one day: a few orders, more towards the weekend. */
function salesOf(day: number, today: Date): Sale[] {
  const date = daysBefore(today, weeks * 7 - day)
  const count = 1 + ((day * 5) % 3) + (date.getUTCDay() >= 5 ? 2 : 0)
  return Array.from({ length: count }, (_, index) => {
    const number = 1000 + day * 10 + index
    const [item, price] = items[(day * 3 + index) % items.length] as (typeof items)[number]
    const created = later(date, 8 + index * 2.3 + (day % 5) * 0.31)
    const declined = number % 17 === 0 ? ([7, 8, 6] as const)[day % 3] : undefined
    const voided = declined === undefined && number % 23 === 0 ? later(created, 5) : undefined
    // What was ordered lately has yet to be sent.
    const sent = declined === undefined && voided === undefined && day < weeks * 7 - 1 ? later(created, 20) : undefined
    const amount = price * (number % 11 === 0 ? 2 : 1)
    return {
      id: idOf(created, number),
      number,
      created,
      amount,
      item,
      card: cards[number % cards.length] as (typeof cards)[number],
      declined,
      captured: sent,
      voided,
      refunded:
        sent && number % 13 === 0 && day < weeks * 7 - 6 ? { at: later(sent, 70), amount: Math.ceil(amount / 2) } : undefined,
      dispute: disputeOf(sent, day, index),
      fraud: day === 12 && index === 0,
    }
  })
}

/** One was won, one lost, one is open. */
function disputeOf(sent: Date | undefined, day: number, index: number): Sale['dispute'] {
  if (!sent || index !== 0) return undefined
  const created = later(sent, 80)
  if (day === 4) return { id: idOf(created, 1), created, decided: later(created, 150), won: true }
  if (day === 9) return { id: idOf(created, 2), created, decided: later(created, 170), won: false }
  if (day === weeks * 7 - 6) return { id: idOf(created, 3), created, decided: undefined, won: false }
  return undefined
}

function tellSale(sale: Sale, merchantId: string) {
  const { id, number, created, amount, item, card, declined, captured, voided, refunded, dispute } = sale
  const trail = [
    ...(captured ? [{ capture: true, amount, created: captured.toISOString() }] : []),
    ...(voided ? [{ void: true, amount, created: voided.toISOString() }] : []),
    ...(refunded && !dispute ? [{ refund: true, amount: refunded.amount, created: refunded.at.toISOString() }] : []),
    ...(dispute ? [{ dispute: tellDispute(dispute), amount, created: dispute.created.toISOString() }] : []),
  ]
  return {
    id,
    merchantId,
    created: created.toISOString(),
    currency: 'EUR',
    amount,
    card: { ...card, expiry: '2031-08-31T23:59:59.999Z', code: { present: true } },
    tds: number % 4 === 0 ? 'none' : 'full',
    custom: { order: number, item },
    ...(declined === undefined ? { successful: true } : { successful: false, error: { code: declined } }),
    trail,
  }
}

function tellDispute({ id, decided, won }: NonNullable<Sale['dispute']>) {
  if (!decided) return { id }
  return won ? { id, won: true } : { id, lost: true }
}

/** What the shop was paid on Mondays: all that it had by the end of the Sunday before. */
function payouts(sales: readonly Sale[], today: Date) {
  const moves = sales.flatMap(movesOf)
  let paid = 0
  return Array.from({ length: weeks * 7 }, (_, day) => daysBefore(today, weeks * 7 - day))
    .filter((date) => date.getUTCDay() === 1)
    .flatMap((date) => {
      const balance = moves.filter(({ at }) => at < date).reduce((sum, { amount }) => sum + amount, 0) - paid
      if (balance <= 0) return []
      paid += balance
      const created = later(date, 4)
      const day = created.toISOString().slice(0, 10)
      return [
        {
          ...{ id: idOf(created, 800), created: created.toISOString(), payout: true, balance: -balance, fee: 0 },
          ...{ amount: { currency: 'EUR', amount: balance }, description: `Payout ${day}` },
        },
      ]
    })
}

function movesOf({ amount, captured, refunded, dispute }: Sale): { at: Date; amount: number }[] {
  const percentage = (sum: number) => Math.round(sum * rate)
  const loss = amount + disputeFee
  return [
    ...(captured ? [{ at: captured, amount: amount - flat - percentage(amount) }] : []),
    ...(refunded && !dispute ? [{ at: refunded.at, amount: percentage(refunded.amount) - refunded.amount }] : []),
    ...(dispute ? [{ at: dispute.created, amount: -loss }] : []),
    ...(dispute?.decided && dispute.won ? [{ at: dispute.decided, amount: loss }] : []),
  ]
}

function daysBefore(date: Date, days: number): Date {
  const midnight = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  return new Date(midnight - days * 86_400_000)
}

function later(date: Date, hours: number): Date {
  return new Date(date.getTime() + Math.round(hours * 3_600_000))
}

function idOf(date: Date, number: number): string {
  const seconds = Math.floor(date.getTime() / 1000)
  return seconds.toString(16).padStart(8, '0') + tag + number.toString(16).padStart(12, '0')
}
