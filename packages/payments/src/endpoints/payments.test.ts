import type { Call } from '@tollgate/kit/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { verify } from '../operations/verify.ts'
import { plantMerchant, startPayments } from '../testing.ts'

type Service = Awaited<ReturnType<typeof startPayments>>
type Merchant = Awaited<ReturnType<typeof plantMerchant>>
type Answered = { challenges?: { name: string; type: string; path: string }[]; authorizationId?: string; hints?: string[] }

let service: Service
let merchant: Merchant

beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
})

const headers = { 'accept-version': '1', 'content-type': 'application/json', 'x-client': 'js-c-1' }

async function tokenize(call: Call, type: string, value: string) {
  return (await call('POST /vault', { json: { type, value }, headers })).json<{ token: string }>()
}

async function order(more: object = {}, number = '4100000000000000') {
  const [pan, code] = [await tokenize(service.call, 'pcn', number), await tokenize(service.call, 'pcsc', '123')]
  return {
    integration: { key: merchant.key },
    test: {},
    amount: { currency: 'EUR', exponent: 2, value: 1299 },
    card: { number: pan, code, expiry: { month: 12, year: 2030 } },
    ...more,
  }
}

const ask = (what: string, json: object) => service.call(`POST ${what}`, { json, headers })

/** What a page in a frame would tell the window around it. */
async function openFrame({ action, fields }: { action: string; fields: Record<string, string> }, choice = 'approve') {
  const page = await service.call(`POST ${new URL(action).pathname}`, {
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const data = JSON.parse(/id="data">(.*?)<\/script>/.exec(page.text)?.[1] ?? 'null')
  return (data?.[choice]?.hints ?? data?.hints ?? []) as string[]
}

/** Follows the first challenge until there is an answer, and tells the names and the counts of hints on the way. */
async function pay(body: object, { choice = 'approve' } = {}) {
  const hints: string[] = []
  const way: string[] = []
  for (;;) {
    const answer = await ask('/payments', { ...body, hints })
    if (answer.status !== 200) return { way, hints, answer }
    const told = answer.json<Answered>()
    const [challenge] = told.challenges ?? []
    if (!challenge) return { way, hints, answer, id: told.authorizationId }
    way.push(`${hints.length} ${challenge.name}`)
    const step = await ask(challenge.path, { ...body, hints })
    if (step.status !== 200) return { way, hints, answer: step }
    const init = step.json<{ hints?: string[]; action?: string; fields?: Record<string, string> }>()
    hints.push(...(init.hints ?? []))
    if (init.action && init.fields) hints.push(...(await openFrame({ action: init.action, fields: init.fields }, choice)))
  }
}

async function tell(id: string | undefined) {
  const answer = await service.call(`GET /transactions/${id}`, { headers: { authorization: merchant.authorization } })
  return answer.json<{ transaction: Record<string, unknown> }>().transaction
}

test('a payment goes through nine steps, and the hints are as many as the engines of phones count', async () => {
  const { way, hints, id } = await pay(await order({ custom: { order: 7 }, text: 'Fjord & Færn, Aarhus' }))
  expect(way).toEqual([
    '0 authorize-integration',
    '1 tds-enrolled',
    '2 tds-fingerprint',
    '6 tds-pre-challenge',
    '7 tds-challenge',
    '8 tds-post-challenge',
    '9 authorize',
  ])
  expect(hints).toHaveLength(10)
  expect(await tell(id)).toMatchObject({
    amount: 1299,
    currency: 'EUR',
    tds: 'full',
    successful: true,
    recurring: false,
    custom: { order: 7 },
    descriptor: 'Fjord & F?rn, Aarhus',
    card: { bin: '410000', last4: '0000', scheme: 'visa', code: { present: true } },
  })
})

describe('of a card that is looked at', () => {
  test.each([
    ['unsupported', 'PAYMENT_CARD_SCHEME_UNSUPPORTED'],
    ['unknown', 'PAYMENT_CARD_SCHEME_UNKNOWN'],
  ])('scheme %s is refused at once', async (scheme, code) => {
    const { answer, way } = await pay(await order({ test: { card: { scheme } } }))
    expect([way, answer.status, answer.json()]).toMatchObject([[], 400, { code, supported: 'Visa or Mastercard' }])
  })

  test.each([
    [{ code: 'invalid' }, 'PAYMENT_CARD_SECURITY_CODE_INVALID'],
    [{ status: 'invalid' }, 'PAYMENT_CARD_NUMBER_INVALID'],
    [{ status: 'expired' }, 'PAYMENT_CARD_EXPIRED'],
    [{ status: 'disabled' }, 'PAYMENT_CARD_DISABLED'],
    [{ status: 'lost' }, 'PAYMENT_CARD_LOST'],
    [{ limit: { currency: 'EUR', exponent: 0, value: 12 } }, 'PAYMENT_AMOUNT_LIMIT'],
    [{ balance: { currency: 'EUR', exponent: 0, value: 12 } }, 'PAYMENT_INSUFFICIENT_FUNDS'],
  ])('%j is told when it is charged', async (card, code) => {
    const { answer, way } = await pay(await order({ test: { card } }))
    expect([way.at(-1), answer.status, answer.json<{ code: string }>().code]).toEqual(['9 authorize', 400, code])
  })
})

test('an order is paid once, whatever its hints', async () => {
  const body = await order()
  const first = await pay(body)
  const again = await pay(body)
  expect(again.id).toBe(first.id)
  expect(again.hints.filter((hint) => first.hints.includes(hint))).toEqual([])
})

test('what an order came to is told for ever, when hints and tokens are long worth nothing else', async () => {
  const [paid, failed, forgotten] = [await order(), await order({ test: { card: { status: 'lost' } } }), await order()]
  const { id, hints } = await pay(paid)
  const refused = await pay(failed)
  service.now.advance(86_400)
  expect((await ask('/payments', { ...paid, hints })).json()).toEqual({ authorizationId: id })
  expect((await ask('/payments', paid)).json()).toEqual({ authorizationId: id })
  expect((await ask('/payments', { ...failed, hints: refused.hints })).json()).toMatchObject({ code: 'PAYMENT_CARD_LOST' })
  expect((await ask('/payments', forgotten)).json()).toMatchObject({ code: 'TOKEN_INVALID', path: 'card.number' })
})

test('twenty at once pay an order once', async () => {
  const body = await order({ test: { tds: { challenge: false, fingerprint: 'unavailable' } } })
  const hints = await take(body, ['authorize-integration', 'tds-enrolled'])
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/payments/challenges/authorize', { ...body, hints })))
  const ids = await Promise.all(
    answers.map(async (answer) => {
      const last = answer.json<Answered>().hints ?? []
      return (await ask('/payments', { ...body, hints: [...hints, ...last] })).json<Answered>().authorizationId
    }),
  )
  expect([new Set(ids).size, await tell(ids[0])]).toMatchObject([1, { successful: true }])
})

/** Takes steps that give their hints at once. */
async function take(body: object, steps: readonly string[]): Promise<string[]> {
  const hints: string[] = []
  for (const step of steps)
    hints.push(...((await ask(`/payments/challenges/${step}`, { ...body, hints })).json<Answered>().hints ?? []))
  return hints
}

test('a security code is good for one payment', async () => {
  const body = await order()
  await pay(body)
  const other = await pay({ ...body, amount: { currency: 'EUR', exponent: 2, value: 1 } })
  expect([other.answer.status, other.answer.json()]).toMatchObject([400, { code: 'TOKEN_INVALID', path: 'card.code' }])
})

test('a payment that was declined is kept as a transaction that failed, and asking again does not try again', async () => {
  const body = await order({ custom: { lost: true }, test: { card: { status: 'lost' } } })
  const answers = [(await pay(body)).answer, (await pay(body)).answer]
  expect(answers.map((answer) => answer.json<{ code: string }>().code)).toEqual(['PAYMENT_CARD_LOST', 'PAYMENT_CARD_LOST'])
  const listed = await service.call(`GET /merchants/${merchant.id}/transactions?limit=1000&filter[successful]=no`, {
    headers: { authorization: merchant.authorization },
  })
  const failed = listed.json<{ custom: { lost?: true } | null; error: { code: number }; card: object }[]>()
  expect(failed.filter(({ custom }) => custom?.lost)).toMatchObject([{ error: { code: 10 }, card: { code: { present: true } } }])
})

test('a payer who refuses at the bank has not paid, and the attempt is kept', async () => {
  const { answer } = await pay(await order(), { choice: 'fail' })
  expect([answer.status, answer.json()]).toMatchObject([400, { code: 'TDSECURE_FAILED' }])
})

test('without an amount the card is looked at, and can be charged later', async () => {
  const { id } = await pay(await order({ amount: undefined, unplanned: { merchant: true } }))
  expect(await tell(id)).toMatchObject({ amount: 0, currency: 'EUR', successful: true, pendingAmount: 0 })
  const charge = await service.call(`POST /merchants/${merchant.id}/transactions`, {
    json: { transactionId: id, currency: 'EUR', amount: 500 },
    headers: { authorization: merchant.authorization },
  })
  expect(charge.status).toBe(201)
})

test('the books are right after all of this', async () => {
  const { breaches } = await verify(service.app.db, service.now())
  expect(breaches).toEqual([])
})
