import { type Called, say } from '@tollgate/kit/testing'
import { basic, createApp, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { merchantAttributes, openShop, type Payments, pay, type Shop } from './payments-service.ts'

// What every answer looks like, to the byte, and what every endpoint puts up with: the same for all, so told for all.
let service: Payments
let shop: Shop
/** One of everything. */
let there: Record<'transaction' | 'line' | 'card' | 'dispute' | 'fraud', string>
beforeAll(async () => {
  service = await startPayments({ PAY_EXCHANGE_MAX_AGE: '0' })
  shop = await openShop(service)
  const transactionId = await pay(service, shop)
  const { transaction } = await posted<{ transaction: { trail: { lineId: string }[] } }>(
    `transactions/${transactionId}/captures`,
    {
      amount: 300,
    },
  )
  const { card } = await posted<{ card: { id: string } }>(`merchants/${shop.id}/cards`, { transactionId })
  const { dispute } = await posted<{ dispute: { id: string } }>(`merchants/${shop.id}/simulator/disputes`, { transactionId })
  const { fraud } = await posted<{ fraud: { id: string } }>(`merchants/${shop.id}/simulator/frauds`, { transactionId })
  await posted(`merchants/${shop.id}/users`, { email: 'ann@example.com' })
  there = {
    transaction: transactionId,
    line: transaction.trail[0]?.lineId ?? '',
    card: card.id,
    dispute: dispute.id,
    fraud: fraud.id,
  }
})
afterAll(() => service.stop())

async function posted<Body>(path: string, json: object): Promise<Body> {
  const answer = await ask(`POST /${path}`, { json })
  expect(answer.status, answer.text).toBe(201)
  return answer.json<Body>()
}

function ask(what: string, { headers = {}, ...more }: Parameters<Payments['call']>[1] = {}): Promise<Called> {
  return service.call(what, { headers: { authorization: shop.authorization, ...headers }, ...more })
}

/** Every URL that tells one thing, and the key that is around it. */
const things: [path: string, key: string | undefined][] = [
  ['/me', 'identity'],
  ['/merchants/{merchant}', 'merchant'],
  ['/transactions/{transaction}', 'transaction'],
  ['/cards/{card}', 'card'],
  ['/disputes/{dispute}', 'dispute'],
  ['/frauds/{fraud}', 'fraud'],
  ['/lines/{line}', undefined],
]

/** Every URL that tells a list, as a query can be added to it, and what it holds one of. */
const lists = [
  '/identities/{app}/merchants?',
  '/merchants/{merchant}/users?',
  '/merchants/{merchant}/apps?',
  '/merchants/{merchant}/lines?',
  '/merchants/{merchant}/transactions?',
  '/disputes?filter[merchantId]={merchant}&',
  '/frauds?filter[merchantId]={merchant}&',
]

const fill = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ({ ...there, merchant: shop.id, app: shop.app.id })[name] ?? `{${name}}`)

const everyAnswer = {
  'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
  'strict-transport-security': 'max-age=31536000; includeSubdomains; preload',
  // What the sheet has, and two directives that default-src does not stand in for.
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  vary: expect.stringMatching(/(^|, )Accept-Encoding$/),
}

const json = 'application/json; charset=utf-8'

