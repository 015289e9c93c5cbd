import { once } from 'node:events'
import { connect } from 'node:net'
import { finishAuthorization } from '@tollgate/payments/operations/authorize'
import { startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Challenge,
  jsClient,
  mobileClient,
  type Order,
  overHttp,
  Refused,
  statusCodes,
  type Trail,
  toldBy,
  type Wire,
} from './device-client.ts'
import { openShop, type Payments, type Shop } from './payments-service.ts'

const origin = 'https://pay.example.com'
let service: Payments
let shop: Shop

/** To the address that devices are told, wherever it is. */
const wire: Wire = (url, headers, body) => overHttp(url.replace(origin, service.origin), headers, body)

beforeAll(async () => {
  service = await startPayments({ PAY_API_EXTERNAL_URL: origin, PAY_PAYMENT_EXP: '600' })
  shop = await openShop(service)
})
afterAll(() => service?.stop())

type Card = { number?: string; code?: string; month?: number; year?: number }

/** An order with tokens of its own, as a page with a card form makes one. */
async function newOrder(more: Order = {}, { number = '4100000000000000', code = '123', month = 8, year = 2066 }: Card = {}) {
  const { tokenize } = jsClient({ origin, wire })
  const card = { number: await tokenize('pcn', number), code: await tokenize('pcsc', code), expiry: { month, year } }
  return { integration: { key: shop.key }, test: {}, amount: { currency: 'EUR', exponent: 2, value: 1250 }, card, ...more }
}

type Transaction = Record<string, unknown> & { id: string; successful: boolean; error: false | { code: number }; amount: number }

async function transactionsOf({ id, authorization }: Shop): Promise<Transaction[]> {
  const answer = await service.call(`GET /merchants/${id}/transactions?limit=100`, { headers: { authorization } })
  expect(answer.status).toBe(200)
  return answer.json<Transaction[]>()
}

async function transaction(id: string, { authorization }: Shop = shop): Promise<Transaction> {
  const answer = await service.call(`GET /transactions/${id}`, { headers: { authorization } })
  return answer.json<{ transaction: Transaction }>().transaction
}

/** What a payment is refused with, and that it is. */
async function refusalOf(paying: Promise<unknown>): Promise<Refused> {
  const problem = await paying.then(
    () => new Error('It was not refused'),
    (thrown: unknown) => thrown,
  )
  if (!(problem instanceof Refused)) throw problem
  expect(statusCodes).toContain(problem.code)
  expect(problem.message).not.toBe('')
  return problem
}

function outline(trail: Trail): (string | number)[][] {
  return trail.map(({ hints, offered, taken }) => [hints, ...offered.map(({ name, type }) => `${name} ${type}`), taken])
}

const js = (payer: 'confirms' | 'refuses' = 'confirms') => jsClient({ origin, wire, payer })

const wholeWay = [
  [0, 'authorize-integration fetch', 'fingerprint background-iframe', 'authorize-integration'],
  [1, 'tds-enrolled fetch', 'fingerprint background-iframe', 'tds-enrolled'],
  [2, 'tds-fingerprint background-iframe', 'fingerprint background-iframe', 'tds-fingerprint'],
  [6, 'tds-pre-challenge fetch', 'tds-pre-challenge'],
  [7, 'tds-challenge iframe', 'tds-challenge'],
  [8, 'tds-post-challenge fetch', 'tds-post-challenge'],
  [9, 'authorize fetch', 'authorize'],
]

