import { Json } from '@tollgate/kit/db'
import { oneProcess, say } from '@tollgate/kit/testing'
import { startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { merchantAttributes, openShop, type Payments, pay, type Shop } from './payments-service.ts'

// What the PHP client and the shop plugins send, what they read, and what they choke on.
let service: Payments
beforeAll(async () => {
  service = await oneProcess('it lists what was made in one millisecond, which only one process has in order', () =>
    startPayments({ PAY_EXCHANGE_MAX_AGE: '0' }),
  )
})
afterAll(() => service.stop())

type Value = null | boolean | number | string | Value[] | { [key: string]: Value }
type Fields = Record<string, Value>

/** json_encode: slashes and everything beyond ASCII are escaped, and an array without elements is always a list. */
function jsonEncode(value: Value): string {
  const text = JSON.stringify(value, (_, part) => (isBare(part) ? [] : part))
  return text
    .replaceAll('/', '\\/')
    .replaceAll(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const isBare = (part: unknown) => typeof part === 'object' && part !== null && Object.keys(part).length === 0

/** http_build_query: brackets are escaped, booleans are 1 and 0, what is null or empty is left out. */
function buildQuery(fields: Fields, around?: string): string {
  const parts = Object.entries(fields).flatMap(([key, value]) => {
    const name = around === undefined ? key : `${around}[${key}]`
    if (value === null || isBare(value)) return []
    if (typeof value === 'object') return [buildQuery(value as Fields, name)]
    return [`${encodeURIComponent(name)}=${encodeURIComponent(typeof value === 'boolean' ? Number(value) : value)}`]
  })
  return parts.join('&')
}

const exceptions: Record<number, string> = {
  400: 'InvalidRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
}

class PhpException extends Error {
  readonly body: Value
  constructor(kind: string, message: string, body: Value) {
    super(message)
    this.name = kind
    this.body = body
  }
}

/** The PHP client: one type for everything that it sends and admits, a body or not. */
function phpClient(key: string) {
  async function request(method: string, path: string, fields: Fields = {}): Promise<{ code: number; json: Value }> {
    const type = 'application/vnd.api+json'
    const headers = {
      ...{ authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}`, 'user-agent': 'PHP 1.0.0 (php8.2.7)' },
      ...{ accept: type, 'content-type': type },
    }
    const query = method === 'GET' ? buildQuery(fields) : ''
    const sends = method === 'POST' || method === 'PUT'
    const { status, text } = await service.call(`${method} /${path}${query && `?${query}`}`, {
      headers,
      ...(sends ? { raw: jsonEncode(fields) } : {}),
    })
    const json = text === '' ? null : jsonDecode(text)
    if (status >= 200 && status < 300) return { code: status, json }
    const [first] = Array.isArray(json) ? (json as Fields[]) : []
    throw new PhpException(
      exceptions[status] ?? 'ApiException',
      String(first?.message ?? first?.text ?? 'Bad (invalid) request'),
      json,
    )
  }

  const get = async (path: string, key: string) => ((await request('GET', path)).json as Record<string, Fields>)[key] as Fields
  const post = async (path: string, fields: Fields, key: string) =>
    ((await request('POST', path, fields)).json as Record<string, Fields>)[key] as Fields

  /** All items, read on as its cursor does: while there are as many as whole pages hold. */
  async function find(path: string, given: Fields = {}): Promise<Fields[]> {
    const first = { limit: 10, ...given }
    const items = (await request('GET', path, first)).json as Fields[]
    const next: Fields = { after: null, before: null, limit: first.limit, filter: {} }
    for (const name of ['after', 'before'] as const) next[name] = given[name] ?? null
    while (items.length > 0 && items.length % Number(first.limit) === 0) {
      next[next.after ? 'after' : 'before'] = items.at(-1)?.id ?? null
      const more = (await request('GET', path, next)).json
      // count() of what is no array ends the script.
      if (!Array.isArray(more)) throw new TypeError('count(): Argument #1 ($value) must be of type Countable|array')
      if (more.length === 0) break
      items.push(...(more as Fields[]))
    }
    return items
  }

  return { request, get, post, find }
}

function jsonDecode(text: string): Value {
  try {
    return JSON.parse(text)
  } catch {
    throw new PhpException('ApiException', `Invalid response body: ${text}`, null)
  }
}

const ids = (items: Fields[]) => items.map(({ id }) => id)

async function arrange(payment: Fields = {}) {
  const shop = await openShop(service)
  return { shop, php: phpClient(shop.app.key), transactionId: await pay(service, shop, payment) }
}

describe('the client', () => {
  test('an app is made and fetched', async () => {
    const made = await phpClient('no key of anybody').post('apps', { name: 'Test App Name' }, 'app')
    expect(made).toMatchObject({ name: 'Test App Name', key: expect.any(String) })
    expect(await phpClient(String(made.key)).get('me', 'identity')).toMatchObject({ id: made.id, name: 'Test App Name' })
  })

  test('a merchant is made, fetched and changed', async () => {
    const { php } = await arrange()
    const given = { ...merchantAttributes, currency: 'DKK', descriptor: 'Test Merchant Name', name: 'Smørrebrød & Søn' }
    const { id } = await php.post('merchants', given, 'merchant')
    expect(await php.get(`merchants/${id}`, 'merchant')).toMatchObject({ ...given, id })
    const changed = await php.request('PUT', `merchants/${id}`, { name: 'Updated Merchant Name' })
    expect(changed).toEqual({ code: 204, json: null })
    expect(await php.get(`merchants/${id}`, 'merchant')).toMatchObject({ name: 'Updated Merchant Name' })
  })

  test('apps of a merchant are added with 201, revoked with 204 and listed', async () => {
    const { php, shop } = await arrange()
    service.now.advance(1)
    const { id: appId } = await php.post('apps', { name: 'Other' }, 'app')
    expect(await php.request('POST', `merchants/${shop.id}/apps`, { appId: String(appId) })).toEqual({ code: 201, json: null })
    expect(ids(await php.find(`merchants/${shop.id}/apps`))).toEqual([appId, shop.app.id])
    expect(await php.request('DELETE', `merchants/${shop.id}/apps/${appId}`)).toEqual({ code: 204, json: null })
    expect(ids(await php.find(`merchants/${shop.id}/apps`))).toEqual([shop.app.id])
  })

  test('a transaction is made, fetched, captured, refunded and voided, each time told in full', async () => {
    const { php, shop, transactionId } = await arrange()
    const charge = async () => {
      const given = { transactionId, currency: 'EUR', amount: 300, custom: { source: 'php client test' } }
      return (await php.post(`merchants/${shop.id}/transactions`, given, 'transaction')).id
    }
    const id = await charge()
    expect(await php.get(`transactions/${id}`, 'transaction')).toMatchObject({ id, custom: { source: 'php client test' } })
    const captured = await php.post(`transactions/${id}/captures`, { currency: 'EUR', amount: 200 }, 'transaction')
    expect(captured).toMatchObject({ capturedAmount: 200, pendingAmount: 100, trail: [{ capture: true, amount: 200 }] })
    const refunded = await php.post(`transactions/${id}/refunds`, { amount: 120 }, 'transaction')
    expect(refunded).toMatchObject({ capturedAmount: 200, pendingAmount: 100, refundedAmount: 120 })
    expect(refunded.trail).toMatchObject([
      { capture: true, amount: 200 },
      { refund: true, amount: 120 },
    ])
    const voided = await php.post(`transactions/${await charge()}/voids`, { amount: 200 }, 'transaction')
    expect(voided).toMatchObject({ voidedAmount: 200, pendingAmount: 100, trail: [{ void: true, amount: 200 }] })
  })

  test('a card is saved and fetched', async () => {
    const { php, shop, transactionId } = await arrange()
    const { id } = await php.post(`merchants/${shop.id}/cards`, { transactionId }, 'card')
    expect(await php.get(`cards/${id}`, 'card')).toMatchObject({ id, merchantId: shop.id, last4: '0000', notes: null })
  })

  test.each([
    ['an unknown transaction', 'transactions/wrong_id'],
    ['an id with a blank in it', 'transactions/wrong%20id'],
    ['an unknown card', 'cards/wrong_id'],
    ['an unknown merchant', `merchants/${'f'.repeat(24)}`],
    ['somebody else', `identities/${'f'.repeat(24)}/merchants?limit=10`],
  ])('%s is not found, and nothing else is made of it', async (_, path) => {
    const { php } = await arrange()
    const problem = await php.request('GET', path).catch((problem) => problem)
    expect([problem.name, problem.body]).toEqual(['NotFound', null])
  })

  test('a wrong key is unauthorized, whatever is asked for', async () => {
    const { shop, transactionId } = await arrange()
    const php = phpClient('nobody')
    for (const [method, path] of [
      ['GET', 'me'],
      ['GET', `merchants/${shop.id}/transactions?limit=10`],
      ['PUT', `merchants/${shop.id}`],
      ['DELETE', `merchants/${shop.id}/apps/${shop.app.id}`],
      ['POST', `transactions/${transactionId}/captures`],
    ] as const) {
      const problem = await php.request(method, path, { amount: 1 }).catch((problem) => problem)
      expect([problem.name, problem.body]).toEqual(['Unauthorized', null])
    }
  })

  test.each([
    ['captures', 400, 'Can capture at most EUR 3'],
    ['refunds', 1, 'Can refund at most EUR 0'],
    ['voids', 301, 'Can void at most EUR 3'],
  ])('%s of too much are an invalid request with the first message as its text', async (what, amount, message) => {
    const { php, transactionId } = await arrange()
    const problem = await php.request('POST', `transactions/${transactionId}/${what}`, { amount }).catch((problem) => problem)
    expect([problem.name, problem.message, problem.body]).toEqual(['InvalidRequest', message, [{ field: 'amount', message }]])
  })

  test.each([9, 10, 11, 20])(
    'its cursor reads %i transactions, newest first, and no end of the list confuses it',
    async (count) => {
      const { php, shop, transactionId } = await arrange()
      const made = [transactionId]
      while (made.length < count) made.unshift(await pay(service, shop))
      const path = `merchants/${shop.id}/transactions`
      expect(ids(await php.find(path))).toEqual(made)
      expect(ids(await php.find(path, { limit: 3 }))).toEqual(made)
      expect(ids(await php.find(path, { limit: 1000 }))).toEqual(made)
      expect(ids(await php.find(path, { before: made[2] ?? '', limit: 2 }))).toEqual(made.slice(3))
      expect(ids(await php.find(path, { after: made[7] ?? '', limit: 2 }))).toEqual(made.slice(0, 7).toReversed())
      // It turns to `after` where both are given, but gets this far only when a page is full.
      expect(ids(await php.find(path, { after: made[8] ?? '', before: made[3] ?? '', limit: 10 }))).toEqual(made.slice(4, 8))
    },
  )

  test('what it filters by is 1 and 0, in brackets that are escaped', async () => {
    const { php, shop, transactionId } = await arrange()
    expect(buildQuery({ limit: 10, filter: { successful: true } })).toBe('limit=10&filter%5Bsuccessful%5D=1')
    const path = `merchants/${shop.id}/transactions`
    expect(ids(await php.find(path, { filter: { successful: true, test: true } }))).toEqual([transactionId])
    expect(await php.find(path, { limit: 3, filter: { successful: false } })).toEqual([])
    const merchants = `identities/${shop.app.id}/merchants`
    expect(ids(await php.find(merchants, { filter: { test: true } }))).toEqual([shop.id])
    expect(await php.find(merchants, { limit: 3, filter: { test: false } })).toEqual([])
  })

  test('what is longer than a kilobyte is sent once it was asked for, as curl likes it', async () => {
    const { shop, transactionId } = await arrange()
    const custom = { text: 'x'.repeat(2000) }
    const body = jsonEncode({ transactionId, currency: 'EUR', amount: 300, custom })
    const head = [
      `POST /merchants/${shop.id}/transactions HTTP/1.1`,
      ...['Host: x', 'Connection: close', `Authorization: ${shop.authorization}`, 'Accept: application/vnd.api+json'],
      ...['Content-Type: application/vnd.api+json', `Content-Length: ${body.length}`, 'Expect: 100-continue', '\r\n'],
    ]
    const heard = await say(service.origin, head.join('\r\n'), body)
    expect(heard).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/)
  })

  test('a limit that would be cut short is refused instead, for it tells the end by the count', async () => {
    const { php, shop } = await arrange()
    const problem = await php.find(`merchants/${shop.id}/lines`, { limit: 1001 }).catch((problem) => problem)
    expect([problem.name, problem.body]).toEqual(['InvalidRequest', [{ field: 'limit', message: 'Must be at most 1000' }]])
  })
})

/** How WooCommerce words an error: the text of one, or every field with its message; anything else is the end of the script. */
function wooText(body: Value): string {
  if (body === null) return ''
  if (!Array.isArray(body) && typeof (body as Fields).text === 'string') return String((body as Fields).text)
  const errors = Object.values(body as Fields[]).map((each) => {
    if (typeof each.field !== 'string' || typeof each.message !== 'string') throw new TypeError('Cannot access offset on this')
    return `${each.field}:${each.message}`
  })
  return errors.join(' ')
}

/** What WooCommerce makes of a price: a float that happens to be whole. */
const wooAmount = (total: number) => Math.ceil(Number((total * 100).toFixed(6)))

/** Whether WooCommerce believes that an order was paid. */
function wooPaid(transaction: Fields, order: { total: number; currency: string }): boolean {
  const { successful, currency, amount } = transaction
  return Number(successful) === 1 && currency === order.currency && amount === wooAmount(order.total)
}

describe('WooCommerce', () => {
  test('the key is checked by the public keys of all merchants of the app, page by page', async () => {
    const { shop, php } = await arrange()
    const keys = [shop.key]
    for (let count = 1; count < 13; count++) {
      service.now.advance(1)
      const { key } = await php.post('merchants', { ...merchantAttributes, test: count % 2 === 0 }, 'merchant')
      keys.unshift(String(key))
    }
    const { id } = await php.get('me', 'identity')
    const merchants = await php.find(`identities/${id}/merchants`)
    expect(merchants.map(({ key }) => key)).toEqual(keys)
    expect(merchants.filter(({ test }) => test).map(({ key }) => key)).toEqual(keys.filter((_, index) => index % 2 === 0))
    const problem = await phpClient(shop.key)
      .get('me', 'identity')
      .catch((problem) => problem)
    expect([problem.name, wooText(problem.body)]).toEqual(['Unauthorized', ''])
  })

  test('instant capture and saved cards are offered, for the merchant may do both', async () => {
    const { shop, php } = await arrange()
    const { claim } = await php.get(`merchants/${shop.id}`, 'merchant')
    expect(claim).toMatchObject({ canCapture: true, canSaveCard: true })
  })

  const custom = {
    orderId: 'Could not be determined at this point',
    products: Array.from({ length: 20 }, (_, index) => ({
      ID: index,
      name: `Kaffe ☕ “${index}”`,
      quantity: 1,
      url: 'https://shop.test/?p=1',
    })),
    rows: [
      ['a', 1],
      ['b', 2.5],
    ],
    customer: { name: 'Søren', email: 'a@b.dk', phoneNo: '', address: null, IP: '::1' },
    platform: { name: 'WordPress', version: '6.4' },
    ecommerce: { name: 'WooCommerce', version: '8' },
    paylikePluginVersion: '3.3.0',
    empty: [],
  }

  test('a delayed order is checked and noted; what the popup sent along is kept as it came', async () => {
    const order = { total: 19.99, currency: 'EUR' }
    const { php, transactionId } = await arrange({ amount: 1999, custom })
    const transaction = await php.get(`transactions/${transactionId}`, 'transaction')
    expect(wooPaid(transaction, order)).toBe(true)
    expect(wooPaid(transaction, { ...order, total: 20 })).toBe(false)
    expect(transaction).toMatchObject({ id: transactionId, created: service.now().toISOString(), custom })
    // What a saved payment method is shown by.
    expect(transaction.card).toMatchObject({ last4: '0000', scheme: 'visa' })
  })

  test.each(['1999', '1999.0', '"1999"'])('an order is captured at once with an amount of %s', async (amount) => {
    const { shop, transactionId } = await arrange({ amount: 1999 })
    const headers = {
      ...{ authorization: shop.authorization, accept: 'application/vnd.api+json', 'content-type': 'application/vnd.api+json' },
    }
    const raw = `{"amount":${amount},"currency":"EUR"}`
    const answer = await service.call(`POST /transactions/${transactionId}/captures`, { headers, raw })
    const { transaction } = answer.json<{ transaction: Fields }>()
    expect(wooPaid(transaction, { total: 19.99, currency: 'EUR' })).toBe(true)
    expect(transaction).toMatchObject({ id: transactionId, capturedAmount: 1999, created: service.now().toISOString() })
  })

  test('what floating point makes of a price is refused in words that can be shown', async () => {
    const { php, transactionId } = await arrange({ amount: 1999 })
    const problem = await php
      .request('POST', `transactions/${transactionId}/captures`, { amount: 1998.9999999999998 })
      .catch((e) => e)
    expect([problem.name, wooText(problem.body)]).toEqual(['InvalidRequest', 'amount:Must be a whole number'])
  })

  test('what was captured is refunded, what was not is voided, and the note has its figures', async () => {
    const { php, shop, transactionId } = await arrange({ amount: 1999 })
    await php.post(`transactions/${transactionId}/captures`, { amount: 1999, currency: 'EUR' }, 'transaction')
    const refunded = await php.post(`transactions/${transactionId}/refunds`, { amount: 500 }, 'transaction')
    expect(refunded).toMatchObject({ successful: true, refundedAmount: 500, id: transactionId, currency: 'EUR' })
    const other = await pay(service, shop, { amount: 1999 })
    const voided = await php.post(`transactions/${other}/voids`, { amount: 1999 }, 'transaction')
    expect(voided).toMatchObject({ successful: true, voidedAmount: 1999, created: service.now().toISOString() })
  })

  test.each<[string, string, Fields, string]>([
    ['too much', 'refunds', { amount: 2000 }, 'amount:Can refund at most EUR 0'],
    ['no amount at all, which PHP writes as a list', 'refunds', {}, ''],
    ['another currency', 'captures', { amount: 1, currency: 'USD' }, 'currency:Must be EUR, the currency of the transaction'],
    ['several wrong fields', 'captures', { amount: 'x', currency: 7 }, 'amount:'],
    ['a descriptor with an ø', 'captures', { amount: 1, descriptor: 'Smørrebrød' }, 'descriptor:Invalid descriptor'],
  ])('%s is a 400 that it can word', async (_, what, fields, start) => {
    const { php, transactionId } = await arrange()
    const problem = await php.request('POST', `transactions/${transactionId}/${what}`, fields).catch((problem) => problem)
    expect(problem.name).toBe('InvalidRequest')
    expect(wooText(problem.body)).toMatch(new RegExp(`^${start}.*`))
    expect(wooText(problem.body)).not.toBe('')
  })

  test('a subscription is renewed from the first payment and from every renewal, with the card of the day', async () => {
    const { php, shop, transactionId } = await arrange({ amount: 1999 })
    const renew = async (source: Fields) => {
      const given = { amount: 1999, currency: 'EUR', custom: { email: 'ann@example.com' }, ...source }
      const { id } = await php.post(`merchants/${shop.id}/transactions`, given, 'transaction')
      const captured = await php.post(`transactions/${id}/captures`, { amount: 1999, currency: 'EUR' }, 'transaction')
      expect(wooPaid(captured, { total: 19.99, currency: 'EUR' })).toBe(true)
      expect(captured).toMatchObject({ recurring: true, custom: { email: 'ann@example.com' } })
      return String(id)
    }
    let source = transactionId
    // It keeps the id of the last renewal, not of the first payment.
    for (let month = 0; month < 3; month++) source = await renew({ transactionId: source })
    const { id: cardId } = await php.post(`merchants/${shop.id}/cards`, { transactionId }, 'card')
    await renew({ cardId: String(cardId) })
  })

  test.each([
    ['lost', 10, 'Card rejected'],
    ['expired', 6, 'Card expired'],
    ['disabled', 9, 'Card restricted'],
  ])('a renewal with a card that is %s by now is a 400 with a text to show', async (status, code, text) => {
    const { php, shop, transactionId } = await arrange()
    await service.app.db`update pay.transactions set simulation = ${new Json({ card: { status } })} where id = ${transactionId}`
    const given = { amount: 300, currency: 'EUR', custom: { email: 'ann@example.com' }, transactionId }
    const problem = await php.post(`merchants/${shop.id}/transactions`, given, 'transaction').catch((problem) => problem)
    expect([problem.name, wooText(problem.body), problem.body.code]).toEqual(['InvalidRequest', text, code])
  })
})

/** The small adapter inside PrestaShop, OpenCart and Magento: it decodes whatever comes, whatever the status was. */
function adapter({ app }: Shop) {
  return async (method: 'get' | 'post', path: string, fields?: Fields): Promise<Value> => {
    const headers = {
      ...{ authorization: `Basic ${Buffer.from(`:${app.key}`).toString('base64')}`, 'x-client': 'PHP 1.1.2' },
      ...{ accept: 'application/json', 'content-type': 'application/json' },
    }
    const raw = fields === undefined ? '' : jsonEncode(fields)
    const { text } = await service.call(`${method.toUpperCase()} /${path}`, { headers, ...(method === 'post' ? { raw } : {}) })
    try {
      return JSON.parse(text)
    } catch {
      return null
    }
  }
}

/** What these plugins take for a payment that went well: no error that is 1 on top, and a transaction. */
function believed(output: Value): Fields | undefined {
  if (typeof output !== 'object' || output === null) return undefined
  const { error, transaction } = output as Fields
  // Loosely, as they compare: `true` is 1, too.
  return Number(error) === 1 ? undefined : ((transaction as Fields | undefined) ?? undefined)
}

describe('the adapter of PrestaShop, OpenCart and Magento 2', () => {
  test('a delayed order is fetched and written down', async () => {
    const { shop, transactionId } = await arrange({ amount: 1999 })
    const fetched = believed(await adapter(shop)('get', `transactions/${transactionId}`))
    expect(fetched).toMatchObject({ currency: 'EUR', amount: 1999, capturedAmount: 0, successful: true })
    expect(fetched).toMatchObject({ created: service.now().toISOString(), error: false })
  })

  test('PrestaShop captures with an empty descriptor, refunds and voids', async () => {
    const { shop, transactionId } = await arrange({ amount: 1999 })
    const request = adapter(shop)
    const move = async (what: string, fields: Fields) =>
      believed(await request('post', `transactions/${transactionId}/${what}`, fields))
    const captured = await move('captures', { currency: 'EUR', amount: 1000, descriptor: '' })
    expect(captured).toMatchObject({ capturedAmount: 1000, trail: [{ descriptor: 'Coffee & John' }] })
    expect(await move('refunds', { descriptor: '', amount: 400 })).toMatchObject({ refundedAmount: 400 })
    expect(await move('voids', { amount: 999 })).toMatchObject({ voidedAmount: 999, pendingAmount: 0 })
  })

  test('Magento sends the currency with refunds and voids, too', async () => {
    const { shop, transactionId } = await arrange({ amount: 1999 })
    const request = adapter(shop)
    for (const [what, field] of [
      ['captures', 'capturedAmount'],
      ['refunds', 'refundedAmount'],
      ['voids', 'voidedAmount'],
    ] as const) {
      const moved = believed(await request('post', `transactions/${transactionId}/${what}`, { amount: 500, currency: 'EUR' }))
      expect(moved).toMatchObject({ [field]: 500 })
    }
  })

  test('OpenCart voids what is left of an order and is told when nothing is', async () => {
    const { shop, transactionId } = await arrange({ amount: 2000 })
    const request = adapter(shop)
    expect(
      believed(await request('post', `transactions/${transactionId}/voids`, { amount: Math.ceil(19.99 * 100) })),
    ).toMatchObject({
      pendingAmount: 1,
    })
    const output = await request('post', `transactions/${transactionId}/voids`, { amount: 2 })
    expect(believed(output)).toBeUndefined()
    expect((output as Fields[])[0]).toEqual({ field: 'amount', message: 'Can void at most EUR 0.01' })
  })

  test('nothing that was refused looks like a payment, whatever it looks like', async () => {
    const { shop, transactionId } = await arrange()
    const request = adapter(shop)
    const outputs = [
      await request('get', 'transactions/wrong_id'),
      await request('get', `transactions/${'f'.repeat(24)}`),
      await request('post', `transactions/${transactionId}/captures`),
      await request('post', `transactions/${transactionId}/captures`, { amount: 301 }),
      await request('post', 'transactions//captures', { amount: 1 }),
      await adapter({ ...shop, app: { id: '', key: 'nobody' } })('get', `transactions/${transactionId}`),
    ]
    for (const output of outputs) expect(believed(output)).toBeUndefined()
  })

  test('glFusion captures what is pending and gets exactly that', async () => {
    const { php, transactionId } = await arrange({ amount: 1234 })
    const { pendingAmount, currency, amount } = await php.get(`transactions/${transactionId}`, 'transaction')
    expect([amount, pendingAmount]).toEqual([1234, 1234])
    const given = { amount: Number(pendingAmount), currency: String(currency) }
    const { capturedAmount } = await php.post(`transactions/${transactionId}/captures`, given, 'transaction')
    expect(capturedAmount).toBe(pendingAmount)
  })
})