describe('answers', () => {
  test.each(things)('%s is one line of JSON that ends, with one key around it: %s', async (path, key) => {
    const answer = await ask(`GET ${fill(path)}`)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, json])
    expect(answer.text).toMatch(/^\{[^\n]*\}\n$/)
    expect(answer.text).toBe(`${JSON.stringify(answer.json())}\n`)
    if (key === undefined) return expect(answer.json()).toHaveProperty('id')
    expect(Object.keys(answer.json())).toEqual([key])
    expect(answer.json<Record<string, object>>()[key]).toHaveProperty('id')
  })

  test.each(lists)('%s has a bracket, an element and a bracket on a line each', async (path) => {
    const answer = await ask(`GET ${fill(path)}limit=10`)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, json])
    const elements = answer.json<object[]>().map((element) => JSON.stringify(element))
    expect(elements.length).toBeGreaterThan(0)
    expect(answer.text).toBe(`[\n${elements.join(',\n')}\n]\n`)
    const none = await ask(`GET ${fill(path)}limit=10&before=${'0'.repeat(24)}`)
    expect([none.status, none.headers['content-type'], none.text]).toEqual([200, json, '[\n]\n'])
  })

  test('elements of a list are what is told of one of them, to the byte', async () => {
    for (const [list, path] of [
      [lists[0], '/merchants/{merchant}'],
      [lists[4], '/transactions/{transaction}'],
      [lists[5], '/disputes/{dispute}'],
      [lists[6], '/frauds/{fraud}'],
    ] as const) {
      const one = await ask(`GET ${fill(path)}`)
      expect(await elementsOf(list ?? '')).toContain(one.text.replace(/^\{"\w+":(.*)\}\n$/, '$1'))
    }
    const line = await ask(`GET ${fill('/lines/{line}')}`)
    expect(await elementsOf(lists[3] ?? '')).toContain(line.text.trimEnd())
  })

  const elementsOf = async (list: string) =>
    (await ask(`GET ${fill(list)}limit=1000`)).text.split('\n').map((line) => line.replace(/,$/, ''))

  test('what was made is answered with 201, what was changed or taken away with 204 and nothing', async () => {
    const own = await openShop(service)
    const headers = { authorization: own.authorization }
    const id = await pay(service, own)
    const { id: appId } = await createApp(service.call)
    const merchant = `/merchants/${own.id}`
    const made: [what: string, body: object, keys: string[] | undefined][] = [
      ['POST /apps', {}, ['app']],
      ['POST /merchants', merchantAttributes, ['merchant']],
      [`POST ${merchant}/transactions`, { transactionId: id, amount: 5, currency: 'EUR' }, ['transaction']],
      [`POST ${merchant}/simulator/payments`, { amount: 5, currency: 'EUR' }, ['transaction']],
      [`POST /transactions/${id}/captures`, { amount: 100 }, ['transaction']],
      [`POST /transactions/${id}/refunds`, { amount: 50 }, ['transaction']],
      [`POST /transactions/${id}/voids`, { amount: 100 }, ['transaction']],
      [`POST ${merchant}/cards`, { transactionId: id }, ['card']],
      [`POST ${merchant}/users`, { email: 'bob@example.com' }, ['isMember']],
      [`POST ${merchant}/apps`, { appId }, undefined],
    ]
    for (const [what, body, keys] of made) {
      const answer = await service.call(what, { headers, json: body })
      expect([answer.status, answer.headers], what).toMatchObject([201, everyAnswer])
      if (keys === undefined) expect([answer.text, answer.headers['content-type']], what).toEqual(['', undefined])
      else expect([Object.keys(answer.json()), answer.headers['content-type']], what).toEqual([keys, json])
    }
    const [user] = (await service.call(`GET ${merchant}/users?limit=1`, { headers })).json<{ id: string }[]>()
    for (const what of [`PUT ${merchant}`, `DELETE ${merchant}/users/${user?.id}`, `DELETE ${merchant}/apps/${appId}`]) {
      const answer = await service.call(what, { headers, ...(what.startsWith('PUT') ? { json: { name: 'New' } } : {}) })
      expect([answer.status, answer.text, answer.headers], what).toMatchObject([204, '', everyAnswer])
      expect(answer.headers, what).not.toHaveProperty('content-type')
    }
  })

  test.each(['GET', 'HEAD', 'OPTIONS'])('%s has the headers that every answer has, and an id of its own', async (method) => {
    const [first, second] = [
      await ask(`${method} ${fill('/merchants/{merchant}')}`),
      await ask(`${method} ${fill(`${lists[3]}limit=1`)}`),
    ]
    for (const answer of [first, second]) expect(answer.headers).toMatchObject(everyAnswer)
    expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id'])
    if (method !== 'GET') expect([first.text, second.text]).toEqual(['', ''])
  })

  const big = `{"name":"${'x'.repeat(1_100_000)}"}`
  test.each<[string, () => { what: string; body?: string; headers?: string }]>([
    ['200 OK', () => ({ what: 'GET /me' })],
    ['201 Created', () => ({ what: 'POST /apps' })],
    ['204 No Content', () => ({ what: `PUT /merchants/${shop.id}` })],
    ['400 Bad Request', () => ({ what: `GET /merchants/${shop.id}/lines` })],
    ['401 Unauthorized', () => ({ what: 'GET /me', headers: 'authorization: Basic Og==' })],
    ['404 Not Found', () => ({ what: 'GET /nowhere' })],
    ['405 Method Not Allowed', () => ({ what: 'PATCH /me' })],
    ['413 Payload Too Large', () => ({ what: 'POST /apps', body: big })],
  ])('the status line says %s, for clients show its words', async (line, request) => {
    const { what, body = '', headers = `authorization: ${shop.authorization}` } = request()
    const head = `${what} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n`
    expect((await say(service.origin, head, body)).split('\r\n')[0]).toBe(`HTTP/1.1 ${line}`)
  })

  test('a key that stands for another request has its words, too', async () => {
    const headers = `authorization: ${shop.authorization}\r\nidempotency-key: words\r\ncontent-type: application/json`
    const create = (name: string) => {
      const body = JSON.stringify({ ...merchantAttributes, name })
      return say(
        service.origin,
        `POST /merchants HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
    }
    expect(await create('One')).toMatch(/^HTTP\/1\.1 201 Created\r\n/)
    expect(await create('Two')).toMatch(/^HTTP\/1\.1 422 Unprocessable Entity\r\n/)
  })
})

describe('requests', () => {
  const paths = [...things.map(([path]) => path), ...lists.map((path) => `${path}limit=10`)]

  test.each(paths)('GET %s puts up with a slash at the end, a body, and types that nobody serves', async (path) => {
    const plain = await ask(`GET ${fill(path)}`)
    const slashed = fill(path).replace(/(\?|$)/, '/$1')
    for (const [what, headers, raw] of [
      [slashed, {}, undefined],
      [slashed, { 'content-type': 'application/json' }, '{}'],
      [fill(path), { 'content-type': 'application/json' }, ''],
      [fill(path), { 'content-type': 'application/json' }, '{"not":"json'],
      [fill(path), { 'content-type': 'application/vnd.api+json', accept: 'application/vnd.api+json' }, undefined],
      [fill(path), { accept: 'text/html' }, undefined],
      [fill(path), { accept: 'application/json;q=0' }, undefined],
      [fill(path), { 'accept-encoding': 'gzip, deflate, br' }, undefined],
      [fill(path), { 'x-client': 'PHP 1.0.8', 'user-agent': 'PHP 1.0.0 (php8.2.7)' }, undefined],
    ] as const) {
      const answer = await ask(`GET ${what}`, { headers, ...(raw === undefined ? {} : { raw }) })
      expect([answer.status, answer.text, answer.headers['content-encoding']]).toEqual([200, plain.text, undefined])
    }
  })

  test.each(['captures', 'refunds', 'voids'])(
    'POST …/%s takes a slash at the end, and no body for an empty one',
    async (what) => {
      const path = `POST ${fill('/transactions/{transaction}')}/${what}/`
      for (const [type, raw] of [
        ['application/json', ''],
        ['application/json', '{}'],
        ['application/vnd.api+json', ''],
        ['application/x-www-form-urlencoded', ''],
        ['text/plain', ''],
      ] as const) {
        const answer = await ask(path, { headers: { 'content-type': type }, raw })
        expect([answer.status, answer.text]).toEqual([400, '[{"field":"amount","message":"Required"}]\n'])
      }
    },
  )

  test.each([
    ...['y', 'yes', '1', 'true', 'Y', 'YES', 'True', 'TRUE'].map((text) => [text, true] as const),
    ...['n', 'no', '0', 'false', 'N', 'No', 'False', 'FALSE'].map((text) => [text, false] as const),
  ])('%s is %s in a query and in a form', async (text, meant) => {
    const list = await ask(`GET ${fill(lists[4] ?? '')}limit=10&filter[test]=${text}`)
    expect(list.json<object[]>().length > 0).toBe(meant)
    const { company, ...flat } = merchantAttributes
    const form = { ...flat, test: text, 'company[country]': company.country, 'bank[iban]': 'NL91ABNA0417164300' }
    const { merchant } = (await ask('POST /merchants', { form })).json<{ merchant: Record<string, unknown> }>()
    expect(merchant).toMatchObject({ test: meant, company, bank: { iban: 'NL91ABNA0417164300' } })
  })

  test('a form nests as deep as cards do, and its numbers are texts', async () => {
    const form = { amount: '500', currency: 'EUR', 'card[expiry][month]': '8', 'card[expiry][year]': '2066', 'card[code]': '123' }
    const answer = await ask(`POST /merchants/${shop.id}/simulator/payments`, { form })
    const { id } = answer.json<{ transaction: { id: string } }>().transaction
    expect((await ask(`GET /transactions/${id}`)).json()).toMatchObject({
      transaction: { amount: 500, card: { expiry: '2066-08-31T23:59:59.999Z', code: { present: true } } },
    })
  })

  test('what is false, null or empty is as good as left out, and what nobody knows is passed over', async () => {
    const id = await pay(service, shop)
    const given = { transactionId: id, cardId: false, descriptor: '', currency: 'EUR', amount: 5, custom: null, skip: 7 }
    const made = (await ask(`POST /merchants/${shop.id}/transactions`, { json: given })).json<{ transaction: { id: string } }>()
    expect((await ask(`GET /transactions/${made.transaction.id}`)).json()).toMatchObject({
      transaction: { descriptor: merchantAttributes.descriptor, custom: null },
    })
  })
})

describe('refusals', () => {
  /** Every URL with an id in it, and a body that would be found fault with. */
  const addressed = [
    ...things.slice(1).map(([path]) => `GET ${path}`),
    ...lists.slice(0, 5).map((path) => `GET ${path.slice(0, -1)}`),
    'PUT /merchants/{merchant}',
    ...['users', 'apps', 'cards', 'transactions'].map((what) => `POST /merchants/{merchant}/${what}`),
    ...['captures', 'refunds', 'voids'].map((what) => `POST /transactions/{transaction}/${what}`),
    'DELETE /merchants/{merchant}/users/{app}',
    'DELETE /merchants/{merchant}/apps/{app}',
  ]
  const wrong = (what: string) =>
    /^(POST|PUT)/.test(what) ? { json: { amount: 'x', email: 7, appId: 7, transactionId: 7 } } : {}

  test.each(addressed)('%s asks who it is first, then whether it is there', async (what) => {
    for (const id of [undefined, 'wrong_id', 'f'.repeat(24)]) {
      const path = id === undefined ? fill(what) : what.replaceAll(/\{\w+\}/g, id)
      for (const authorization of ['', 'Basic Og==', basic('nobody')])
        expect((await service.call(path, { headers: { authorization }, ...wrong(what) })).status, path).toBe(401)
    }
    const stranger = await createApp(service.call)
    for (const [path, authorization] of [
      [what.replaceAll(/\{\w+\}/g, 'wrong_id'), shop.authorization],
      [what.replaceAll(/\{\w+\}/g, 'f'.repeat(24)), shop.authorization],
      [what.replaceAll(/\{\w+\}/g, 'F'.repeat(24)), shop.authorization],
      // What is somebody else's is answered like what is nobody's.
      [fill(what), stranger.authorization],
    ] as const) {
      const answer = await service.call(path, { headers: { authorization }, ...wrong(what) })
      expect([answer.status, answer.text, answer.headers['content-type']], path).toEqual([404, '', undefined])
      const told = await service.call(path, { headers: { authorization, accept: 'application/json' }, ...wrong(what) })
      expect(told.json(), path).toEqual({ code: 'not_found', message: expect.any(String) })
    }
  })

  test.each(lists)('%s needs a limit from 1 to 1000, passes over what it does not know, and says why', async (path) => {
    for (const limit of ['', 'limit=', 'limit=0', 'limit=-1', 'limit=1.5', 'limit=ten', 'limit=1001', 'limit=1e2']) {
      const answer = await ask(`GET ${fill(path)}${limit}`)
      expect([answer.status, answer.json()], limit).toEqual([400, [{ field: 'limit', message: expect.any(String) }]])
    }
    for (const [field, query] of [
      ['before', 'before=wrong_id'],
      ['after', 'after=1'],
    ] as const) {
      const answer = await ask(`GET ${fill(path)}limit=1&${query}`)
      expect([answer.status, answer.json()], query).toEqual([400, [{ field, message: expect.any(String) }]])
    }
    const all = await ask(`GET ${fill(path)}limit=1000`)
    for (const query of ['sort=x', 'sort[created]=-1', 'skip=5', 'filter[unknown]=1', 'filter%5Bunknown%5D%5Bdeep%5D=1']) {
      const answer = await ask(`GET ${fill(path)}limit=1000&${query}`)
      expect([answer.status, answer.text], query).toEqual([200, all.text])
    }
  })

  test.each(['disputes', 'frauds'])('%s are those of a merchant, which has to be named', async (what) => {
    const answer = await ask(`GET /${what}?limit=10`)
    expect(answer.status).toBe(400)
    expect(answer.json<{ field: string }[]>()[0]?.field).toMatch(/^filter/)
    const stranger = await createApp(service.call)
    const foreign = await service.call(`GET /${what}?limit=10&filter[merchantId]=${shop.id}`, {
      headers: { authorization: stranger.authorization },
    })
    expect(foreign.text).not.toContain(shop.id)
  })

  test.each([
    [3, 'Invalid card number', true, false],
    [4, 'Invalid security code (CSC)', true, false],
    [5, 'Invalid expire date', true, false],
    [6, 'Card expired', true, false],
    [7, 'Insufficient funds', true, false],
    [8, 'Declined by cardholder bank', true, false],
    [9, 'Card restricted', true, false],
    [10, 'Card rejected', true, false],
    [11, 'Transaction rejected', true, true],
    [12, 'Error, please try again or contact us', true, true],
    [25, 'Card amount limit exceeded', true, false],
    [29, 'Invalid card number or card not supported', true, false],
    [30, '3-D Secure is required', true, false],
    [31, '3-D Secure failed', true, false],
  ])('processing error %i is "%s" under both names, for payer %s, for merchant %s', async (code, text, client, merchant) => {
    const number = `41000000000000${String(code).padStart(2, '0')}`
    const answer = await ask(`POST /merchants/${shop.id}/simulator/payments`, {
      json: { amount: 5, currency: 'EUR', card: { number } },
    })
    expect([answer.status, answer.headers['content-type']]).toEqual([400, json])
    expect(answer.text).toMatch(/^\{"code":[^\n]*\}\n$/)
    const error = { code, message: text, text, client, merchant }
    const { response, ...told } = answer.json<{ response: { transaction: { id: string } } }>()
    expect(told).toEqual(error)
    const kept = (await ask(`GET /transactions/${response.transaction.id}`)).json()
    expect(kept).toMatchObject({ transaction: { successful: false, error, pendingAmount: 0, amount: 5, trail: [] } })
    expect(await list('successful=0')).toContain(response.transaction.id)
    expect(await list('successful=1')).not.toContain(response.transaction.id)
  })

  const list = async (filter: string) =>
    (await ask(`GET ${fill(lists[4] ?? '')}limit=1000&filter[${filter.replace('=', ']=')}`)).text
})

describe('objects', () => {
  test('a merchant has what the clients know of it', async () => {
    const { merchant } = (await ask(`GET /merchants/${shop.id}`)).json<{ merchant: Record<string, unknown> }>()
    // Of ours beside those: how its page looks, and what is done about plans.
    const { accent, plans, ...known } = merchant
    expect([accent, plans]).toEqual([null, 'record'])
    expect(Object.keys(known).toSorted()).toEqual(
      'balance bank claim company created currency descriptor email id key name pricing tds test website'.split(' '),
    )
    const claim = {
      canChargeCard: true,
      canSaveCard: true,
      canTransferToCard: false,
      canCapture: true,
      canRefund: true,
      canVoid: true,
    }
    const sum = { currency: 'EUR', amount: expect.any(Number) }
    const price = { rate: 0.025, flat: sum, dispute: sum }
    expect(merchant).toMatchObject({ bank: {}, name: null, claim, pricing: { ...price, transfer: { toCard: price } } })
    expect(['attempt', 'full']).toContain((merchant.tds as { mode: string }).mode)
    const lines = (await ask(`GET /merchants/${shop.id}/lines?limit=1000`)).json<{ balance: number }[]>()
    expect(merchant.balance).toBe(lines.reduce((total, { balance }) => total + balance, 0))
  })

  test('a transaction nobody captured has none for custom, none for 3-D Secure and false for error', async () => {
    const id = await pay(service, shop)
    const { transaction } = (await ask(`GET /transactions/${id}`)).json<{ transaction: object }>()
    expect(transaction).toMatchObject({ tds: 'none', custom: null, error: false, recurring: false, successful: true, trail: [] })
  })

  test('a trail tells oldest first what happened, each with one mark', async () => {
    const own = await openShop(service)
    const headers = { authorization: own.authorization }
    const move = async (what: string, body: object) => {
      service.now.advance(60)
      return (await service.call(`POST ${what}`, { headers, json: body })).json<Record<string, { id: string }>>()
    }
    const id = await pay(service, own, { amount: 1000 })
    await move(`/transactions/${id}/captures`, { amount: 500 })
    await move(`/transactions/${id}/refunds`, { amount: 100 })
    await move(`/transactions/${id}/voids`, { amount: 200 })
    const { dispute } = await move(`/merchants/${own.id}/simulator/disputes`, { transactionId: id, amount: 300 })
    const read = async () =>
      (await service.call(`GET /transactions/${id}`, { headers })).json<{ transaction: { trail: Record<string, unknown>[] } }>()
        .transaction
    const open = await read()
    expect(open).toMatchObject({
      pendingAmount: 300,
      capturedAmount: 500,
      refundedAmount: 100,
      voidedAmount: 200,
      disputedAmount: 300,
    })
    expect(open.trail.map((entry) => Object.keys(entry).join(' '))).toEqual([
      'fee amount balance created capture descriptor lineId',
      'fee amount balance created refund descriptor lineId',
      'fee amount balance created void',
      'fee amount balance created dispute lineId',
    ])
    expect(open.trail.at(-1)?.dispute).toEqual({ id: dispute?.id })
    const dates = open.trail.map(({ created }) => String(created))
    expect(dates).toEqual(dates.toSorted())
    for (const date of dates) expect(date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    await move(`/merchants/${own.id}/simulator/disputes/${dispute?.id}/decisions`, { won: false })
    const decided = (await read()).trail.filter((entry) => entry.dispute !== undefined)
    expect(decided.map((entry) => entry.dispute)).toContainEqual({ id: dispute?.id, lost: true })
    for (const { amount } of (await read()).trail) expect(amount).toBeGreaterThan(0)
    const lines = (await service.call(`GET /merchants/${own.id}/lines?limit=10`, { headers })).json<Record<string, unknown>[]>()
    for (const line of lines)
      expect(['capture', 'refund', 'payout', 'dispute'].filter((mark) => line[mark] === true)).toHaveLength(1)
  })

  test.each(['x', 'x'.repeat(22), ' !"#$%&\'()*+,-./', '0123456789:;<=>?@', '[\\]^_`{|}~', '1234567897891234'])(
    'a descriptor of %j is taken, and falls to transactions, captures and refunds that have none',
    async (descriptor) => {
      const own = await openShop(service, { descriptor })
      const id = await pay(service, own)
      const move = async (what: string, body: object) =>
        (
          await service.call(`POST /transactions/${id}/${what}`, { headers: { authorization: own.authorization }, json: body })
        ).json<{
          transaction: { descriptor: string; trail: { descriptor?: string }[] }
        }>().transaction
      await move('captures', { amount: 100 })
      await move('captures', { amount: 100, descriptor: 'Own' })
      const { trail, ...transaction } = await move('refunds', { amount: 1, descriptor: '' })
      expect(transaction.descriptor).toBe(descriptor)
      expect(trail.map((entry) => entry.descriptor)).toEqual([descriptor, 'Own', descriptor])
    },
  )

  test('a descriptor of the transaction goes before that of the merchant', async () => {
    const id = await pay(service, shop, { descriptor: 'Order 7' })
    const answer = await ask(`POST /transactions/${id}/captures`, { json: { amount: 1 } })
    expect(answer.json()).toMatchObject({ transaction: { descriptor: 'Order 7', trail: [{ descriptor: 'Order 7' }] } })
  })

  test.each(['x'.repeat(23), 'Smørrebrød', 'tab\t', '\u007f', '✓'])(
    'a descriptor of %j is refused, not cut',
    async (descriptor) => {
      const problem = [{ field: 'descriptor', message: 'Invalid descriptor (see https://github.com/paylike/descriptor)' }]
      const id = await pay(service, shop)
      for (const [what, body] of [
        ['POST /merchants', { ...merchantAttributes, descriptor }],
        [`PUT /merchants/${shop.id}`, { descriptor }],
        [`POST /merchants/${shop.id}/transactions`, { transactionId: id, amount: 1, currency: 'EUR', descriptor }],
        [`POST /transactions/${id}/captures`, { amount: 1, descriptor }],
      ] as const) {
        const answer = await ask(what, { json: body })
        expect([answer.status, answer.json()], what).toEqual([400, problem])
      }
    },
  )
})