describe('the way of a payment with 3-D Secure', () => {
  test('hints come as 0, 1, 2, 6, 7, 8, 9, 10, each step by its name, type and path', async () => {
    const { authorizationId, hints, trail } = await js().pay(await newOrder())
    expect(outline(trail)).toEqual(wholeWay)
    expect(hints).toHaveLength(10)
    expect(new Set(hints).size).toBe(10)
    for (const { offered } of trail) for (const { name, path } of offered) expect(path).toBe(`/payments/challenges/${name}`)
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full', amount: 1250, currency: 'EUR' })
  })

  test('the steps with a frame say what to open', async () => {
    const { trail } = await js().pay(await newOrder())
    const replies = new Map(trail.map(({ taken, reply }) => [taken, reply]))
    expect(replies.get('tds-fingerprint')).toEqual({
      action: `${origin}/3dsecure/v2/method`,
      method: 'POST',
      fields: { threeDSMethodData: expect.any(String) },
      timeout: expect.any(Number),
      hints: [expect.any(String)],
    })
    expect(replies.get('tds-challenge')).toEqual({
      action: `${origin}/3dsecure/v2/challenge`,
      method: 'POST',
      fields: { creq: expect.any(String) },
      width: expect.any(Number),
      height: expect.any(Number),
    })
    for (const step of ['authorize-integration', 'tds-enrolled', 'tds-pre-challenge', 'tds-post-challenge', 'authorize'])
      expect({ step, reply: replies.get(step) }).toEqual({ step, reply: { hints: [expect.any(String)] } })
  })

  test.each(['dart', 'kotlin', 'swift'] as const)('the engine in %s counts 0, 6 and 8 hints and is content', async (language) => {
    const { authorizationId, trail, hints } = await mobileClient({ origin, wire, language }).pay(await newOrder())
    expect(outline(trail)).toEqual(wholeWay)
    expect(hints).toHaveLength(10)
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test.each(['dart', 'kotlin', 'swift'] as const)('without a challenge the engine in %s goes on after 6', async (language) => {
    const order = await newOrder({ test: { tds: { challenge: false } } })
    const { authorizationId, trail, hints } = await mobileClient({ origin, wire, language }).pay(order)
    expect(outline(trail).slice(3)).toEqual([[6, 'authorize fetch', 'authorize']])
    expect(hints).toHaveLength(7)
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('whoever takes the fingerprint as well gives more hints, and is not asked for it again', async () => {
    const taken = new Set<string>()
    const { authorizationId, trail, hints } = await js().pay(await newOrder(), undefined, (offered) => {
      const chosen = offered.find(({ name }) => name === 'fingerprint' && !taken.has(name)) ?? offered[0]
      taken.add(chosen?.name ?? '')
      return chosen
    })
    expect(trail.map(({ hints: count, taken: name }) => [count, name]).slice(0, 3)).toEqual([
      [0, 'fingerprint'],
      [1, 'authorize-integration'],
      [2, 'tds-enrolled'],
    ])
    expect(trail.slice(1).flatMap(({ offered }) => offered.map(({ name }) => name))).not.toContain('fingerprint')
    expect(hints).toHaveLength(11)
    expect((await transaction(authorizationId)).successful).toBe(true)
  })

  test.each([
    ['fingerprint', { fingerprint: 'timeout' }],
    ['tds-fingerprint', { tds: { fingerprint: 'timeout' } }],
  ])('a frame of %s that never answers is left after its time, and the payment goes on', async (name, simulated) => {
    const order = await newOrder({ test: simulated })
    const tried = new Set<string>()
    const { authorizationId, trail } = await js().pay(order, undefined, (offered) => {
      const chosen = offered.find((each) => each.name === name && !tried.has(each.name)) ?? offered[0]
      tried.add(chosen?.name ?? '')
      return chosen
    })
    const step = trail.find((each) => each.taken === name)
    expect(step?.reply.timeout).toBeGreaterThanOrEqual(1000)
    const page = await wire(step?.reply.action ?? '', formHeaders, new URLSearchParams(step?.reply.fields).toString())
    expect([page.status, toldBy(page.text, 'confirms')]).toEqual([200, undefined])
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('a fingerprint that is unavailable is not asked for', async () => {
    const { authorizationId, trail } = await js().pay(await newOrder({ test: { tds: { fingerprint: 'unavailable' } } }))
    expect(trail.map(({ taken }) => taken)).not.toContain('tds-fingerprint')
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('an attempt that the bank takes no part in is told as one', async () => {
    const { authorizationId } = await js().pay(await newOrder({ test: { tds: { status: 'attempted' } } }))
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, tds: 'attempt' })
  })

  test.each(['dart', 'kotlin', 'swift'] as const)('a payer who refuses has not paid (%s)', async (language) => {
    shop = await openShop(service)
    const order = await newOrder()
    const engine = mobileClient({ origin, wire, language, payer: 'refuses' })
    expect((await refusalOf(engine.pay(order))).code).toBe('TDSECURE_FAILED')
    expect(await transactionsOf(shop)).toMatchObject([{ successful: false, error: { code: 31 }, amount: 1250 }])
  })
})

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' }

const money = (value: number) => ({ currency: 'EUR', exponent: 2, value })

describe('the test object', () => {
  test.each([
    [{ card: { code: 'invalid' } }, 'PAYMENT_CARD_SECURITY_CODE_INVALID', 4],
    [{ card: { status: 'invalid' } }, 'PAYMENT_CARD_NUMBER_INVALID', 3],
    [{ card: { status: 'expired' } }, 'PAYMENT_CARD_EXPIRED', 6],
    [{ card: { status: 'disabled' } }, 'PAYMENT_CARD_DISABLED', 9],
    [{ card: { status: 'lost' } }, 'PAYMENT_CARD_LOST', 10],
    [{ card: { limit: money(1249) } }, 'PAYMENT_AMOUNT_LIMIT', 25],
    [{ card: { balance: money(1249) } }, 'PAYMENT_INSUFFICIENT_FUNDS', 7],
    [{ tds: { status: 'rejected' } }, 'TDSECURE_FAILED', 31],
    [{ tds: { status: 'rejected', challenge: false } }, 'TDSECURE_FAILED', 31],
    [{ tds: { status: 'unavailable' } }, 'TDSECURE_REQUIRED', 30],
  ])('%j → %s, and a transaction that failed with %i', async (simulated, code, classic) => {
    shop = await openShop(service)
    const order = await newOrder({ test: simulated })
    const refused = await refusalOf(js().pay(order))
    expect([refused.status, refused.code]).toEqual([400, code])
    // Whoever asks again is told the same, and nothing more happens.
    expect((await refusalOf(js().pay(order))).code).toBe(code)
    expect((await refusalOf(mobileClient({ origin, wire, language: 'swift' }).pay(order))).code).toBe(code)
    const found = await transactionsOf(shop)
    expect(found.map(({ successful, error, amount }) => [successful, error ? error.code : undefined, amount])).toEqual([
      [false, classic, 1250],
    ])
  })

  test.each([
    ['unsupported', 'PAYMENT_CARD_SCHEME_UNSUPPORTED', { scheme: 'Visa', supported: 'Visa or Mastercard' }],
    ['unknown', 'PAYMENT_CARD_SCHEME_UNKNOWN', { supported: 'Visa or Mastercard' }],
  ])('a card whose scheme is %s is refused at once with %s, and nothing is made', async (scheme, code, more) => {
    shop = await openShop(service)
    const refused = await refusalOf(js().request('/payments', await newOrder({ test: { card: { scheme } } })))
    expect(refused.body).toMatchObject({ code, ...more })
    expect(await transactionsOf(shop)).toEqual([])
  })

  test.each([
    [{ card: { scheme: 'supported', code: 'valid', status: 'valid', limit: money(1250), balance: money(1250) } }],
    [{ fingerprint: 'success', tds: { fingerprint: 'success', challenge: true, status: 'authenticated' } }],
    [{ card: {}, tds: {} }],
  ])('%j is a payment like any other', async (simulated) => {
    const { authorizationId } = await js().pay(await newOrder({ test: simulated }))
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, error: false, tds: 'full' })
  })

  test.each([
    [true],
    [{ card: { status: 'fine' } }],
    [{ card: { limit: { currency: 'EUR', exponent: 2 } } }],
    [{ fingerprint: 'unavailable' }],
    [{ tds: { challenge: 'perhaps' } }],
    [{ tds: { status: 'broken' } }],
  ])('%j is refused', async (simulated) => {
    expect((await refusalOf(js().pay(await newOrder({ test: simulated })))).code).toBe('REQUEST_INVALID')
  })
})

describe('answers that get lost', () => {
  test('each once: the same hints work, and there is one transaction', async () => {
    shop = await openShop(service)
    const seen = new Set<string>()
    const forgetful: Wire = async (url, headers, body) => {
      const answer = await wire(url, headers, body)
      const isNew = !seen.has(url + body)
      seen.add(url + body)
      if (isNew && !url.includes('/3dsecure/')) throw new TypeError('fetch failed')
      return answer
    }
    const client = jsClient({ origin, wire: forgetful })
    const { authorizationId, hints } = await client.pay(await newOrder())
    expect(client.waits).toEqual(Array(15).fill(0))
    expect(hints).toHaveLength(10)
    expect(await transactionsOf(shop)).toMatchObject([{ id: authorizationId, successful: true }])
  })

  test('each because the connection was cut as soon as the request was out', async () => {
    shop = await openShop(service)
    const cut: Wire = async (url, headers, body) => {
      await sendAndHangUp(url.replace(origin, service.origin), headers, body)
      return wire(url, headers, body)
    }
    const { authorizationId, hints } = await jsClient({ origin, wire: cut }).pay(await newOrder())
    expect(hints).toHaveLength(10)
    expect(await transactionsOf(shop)).toMatchObject([{ id: authorizationId, successful: true }])
  })

  test('all of them: a client gives up after ten more, having made nothing', async () => {
    shop = await openShop(service)
    const broken: Wire = async () => ({ status: 503, headers: new Headers({ 'content-type': 'text/plain' }), text: 'busy' })
    const client = jsClient({ origin, wire: broken })
    await expect(client.pay(await newOrder())).rejects.toThrow('503 busy')
    expect(client.waits).toEqual([0, 100, 2000, ...Array(7).fill(10_000)])
    expect(await transactionsOf(shop)).toEqual([])
  })

  test('the very last: beginning again with no hints, with some or with all leads to the same transaction', async () => {
    shop = await openShop(service)
    const order = await newOrder()
    const { authorizationId, hints } = await js().pay(order)
    for (let count = 0; count <= 10; count++) {
      // The page of the first frame tells three hints or none.
      if (count === 4 || count === 5) continue
      expect({ count, id: (await js().pay(order, hints.slice(0, count))).authorizationId }).toEqual({
        count,
        id: authorizationId,
      })
    }
    expect(await transactionsOf(shop)).toHaveLength(1)
  })

  test('and of a refusal: it stays refused, whatever the payer says the second time', async () => {
    shop = await openShop(service)
    const order = await newOrder()
    expect((await refusalOf(js('refuses').pay(order))).code).toBe('TDSECURE_FAILED')
    expect((await refusalOf(js('confirms').pay(order))).code).toBe('TDSECURE_FAILED')
    expect(await transactionsOf(shop)).toHaveLength(1)
  })

  test('every step taken again, in any order, gives hints that are as good and never the same', async () => {
    shop = await openShop(service)
    const order = await newOrder()
    const { authorizationId, hints, trail } = await js().pay(order)
    const given = new Set(hints)
    for (const { taken, offered } of [...trail].reverse()) {
      const challenge = offered.find(({ name }) => name === taken) as Challenge
      const { gained } = await js().takeStep(order, hints, challenge)
      for (const hint of gained) expect(given.has(hint)).toBe(false)
      expect((await js().pay(order, [...hints, ...gained])).authorizationId).toBe(authorizationId)
    }
    expect(await transactionsOf(shop)).toHaveLength(1)
  })

  test('twenty authorizations of one order at once make one transaction', async () => {
    shop = await openShop(service)
    const order = await newOrder()
    const { hints } = await stopBefore('authorize', order)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => jsClient({ origin, wire }).takeStep(order, hints, challengeOf('authorize'))),
    )
    const ids = await Promise.all(answers.map(({ gained }) => js().pay(order, [...hints, ...gained])))
    expect(new Set(ids.map(({ authorizationId }) => authorizationId)).size).toBe(1)
    expect(await transactionsOf(shop)).toMatchObject([{ id: ids[0]?.authorizationId, successful: true }])
  })

  test('twenty declined ones at once are one as well', async () => {
    shop = await openShop(service)
    const order = await newOrder({ test: { card: { status: 'lost' } } })
    const { hints } = await stopBefore('authorize', order)
    const attempts = Array.from({ length: 20 }, () => refusalOf(js().takeStep(order, hints, challengeOf('authorize'))))
    expect(new Set((await Promise.all(attempts)).map(({ code }) => code))).toEqual(new Set(['PAYMENT_CARD_LOST']))
    expect(await transactionsOf(shop)).toHaveLength(1)
  })

  test.each(['unanswered', 'lost'])(
    'and those of the acquirer (%s): a device is told to try again until it is known',
    async (mishap) => {
      shop = await openShop(service)
      const order = await newOrder({ test: { acquirer: { authorize: mishap }, tds: { challenge: false } } })
      const { hints } = await stopBefore('authorize', order)
      for (const _ of ['asked first', 'asked while nobody knows']) {
        const answer = await wire(`${origin}/payments/challenges/authorize`, jsonHeaders, JSON.stringify({ ...order, hints }))
        expect(answer.status).toBeGreaterThanOrEqual(500)
        expect(answer.headers.get('content-type')).not.toContain('json')
        expect(answer.headers.get('x-status-code')).toBe('INTERNAL_ERROR')
      }
      const [{ id } = { id: '' }] = await transactionsOf(shop)
      await finishAuthorization(service.app, shop.id, id)
      expect((await js().pay(order, hints)).authorizationId).toBe(id)
      expect(await transactionsOf(shop)).toMatchObject([{ id, successful: true }])
    },
  )
})

const jsonHeaders = { 'accept-version': '1', 'content-type': 'application/json' }

function challengeOf(name: string): Challenge {
  return { name, type: 'fetch', path: `/payments/challenges/${name}` }
}

/** The hints with which a step could be taken. */
async function stopBefore(name: string, order: Order): Promise<{ hints: string[] }> {
  const client = js()
  let hints: string[] = []
  for (;;) {
    const { challenges = [] } = await client.request('/payments', { ...order, hints })
    const [next] = challenges
    if (!next || next.name === name) return { hints }
    hints = [...hints, ...(await client.takeStep(order, hints, next)).gained]
  }
}

async function sendAndHangUp(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const { hostname, port, pathname, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const all = { host, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  await new Promise<void>((resolve) => socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, () => resolve()))
  socket.destroy()
}

describe('hints', () => {
  test('in another order are the same hints: one of the clients mixes them', async () => {
    const order = await newOrder()
    const { hints } = await stopBefore('authorize', order)
    const { authorizationId } = await js().pay(order, hints.toReversed())
    expect((await transaction(authorizationId)).successful).toBe(true)
  })

  test('sent twice count once', async () => {
    const order = await newOrder()
    const { hints } = await stopBefore('tds-pre-challenge', order)
    const { challenges } = await js().request('/payments', { ...order, hints: [...hints, ...hints] })
    expect(challenges?.map(({ name }) => name)).toEqual(['tds-pre-challenge'])
  })

  const spoilt: [string, (hints: string[]) => string[]][] = [
    ['forged', (hints) => [...hints.slice(1), Buffer.from('{"proof":"tds-challenge","confirmed":true}').toString('base64')]],
    ['empty', (hints) => [...hints, '']],
    ['truncated', (hints) => [...hints.slice(0, -1), (hints.at(-1) ?? '').slice(0, -4)]],
    ['one bit off', (hints) => [...hints.slice(0, -1), flipped(hints.at(-1) ?? '')]],
    ['no text of ours', (hints) => [...hints, 'https://example.com/"><script>']],
  ]

  test.each(spoilt)('that are %s are refused, at every address', async (_, spoil) => {
    const order = await newOrder()
    const { hints } = await stopBefore('authorize', order)
    for (const path of ['/payments', '/payments/challenges/authorize'])
      expect((await refusalOf(js().request(path, { ...order, hints: spoil(hints) }))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
  })

  test('of another order are refused, were it a cent more', async () => {
    const order = await newOrder()
    const { hints } = await js().pay(order)
    for (const other of [{ ...order, amount: money(1251) }, { ...order, custom: { a: 1 } }, await newOrder()])
      expect((await refusalOf(js().request('/payments', { ...other, hints }))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
  })

  test('of the same order written differently are good', async () => {
    const order = await newOrder({ custom: { a: 1, b: [2] } })
    const { hints, authorizationId } = await js().pay(order)
    const mixed = Object.fromEntries(Object.entries({ ...order, custom: { b: [2], a: 1 }, hints }).toReversed())
    expect((await js().request('/payments', mixed)).authorizationId).toBe(authorizationId)
  })

  test('that skip a step do not skip it', async () => {
    const order = await newOrder()
    const { hints } = await stopBefore('tds-challenge', order)
    for (const name of ['tds-post-challenge', 'authorize'])
      expect((await refusalOf(js().takeStep(order, hints, challengeOf(name)))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
    expect((await refusalOf(js().takeStep(order, [], challengeOf('authorize')))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
  })

  test('that are too old are refused, and beginning again works', async () => {
    const order = await newOrder()
    const { hints } = await stopBefore('tds-challenge', order)
    service.now.advance(599)
    expect((await js().request('/payments', { ...order, hints })).challenges).toBeDefined()
    service.now.advance(2)
    expect((await refusalOf(js().request('/payments', { ...order, hints }))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
    expect((await transaction((await js().pay(order)).authorizationId)).successful).toBe(true)
  })
})

function flipped(text: string): string {
  const at = Math.floor(text.length / 2)
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}

describe('what a request has to be', () => {
  const send = (headers: Record<string, string>, body: string) => wire(`${origin}/payments`, headers, body)

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
    const answer = await send(headers, JSON.stringify(await newOrder()))
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
    const refused = await refusalOf(js().request('/payments', await newOrder(more)))
    expect(refused.code).toBe('REQUEST_INVALID')
    expect(refused.body.message).toMatch(/^Invalid request: /)
    expect(refused.body.errors).toEqual([expect.stringContaining(field)])
  })

  test.each([
    ['month', { month: 13 }],
    ['year', { year: 1999 }],
    ['year', { year: 2100 }],
  ])('an expiry whose %s there is not is refused', async (field, card) => {
    const refused = await refusalOf(js().request('/payments', await newOrder({}, card)))
    expect([refused.code, refused.body.errors]).toEqual(['REQUEST_INVALID', [expect.stringContaining(`card.expiry.${field}`)]])
  })

  test('a card that has expired is declined when it is charged', async () => {
    shop = await openShop(service)
    expect((await refusalOf(js().pay(await newOrder({}, { month: 1, year: 2029 })))).code).toBe('PAYMENT_CARD_EXPIRED')
    expect(await transactionsOf(shop)).toMatchObject([{ successful: false, error: { code: 6 } }])
  })

  test('a key that nobody has is refused at once', async () => {
    for (const key of ['00000000-0000-4000-8000-000000000000', 'x', shop.id]) {
      const { status, code } = await refusalOf(js().request('/payments', await newOrder({ integration: { key } })))
      expect([status, code]).toEqual([400, 'PAYMENT_INTEGRATION_KEY_UNKNOWN'])
    }
  })

  test('test and live do not mix', async () => {
    const { test: _, ...order } = await newOrder()
    const refused = await refusalOf(js().request('/payments', order))
    expect([refused.code, refused.body.message]).toEqual(['TEST_MODE_MIXED', expect.stringMatching(/^Mismatch of test modes: /)])
    const live = await openShop(service, { test: false, company: { country: 'DK' }, bank: { iban: 'DK5000400440116243' } })
    expect((await refusalOf(js().request('/payments', await newOrder({ integration: { key: live.key } })))).code).toBe(
      'TEST_MODE_MIXED',
    )
  })

  test('tokens that are none, or not of the right kind, are refused with their path', async () => {
    const order = await newOrder()
    const { number, code } = order.card
    const none = { token: 'bm8gdG9rZW4=' }
    const cases = [
      [{ ...order.card, number: code }, 'TOKEN_TYPE_UNEXPECTED', 'card.number'],
      [{ ...order.card, code: number }, 'TOKEN_TYPE_UNEXPECTED', 'card.code'],
      [{ ...order.card, number: none }, 'TOKEN_INVALID', 'card.number'],
      [{ ...order.card, code: none }, 'TOKEN_INVALID', 'card.code'],
    ] as const
    for (const [card, status, path] of cases) {
      const refused = await refusalOf(js().request('/payments', { ...order, card }))
      const kind = status === 'TOKEN_INVALID' ? 'invalid' : 'not of the right type'
      expect(refused.body).toMatchObject({ code: status, path, message: `The token for \`${path}\` is ${kind}` })
    }
  })

  test('tokens that are too old are refused with their path', async () => {
    const order = await newOrder()
    service.now.advance(1199)
    expect((await js().request('/payments', order)).challenges).toBeDefined()
    service.now.advance(2)
    const refused = await refusalOf(js().request('/payments', order))
    expect(refused.body).toMatchObject({ code: 'TOKEN_INVALID', path: 'card.number' })
  })

  test('a merchant who may not be paid is not', async () => {
    shop = await openShop(service)
    await service.app.db`update pay.merchants set can_charge_card = false where id = ${shop.id}`
    const refused = await refusalOf(js().request('/payments', await newOrder()))
    expect(refused.code).toBe('PAYMENT_INTEGRATION_DISABLED')
    shop = await openShop(service)
  })

  test('a merchant who wants to know for sure who pays is not content with an attempt', async () => {
    shop = await openShop(service)
    await service.app.db`update pay.merchants set tds_mode = 'full' where id = ${shop.id}`
    const attempted = await newOrder({ test: { tds: { status: 'attempted' } } })
    expect((await refusalOf(js().pay(attempted))).code).toBe('TDSECURE_REQUIRED')
    const { authorizationId } = await js().pay(await newOrder())
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('a security code pays for one order alone', async () => {
    shop = await openShop(service)
    const order = await newOrder()
    await js().pay(order)
    expect(await refusalOf(js().pay({ ...order, custom: { second: true } }))).toMatchObject({
      code: 'TOKEN_INVALID',
      body: { path: 'card.code' },
    })
    expect(await transactionsOf(shop)).toHaveLength(1)
  })

  test('a step that there is not is not found', async () => {
    const answer = await wire(`${origin}/payments/challenges/tds-magic`, jsonHeaders, JSON.stringify(await newOrder()))
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'ENDPOINT_NOT_FOUND'])
  })

  test('the pages refuse what was not made for them in a way that phones can read', async () => {
    for (const [path, field] of [
      ['3dsecure/v2/method', 'threeDSMethodData'],
      ['3dsecure/v2/challenge', 'creq'],
      ['payments/fingerprint', 'data'],
    ] as const)
      for (const value of ['', 'forged']) {
        const answer = await wire(`${origin}/${path}`, formHeaders, new URLSearchParams({ [field]: value }).toString())
        expect([path, answer.status, statusCodes]).toEqual([path, 400, expect.arrayContaining([JSON.parse(answer.text).code])])
      }
  })
})

describe('what is answered', () => {
  test('every success is one line of JSON that ends', async () => {
    const answers: string[] = []
    const listening: Wire = async (url, headers, body) => {
      const answer = await wire(url, headers, body)
      if (answer.headers.get('content-type')?.includes('json')) answers.push(answer.text)
      return answer
    }
    await jsClient({ origin, wire: listening }).tokenize('pcn', '4100000000000000')
    await jsClient({ origin, wire: listening }).pay(await newOrder())
    expect(answers).toHaveLength(16)
    for (const text of answers) expect(text).toMatch(/^\{[^\n]*\}\n$/)
  })

  test('pages of any origin may call, and read what they need', async () => {
    for (const path of ['/payments', '/payments/challenges/authorize', '/vault']) {
      const asked = 'content-type,accept-version,x-client'
      const preflight = await fetch(service.origin + path, {
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
    for (const body of [JSON.stringify(await newOrder()), '{}']) {
      const answer = await wire(`${origin}/payments`, { ...jsonHeaders, origin: 'null' }, body)
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
    const { authorizationId } = await js().pay(await newOrder({ amount, test: { tds: { challenge: false } } }))
    expect(await transaction(authorizationId)).toMatchObject({ amount: minor, currency: amount.currency, pendingAmount: minor })
  })

  test.each([
    [undefined, 'Coffee & John'],
    ['Tea', 'Tea'],
    ['A very long text that no statement has room for', 'A very long text that '],
    ['日本 tea', '?? tea'],
    ['Tab\there', 'Tab?here'],
  ])('the text %j stands on the statement as %j', async (text, descriptor) => {
    const order = await newOrder({ ...(text && { text }), test: { tds: { challenge: false } } })
    const { authorizationId } = await js().pay(order)
    expect(await transaction(authorizationId)).toMatchObject({ descriptor })
  })

  test('what the shop adds is kept to the letter', async () => {
    const custom = { products: [['a', 1]], nested: { ø: null, list: [{ deep: true }] }, empty: {} }
    const { authorizationId } = await js().pay(await newOrder({ custom }))
    expect((await transaction(authorizationId)).custom).toEqual(custom)
  })

  test('who may charge again is written down', async () => {
    const plan = [
      { amount: money(500), scheduled: '2030-02-01T00:00:00.000Z' },
      { amount: money(700), repeat: { first: '2030-03-01T00:00:00.000Z', interval: { unit: 'month' } } },
    ]
    const order = await newOrder({ plan, unplanned: { merchant: true, customer: true } })
    const { authorizationId } = await js().pay(order)
    const [agreed] = await service.app.db<Record<string, unknown>>`
      select plan, unplanned_merchant, unplanned_customer from pay.agreements where transaction_id = ${authorizationId}`
    expect(agreed).toEqual({ plan, unplanned_merchant: true, unplanned_customer: true })
  })

  test('without an amount there is a transaction of nothing, from which can be charged later', async () => {
    shop = await openShop(service)
    const { amount: _, ...order } = await newOrder()
    const { authorizationId, trail } = await js().pay(order)
    expect(outline(trail)).toEqual(wholeWay)
    expect(await transaction(authorizationId)).toMatchObject({ successful: true, amount: 0, currency: 'EUR', pendingAmount: 0 })
    const headers = { authorization: shop.authorization }
    const later = { transactionId: authorizationId, amount: 300, currency: 'EUR' }
    const charged = await service.call(`POST /merchants/${shop.id}/transactions`, { headers, json: later })
    expect(charged.status).toBe(201)
    const captured = await service.call(`POST /transactions/${authorizationId}/captures`, {
      headers: { ...headers, accept: 'application/json' },
      json: { amount: 1 },
    })
    expect(captured.status).toBe(400)
  })

  test('an authorization can be captured by the shop', async () => {
    const { authorizationId } = await js().pay(await newOrder())
    const captured = await service.call(`POST /transactions/${authorizationId}/captures`, {
      headers: { authorization: shop.authorization },
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
    const { authorizationId } = await js().pay(await newOrder({ test: { tds: { challenge: false } } }, { number }))
    const { card } = await transaction(authorizationId)
    expect(card).toMatchObject({ bin: number.slice(0, 6), last4: number.slice(-4), scheme, code: { present: true } })
  })
})
