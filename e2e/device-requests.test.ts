import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsClient, type Order, statusCodes, type Wire } from './device-client.ts'
import { formHeaders, jsonHeaders, money, openTill, origin, outline, refusalOf, type Till, wholeWay } from './device-till.ts'
import { openShop } from './payments-service.ts'

/** What devices may send and are answered, and what is paid in the end. */
let till: Till
beforeAll(async () => {
  till = await openTill()
})
afterAll(() => till?.service.stop())

describe('what a request has to be', () => {
  const send = (headers: Record<string, string>, body: string) => till.wire(`${origin}/payments`, headers, body)

  test.each([
    [{ 'content-type': 'application/json' }, 'VERSION_MISSING'],
    [{ ...jsonHeaders, 'accept-version': '' }, 'VERSION_MISSING'],
    [{ ...jsonHeaders, 'accept-version': '2' }, 'VERSION_UNSUPPORTED'],
    [{ ...jsonHeaders, 'accept-version': 'one' }, 'VERSION_UNSUPPORTED'],
    [{ ...jsonHeaders, 'accept-version': '1.0' }, 'VERSION_UNSUPPORTED'],
    [{ ...jsonHeaders, 'content-type': 'text/plain' }, 'BODY_INVALID'],
    [{ ...jsonHeaders, ...formHeaders }, 'BODY_INVALID'],
    [{ 'accept-version': '1' }, 'BODY_INVALID'],
  ])('%j → %s', async (headers: Record<string, string>, code) => {
    const answer = await send(headers, JSON.stringify(await till.newOrder()))
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      expect.objectContaining({ code, message: expect.stringMatching(/./) }),
    ])
    expect(answer.headers.get('x-status-code')).toBe(code)
  })

  test.each(['', '{', '[]', '"order"', 'null', '{"integration":', '\u0000'])('the body %j is refused', async (body) => {
    const answer = await send(jsonHeaders, body)
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([400, expect.stringMatching(/^(BODY|REQUEST)_INVALID$/)])
  })

  test.each<[string, Order, string]>([
    ['integration', { integration: undefined }, 'integration.key'],
    ['integration.key', { integration: { key: 5 } }, 'integration.key'],
    ['amount 0', { amount: money(0) }, 'amount.value'],
    ['amount below 0', { amount: money(-5) }, 'amount.value'],
    ['a fraction of a value', { amount: money(0.5) }, 'amount.value'],
    ['a word for a value', { amount: { ...money(1), value: 'one' } }, 'amount.value'],
    ['no such currency', { amount: { ...money(1), currency: 'EURO' } }, 'amount.currency'],
    ['exponent below 0', { amount: { ...money(1), exponent: -1 } }, 'amount.exponent'],
    ['a text of one character', { text: 'a' }, 'text'],
    ['a text of too many', { text: 'a'.repeat(1025) }, 'text'],
    ['no method at all', { card: undefined }, 'card'],
    ['two methods', { applepay: { token: 'x' } }, 'card'],
    ['hints that are none', { hints: [1] }, 'hints'],
    ['hints that are one', { hints: 'hint' }, 'hints'],
    ['custom that is a text', { custom: 'text' }, 'custom'],
    ['an empty plan', { plan: [] }, 'plan'],
    ['a plan with neither', { plan: [{ amount: money(1) }] }, 'plan.0'],
    ['unplanned by nobody knows', { unplanned: { merchant: 'perhaps' } }, 'unplanned.merchant'],
  ])('%s is refused by name', async (_, more, field) => {
    const refused = await refusalOf(till.js().request('/payments', await till.newOrder(more)))
    expect(refused.code).toBe('REQUEST_INVALID')
    expect(refused.body.message).toMatch(/^Invalid request: /)
    expect(refused.body.errors).toEqual([expect.stringContaining(field)])
  })

  test.each([
    ['month', { month: 13 }],
    ['year', { year: 1999 }],
    ['year', { year: 2100 }],
  ])('an expiry whose %s there is not is refused', async (field, card) => {
    const refused = await refusalOf(till.js().request('/payments', await till.newOrder({}, card)))
    expect([refused.code, refused.body.errors]).toEqual(['REQUEST_INVALID', [expect.stringContaining(`card.expiry.${field}`)]])
  })

  test('a card that has expired is declined when it is charged', async () => {
    till.shop = await openShop(till.service)
    expect((await refusalOf(till.js().pay(await till.newOrder({}, { month: 1, year: 2029 })))).code).toBe('PAYMENT_CARD_EXPIRED')
    expect(await till.transactionsOf(till.shop)).toMatchObject([{ successful: false, error: { code: 6 } }])
  })

  test('a key that nobody has is refused at once', async () => {
    for (const key of ['00000000-0000-4000-8000-000000000000', 'x', till.shop.id]) {
      const { status, code } = await refusalOf(till.js().request('/payments', await till.newOrder({ integration: { key } })))
      expect([status, code]).toEqual([400, 'PAYMENT_INTEGRATION_KEY_UNKNOWN'])
    }
  })

  test('test and live do not mix', async () => {
    const { test: _, ...order } = await till.newOrder()
    const refused = await refusalOf(till.js().request('/payments', order))
    expect([refused.code, refused.body.message]).toEqual(['TEST_MODE_MIXED', expect.stringMatching(/^Mismatch of test modes: /)])
    const live = await openShop(till.service, { test: false, company: { country: 'DK' }, bank: { iban: 'DK5000400440116243' } })
    expect((await refusalOf(till.js().request('/payments', await till.newOrder({ integration: { key: live.key } })))).code).toBe(
      'TEST_MODE_MIXED',
    )
  })

  test('tokens that are none, or not of the right kind, are refused with their path', async () => {
    const order = await till.newOrder()
    const { number, code } = order.card
    const none = { token: 'bm8gdG9rZW4=' }
    const cases = [
      [{ ...order.card, number: code }, 'TOKEN_TYPE_UNEXPECTED', 'card.number'],
      [{ ...order.card, code: number }, 'TOKEN_TYPE_UNEXPECTED', 'card.code'],
      [{ ...order.card, number: none }, 'TOKEN_INVALID', 'card.number'],
      [{ ...order.card, code: none }, 'TOKEN_INVALID', 'card.code'],
    ] as const
    for (const [card, status, path] of cases) {
      const refused = await refusalOf(till.js().request('/payments', { ...order, card }))
      const kind = status === 'TOKEN_INVALID' ? 'invalid' : 'not of the right type'
      expect(refused.body).toMatchObject({ code: status, path, message: `The token for \`${path}\` is ${kind}` })
    }
  })

  test('tokens that are too old are refused with their path', async () => {
    const order = await till.newOrder()
    till.service.now.advance(1199)
    expect((await till.js().request('/payments', order)).challenges).toBeDefined()
    till.service.now.advance(2)
    const refused = await refusalOf(till.js().request('/payments', order))
    expect(refused.body).toMatchObject({ code: 'TOKEN_INVALID', path: 'card.number' })
  })

  test('a merchant who may not be paid is not', async () => {
    till.shop = await openShop(till.service)
    await till.service.app.db`update pay.merchants set can_charge_card = false where id = ${till.shop.id}`
    const refused = await refusalOf(till.js().request('/payments', await till.newOrder()))
    expect(refused.code).toBe('PAYMENT_INTEGRATION_DISABLED')
    till.shop = await openShop(till.service)
  })

  test('a merchant who wants to know for sure who pays is not content with an attempt', async () => {
    till.shop = await openShop(till.service)
    await till.service.app.db`update pay.merchants set tds_mode = 'full' where id = ${till.shop.id}`
    const attempted = await till.newOrder({ test: { tds: { status: 'attempted' } } })
    expect((await refusalOf(till.js().pay(attempted))).code).toBe('TDSECURE_REQUIRED')
    const { authorizationId } = await till.js().pay(await till.newOrder())
    expect(await till.transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('a security code pays for one order alone', async () => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder()
    await till.js().pay(order)
    expect(await refusalOf(till.js().pay({ ...order, custom: { second: true } }))).toMatchObject({
      code: 'TOKEN_INVALID',
      body: { path: 'card.code' },
    })
    expect(await till.transactionsOf(till.shop)).toHaveLength(1)
  })

  test('a step that there is not is not found', async () => {
    const answer = await till.wire(`${origin}/payments/challenges/tds-magic`, jsonHeaders, JSON.stringify(await till.newOrder()))
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'ENDPOINT_NOT_FOUND'])
  })

  test('the pages refuse what was not made for them in a way that phones can read', async () => {
    for (const [path, field] of [
      ['3dsecure/v2/method', 'threeDSMethodData'],
      ['3dsecure/v2/challenge', 'creq'],
      ['payments/fingerprint', 'data'],
    ] as const)
      for (const value of ['', 'forged']) {
        const answer = await till.wire(`${origin}/${path}`, formHeaders, new URLSearchParams({ [field]: value }).toString())
        expect([path, answer.status, statusCodes]).toEqual([path, 400, expect.arrayContaining([JSON.parse(answer.text).code])])
      }
  })
})

