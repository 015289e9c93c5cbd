import type { Call } from '@tollgate/kit/testing'
import { createApp, type startPayments } from '@tollgate/payments/testing'

export type Payments = Awaited<ReturnType<typeof startPayments>>

/** What the tests of the official clients make their merchants from. */
export const merchantAttributes = {
  company: { country: 'DK' },
  currency: 'EUR',
  email: 'john@example.com',
  website: 'https://example.com',
  descriptor: 'Coffee & John',
  test: true,
}

export type Shop = { id: string; key: string; app: { id: string; key: string }; authorization: string }

/** A test merchant of a new app, made as anybody makes one. */
export async function openShop({ call }: { call: Call }, attributes: object = {}): Promise<Shop> {
  const { authorization, ...app } = await createApp(call, 'Shop')
  const json = { ...merchantAttributes, ...attributes }
  const { merchant } = (await call('POST /merchants', { headers: { authorization }, json })).json<{ merchant: Shop }>()
  return { id: merchant.id, key: merchant.key, app, authorization }
}

/** A customer pays with the card that always works, unless told otherwise. */
export async function pay({ call }: { call: Call }, { id, authorization }: Shop, payment: object = {}): Promise<string> {
  const json = { amount: 300, currency: 'EUR', card: { expiry: { month: 8, year: 2066 }, code: '123' }, ...payment }
  const answer = await call(`POST /merchants/${id}/simulator/payments`, { headers: { authorization }, json })
  if (answer.status !== 201) throw new Error(`The customer could not pay: ${answer.status} ${answer.text}`)
  return answer.json<{ transaction: { id: string } }>().transaction.id
}
