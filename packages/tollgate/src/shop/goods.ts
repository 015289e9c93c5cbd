export type Good = { id: string; name: string; about: string; price: number }

export const shopName = 'Fjord & Fern'

/** Those whose sales of some weeks are in the database of development mode. */
export const goods: readonly Good[] = [
  { id: 'fern', name: 'Fern in a clay pot', about: 'Grown in the shade, thrown by hand', price: 2450 },
  { id: 'tablecloth', name: 'Linen tablecloth', about: 'Softer with every wash', price: 6900 },
  { id: 'candles', name: 'Beeswax candles, three', about: 'Eight hours of honey-coloured light', price: 1800 },
  { id: 'blanket', name: 'Wool blanket', about: 'From sheep that know the weather', price: 12_900 },
  { id: 'mug', name: 'Ceramic mug', about: 'Holds more than you think', price: 2200 },
  { id: 'board', name: 'Oak serving board', about: 'Oiled three times, good for thirty years', price: 4350 },
]

/** Paid by a link, for it needs no parcel. */
export const giftCard: Good = { id: 'gift-card', name: 'Gift card', about: 'For people who have ferns already', price: 5000 }

/** Paid again every month. */
export const subscription: Good = { id: 'monthly', name: 'A plant a month', about: 'Chosen by us, watered by you', price: 1900 }

export function findGood(id: unknown): Good | undefined {
  return [...goods, giftCard, subscription].find((good) => good.id === id)
}

/** What the popup is asked for. */
export function paymentFor({ id, name, about, price }: Good) {
  const amount = { currency: 'EUR', exponent: 2, value: price }
  const payment = { test: true, amount, title: name, description: about, custom: { item: id } }
  if (id === 'candles')
    return { ...payment, fields: [{ name: 'greeting', label: 'Words for the card', placeholder: 'Happy birthday!' }] }
  return payment
}

/** The first month is paid now, and the next ones are agreed to. */
export function paymentForSubscription(now: Date) {
  const payment = paymentFor(subscription)
  return {
    ...payment,
    plan: [{ amount: payment.amount, repeat: { first: monthAfter(now).toISOString(), interval: { unit: 'month' } } }],
  }
}

/** Whoever subscribes on the 31st pays on the last day of a shorter month. */
function monthAfter(date: Date): Date {
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const last = new Date(Date.UTC(year, month + 2, 0)).getUTCDate()
  return new Date(Date.UTC(year, month + 1, Math.min(date.getUTCDate(), last), 9))
}

export function priceOf(minor: number, currency = 'EUR'): string {
  return new Intl.NumberFormat('en-IE', { style: 'currency', currency }).format(minor / 100)
}