describe('what is answered', () => {
  test('every success is one line of JSON that ends', async () => {
    const answers: string[] = []
    const listening: Wire = async (url, headers, body) => {
      const answer = await till.wire(url, headers, body)
      if (answer.headers.get('content-type')?.includes('json')) answers.push(answer.text)
      return answer
    }
    await jsClient({ origin, wire: listening }).tokenize('pcn', '4100000000000000')
    await jsClient({ origin, wire: listening }).pay(await till.newOrder())
    expect(answers).toHaveLength(16)
    for (const text of answers) expect(text).toMatch(/^\{[^\n]*\}\n$/)
  })

  test('pages of any origin may call, and read what they need', async () => {
    for (const path of ['/payments', '/payments/challenges/authorize', '/vault']) {
      const asked = 'content-type,accept-version,x-client'
      const preflight = await fetch(till.service.origin + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://shop.test',
          'access-control-request-method': 'POST',
          'access-control-request-headers': asked,
        },
      })
      expect(preflight.status).toBe(204)
      expect(['*', 'https://shop.test']).toContain(preflight.headers.get('access-control-allow-origin'))
      expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
      const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
      for (const name of asked.split(',')) expect(allowed).toContain(name)
    }
    for (const body of [JSON.stringify(await till.newOrder()), '{}']) {
      const answer = await till.wire(`${origin}/payments`, { ...jsonHeaders, origin: 'null' }, body)
      expect(['*', 'null']).toContain(answer.headers.get('access-control-allow-origin'))
      expect(answer.headers.get('x-request-id')).toMatch(/./)
      const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase() ?? ''
      for (const name of ['x-request-id', 'retry-after', 'x-status-code']) expect(exposed).toContain(name)
    }
  })
})

