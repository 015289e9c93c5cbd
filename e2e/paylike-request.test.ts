import request from '@paylike/request'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toldBy } from './device-client.ts'

/** The official helper that browser clients are made of, as it is published. */
let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>

beforeAll(async () => {
  service = await startPayments({ PAY_RATE_LIMIT_HEADER: 'X-Client', PAY_RATE_LIMIT_VAULT: '40/1m' })
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

function ask<Answer>(path: string, data: object, clientId = 'js-c-1'): Promise<Answer> {
  return request(`${service.origin}${path}`, { version: 1, data, fetch, clientId }).first<Answer>()
}

async function orderWith(more: object = {}) {
  return {
    integration: { key: merchant.key },
    test: {},
    amount: { currency: 'EUR', exponent: 2, value: 1299 },
    card: {
      number: await ask<object>('/vault', { type: 'pcn', value: '4100000000000000' }),
      code: await ask<object>('/vault', { type: 'pcsc', value: '123' }),
      expiry: { month: 12, year: 2035 },
    },
    ...more,
  }
}

type Next = { challenges?: { path: string }[]; authorizationId?: string }
type Step = { hints?: string[]; action?: string; fields?: Record<string, string> }

async function pay(order: object): Promise<{ id: string; counts: number[] }> {
  const hints: string[] = []
  const counts: number[] = []
  for (;;) {
    const { challenges: [challenge] = [], authorizationId } = await ask<Next>('/payments', { ...order, hints })
    counts.push(hints.length)
    if (authorizationId !== undefined) return { id: authorizationId, counts }
    const step = await ask<Step>(challenge?.path ?? '', { ...order, hints })
    hints.push(...(step.hints ?? []))
    if (step.action) hints.push(...(await openFrame(step)))
  }
}

async function openFrame({ action = '', fields = {} }: Step): Promise<string[]> {
  const { pathname } = new URL(action)
  const page = await fetch(`${service.origin}${pathname}`, { method: 'POST', body: new URLSearchParams(fields) })
  return toldBy(await page.text(), 'confirms') ?? []
}

test('pays, with the hints that it counts on', async () => {
  const { id, counts } = await pay(await orderWith())
  expect(counts).toEqual([0, 1, 2, 6, 7, 8, 9, 10])
  const { transaction } = (
    await service.call(`GET /transactions/${id}`, { headers: { authorization: merchant.authorization } })
  ).json<{ transaction: object }>()
  expect(transaction).toMatchObject({ amount: 1299, tds: 'full', successful: true })
})

test('an answer ends where it ends: there is one value in it', async () => {
  const data = { type: 'pcn', value: '4100000000000000' }
  const values = await request(`${service.origin}/vault`, { version: 1, data, fetch }).toArray()
  expect(values).toEqual([{ token: expect.any(String) }])
})

test('understands what it is refused with, and has an id to ask about', async () => {
  const declined = pay(await orderWith({ test: { card: { status: 'lost' }, tds: { challenge: false } } }))
  const problem = await declined.catch((thrown) => thrown)
  expect(problem).toBeInstanceOf(request.ResponseError)
  expect(problem).toMatchObject({
    code: 'PAYMENT_CARD_LOST',
    message: 'Payment card has been marked as lost',
    requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
})

test('takes what will pass for a reason to try again, and waits for as long as it is asked to', async () => {
  const test = { acquirer: { authorize: 'lost' }, tds: { challenge: false, fingerprint: 'unavailable' } }
  expect(await pay(await orderWith({ test })).catch((thrown) => thrown)).toBeInstanceOf(request.ServerError)
  const limited = async () => {
    for (let time = 0; time < 41; time++) await ask('/vault', { type: 'pcn', value: '4100000000000000' }, 'js-eager')
  }
  const problem = await limited().catch((thrown) => thrown)
  expect(problem).toBeInstanceOf(request.RateLimitError)
  expect(problem.retryAfter).toBe(60_000)
})