describe('what is paid', () => {
  test.each([
    [{ currency: 'EUR', exponent: 0, value: 1 }, 100],
    [{ currency: 'EUR', exponent: 3, value: 1855 }, 186],
    [{ currency: 'EUR', exponent: 3, value: 1850 }, 185],
    [{ currency: 'EUR', exponent: 5, value: 1 }, 1],
    [{ currency: 'EUR', exponent: 2, value: 1250 }, 1250],
    [{ currency: 'EUR', exponent: 1, value: 125 }, 1250],
  ])('%j is %i cents', async (amount, minor) => {
    const { authorizationId } = await till.js().pay(await till.newOrder({ amount, test: { tds: { challenge: false } } }))
    expect(await till.transaction(authorizationId)).toMatchObject({
      amount: minor,
      currency: amount.currency,
      pendingAmount: minor,
    })
  })

  test.each([
    [undefined, 'Coffee & John'],
    ['Tea', 'Tea'],
    ['A very long text that no statement has room for', 'A very long text that '],
    ['日本 tea', '?? tea'],
    ['Tab\there', 'Tab?here'],
  ])('the text %j stands on the statement as %j', async (text, descriptor) => {
    const order = await till.newOrder({ ...(text && { text }), test: { tds: { challenge: false } } })
    const { authorizationId } = await till.js().pay(order)
    expect(await till.transaction(authorizationId)).toMatchObject({ descriptor })
  })

  test('what the shop adds is kept to the letter', async () => {
    const custom = { products: [['a', 1]], nested: { ø: null, list: [{ deep: true }] }, empty: {} }
    const { authorizationId } = await till.js().pay(await till.newOrder({ custom }))
    expect((await till.transaction(authorizationId)).custom).toEqual(custom)
  })

  test('who may charge again is written down', async () => {
    const plan = [
      { amount: money(500), scheduled: '2030-02-01T00:00:00.000Z' },
      { amount: money(700), repeat: { first: '2030-03-01T00:00:00.000Z', interval: { unit: 'month' } } },
    ]
    const order = await till.newOrder({ plan, unplanned: { merchant: true, customer: true } })
    const { authorizationId } = await till.js().pay(order)
    const [agreed] = await till.service.app.db<Record<string, unknown>>`
      select plan, unplanned_merchant, unplanned_customer from pay.agreements where transaction_id = ${authorizationId}`
    expect(agreed).toEqual({ plan, unplanned_merchant: true, unplanned_customer: true })
  })

  test('without an amount there is a transaction of nothing, from which can be charged later', async () => {
    till.shop = await openShop(till.service)
    const { amount: _, ...order } = await till.newOrder()
    const { authorizationId, trail } = await till.js().pay(order)
    expect(outline(trail)).toEqual(wholeWay)
    expect(await till.transaction(authorizationId)).toMatchObject({
      successful: true,
      amount: 0,
      currency: 'EUR',
      pendingAmount: 0,
    })
    const headers = { authorization: till.shop.authorization }
    const later = { transactionId: authorizationId, amount: 300, currency: 'EUR' }
    const charged = await till.service.call(`POST /merchants/${till.shop.id}/transactions`, { headers, json: later })
    expect(charged.status).toBe(201)
    const captured = await till.service.call(`POST /transactions/${authorizationId}/captures`, {
      headers: { ...headers, accept: 'application/json' },
      json: { amount: 1 },
    })
    expect(captured.status).toBe(400)
  })

  test('an authorization can be captured by the shop', async () => {
    const { authorizationId } = await till.js().pay(await till.newOrder())
    const captured = await till.service.call(`POST /transactions/${authorizationId}/captures`, {
      headers: { authorization: till.shop.authorization },
      json: { amount: 1250 },
    })
    expect(captured.status).toBe(201)
  })

  test.each([
    ['1000000000000000', 'visa'],
    ['1000100010001000', 'visa'],
    ['4012111111111111', 'visa'],
    ['5100000000000000', 'mastercard'],
  ])('the test card %s works', async (number, scheme) => {
    const { authorizationId } = await till.js().pay(await till.newOrder({ test: { tds: { challenge: false } } }, { number }))
    const { card } = await till.transaction(authorizationId)
    expect(card).toMatchObject({ bin: number.slice(0, 6), last4: number.slice(-4), scheme, code: { present: true } })
  })
})
