import { oneProcess } from '@tollgate/kit/testing'
import { startPayments } from '@tollgate/payments/testing'
import Paylike from 'paylike'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { merchantAttributes, openShop, type Payments, pay } from './payments-service.ts'

// The official client from npm, as it is, through everything that it offers.
let service: Payments
beforeAll(async () => {
  service = await oneProcess('it lists what was made in one millisecond, which only one process has in order', () =>
    startPayments({ PAY_EXCHANGE_MAX_AGE: '0' }),
  )
})
afterAll(() => service.stop())

const client = (key?: string) => Paylike(key, { url: service.origin })

/** The client of an app that has a merchant which a customer has paid 300 EUR. */
async function arrange(payment: object = {}) {
  const shop = await openShop(service)
  return { shop, paylike: client(shop.app.key), transactionId: await pay(service, shop, payment) }
}

/** What a call was refused with. */
function refusal(call: Promise<unknown>): Promise<Error & { data?: unknown }> {
  return call.then(
    (value) => Promise.reject(new Error(`It was not refused: ${JSON.stringify(value)}`)),
    (problem) => problem,
  )
}

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id)
const anId = expect.stringMatching(/^[0-9a-f]{24}$/)
const aUuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

test('an app is made with a name or without, whatever key is at hand', async () => {
  for (const key of [undefined, '', 'no key of anybody', '4ff7de37-dddf-4e51-8cc9-48b61a102923']) {
    expect(await client(key).apps.create({ name: 'Coffee & John' })).toEqual({ id: anId, name: 'Coffee & John', key: aUuid })
    expect(await client(key).apps.create()).toEqual({ id: anId, name: null, key: aUuid })
  }
})

test('the key of an app is taken as an argument, as an option and later', async () => {
  const { id, key } = await client().apps.create({ name: 'Keyed' })
  const told = { id, name: 'Keyed', created: service.now().toISOString() }
  expect(await client(key).apps.findOne()).toEqual(told)
  expect(await Paylike(undefined, { url: service.origin, key }).apps.findOne()).toEqual(told)
  const paylike = client('nobody')
  paylike.setKey(key)
  expect(await paylike.apps.findOne()).toEqual(told)
})

test('merchants are made, told and listed alike', async () => {
  const { id: appId, key } = await client().apps.create()
  const paylike = client(key)
  expect(await paylike.apps.merchants.find(appId).toArray()).toEqual([])
  const id = await paylike.merchants.create(merchantAttributes)
  const merchant = await paylike.merchants.findOne(id)
  expect(merchant).toMatchObject({ ...merchantAttributes, id, key: aUuid, name: null, balance: 0 })
  expect(await paylike.apps.merchants.find(appId).limit(10).toArray()).toEqual([merchant])
})

test('a filter leaves what it names, as in the full list', async () => {
  const { id: appId, key } = await client().apps.create()
  const { merchants, apps } = client(key)
  for (const test of [true, false, true, false, true]) {
    service.now.advance(1)
    await merchants.create({ ...merchantAttributes, test })
  }
  const all = await apps.merchants.find(appId).limit(10).toArray()
  expect(all.map(({ test }) => test)).toEqual([true, false, true, false, true])
  expect(await apps.merchants.find(appId).filter({ test: true }).limit(2).toArray()).toEqual([all[0], all[2]])
  expect(await apps.merchants.find(appId).filter({ test: false }).toArray()).toEqual([all[1], all[3]])
  expect(
    await apps.merchants
      .find(appId)
      .filter({ unknown: { deep: 1 } })
      .sort({ created: -1 })
      .toArray(),
  ).toEqual(all)
})

test('a merchant without anything is a validation error with a list of fields', async () => {
  const { paylike } = await arrange()
  const problem = await refusal(paylike.merchants.create())
  expect(problem).toBeInstanceOf(paylike.ValidationError)
  expect(problem.message).toBe('Bad Request')
  expect(problem.data).toContainEqual({ field: 'currency', message: 'Required' })
})

test('changing a merchant says nothing', async () => {
  const { paylike, shop } = await arrange()
  expect(await paylike.merchants.update(shop.id, { name: 'Coffee John' })).toBeUndefined()
  expect(await paylike.merchants.findOne(shop.id)).toMatchObject({ name: 'Coffee John', email: 'john@example.com' })
  const problem = await refusal(paylike.merchants.update(shop.id, { currency: 'USD' }))
  expect(problem.data).toEqual([{ field: 'currency', message: 'Cannot be changed' }])
})

test('people are added, found and revoked', async () => {
  const { paylike, shop } = await arrange()
  const { users } = paylike.merchants
  expect(await users.add(shop.id, { email: 'one@example.com' })).toBeUndefined()
  expect(await users.add(shop.id, { email: 'one@example.com' })).toBeUndefined()
  const found = await users.find(shop.id).limit().toArray()
  expect(found).toEqual([{ id: anId, created: service.now().toISOString(), email: 'one@example.com', name: null }])
  expect(await users.revoke(shop.id, found[0]?.id ?? '')).toBeUndefined()
  expect(await users.find(shop.id).limit().toArray()).toEqual([])
  expect(await refusal(users.revoke(shop.id, found[0]?.id ?? ''))).toBeInstanceOf(paylike.NotFoundError)
  expect(await refusal(users.add(shop.id, {}))).toMatchObject({ data: [{ field: 'email', message: 'Required' }] })
})

test('apps are added, even again, found and revoked, even by themselves', async () => {
  const { paylike, shop } = await arrange()
  const { apps } = paylike.merchants
  const own = { id: shop.app.id, name: 'Shop', key: shop.app.key, created: service.now().toISOString() }
  service.now.advance(1)
  const helper = await paylike.apps.create({ name: 'Helper' })
  for (let count = 0; count < 2; count++) expect(await apps.add(shop.id, { appId: helper.id })).toBeUndefined()
  expect(await apps.add(shop.id, { appId: shop.app.id })).toBeUndefined()
  const created = service.now().toISOString()
  expect(await apps.find(shop.id).limit().toArray()).toEqual([{ id: helper.id, name: 'Helper', created }, own])
  expect(await apps.revoke(shop.id, helper.id)).toBeUndefined()
  expect(await apps.find(shop.id).limit().toArray()).toEqual([own])
  expect(await apps.revoke(shop.id, shop.app.id)).toBeUndefined()
  expect(await refusal(paylike.merchants.findOne(shop.id))).toBeInstanceOf(paylike.NotFoundError)
})

test('a transaction is made from an earlier one, and told with all that was given', async () => {
  const { paylike, shop, transactionId } = await arrange()
  const custom = { source: 'node client test', nested: { list: [1, 'zwei', null, { tre: false }], text: 'a\nb ✓ 🍺' } }
  const given = { transactionId, currency: 'EUR', amount: 200, descriptor: 'Awesome #5011', custom }
  const id = await paylike.merchants.transactions.create(shop.id, given)
  expect(id).toEqual(anId)
  const transaction = await paylike.transactions.findOne(id)
  expect(transaction).toMatchObject({ id, merchantId: shop.id, amount: 200, pendingAmount: 200, recurring: true, error: false })
  expect(transaction).toMatchObject({ descriptor: 'Awesome #5011', custom, successful: true, trail: [] })
  expect(idsOf(await paylike.merchants.transactions.find(shop.id).limit(3).toArray())).toEqual([id, transactionId])
})

test('a transaction is captured in parts', async () => {
  const { paylike, transactionId } = await arrange()
  expect(await paylike.transactions.capture(transactionId, { currency: 'EUR', amount: 100 })).toBeUndefined()
  const first = await paylike.transactions.findOne(transactionId)
  expect(first).toMatchObject({ capturedAmount: 100, pendingAmount: 200, trail: [{ capture: true, amount: 100 }] })
  expect(await paylike.transactions.capture(transactionId, { amount: 200, descriptor: 'The rest' })).toBeUndefined()
  const second = await paylike.transactions.findOne(transactionId)
  expect(second).toMatchObject({ capturedAmount: 300, pendingAmount: 0 })
  expect(second.trail.map(({ descriptor }) => descriptor)).toEqual(['Coffee & John', 'The rest'])
})

test('what was captured is refunded', async () => {
  const { paylike, transactionId } = await arrange()
  await paylike.transactions.capture(transactionId, { currency: 'EUR', amount: 200 })
  expect(await paylike.transactions.refund(transactionId, { amount: 120 })).toBeUndefined()
  const transaction = await paylike.transactions.findOne(transactionId)
  expect(transaction).toMatchObject({ capturedAmount: 200, pendingAmount: 100, refundedAmount: 120 })
  expect(transaction.trail).toMatchObject([{ capture: true }, { refund: true, amount: 120 }])
})

test('what is reserved is voided', async () => {
  const { paylike, transactionId } = await arrange()
  expect(await paylike.transactions.void(transactionId, { amount: 260 })).toBeUndefined()
  const transaction = await paylike.transactions.findOne(transactionId)
  expect(transaction).toMatchObject({ voidedAmount: 260, pendingAmount: 40, trail: [{ void: true, amount: 260 }] })
})

test('the lines of a merchant are its captures and refunds, newest first', async () => {
  const { paylike, shop, transactionId } = await arrange()
  expect(await paylike.merchants.lines.find(shop.id).toArray()).toEqual([])
  await paylike.transactions.capture(transactionId, { amount: 300 })
  await paylike.transactions.refund(transactionId, { amount: 300 })
  const lines = await paylike.merchants.lines.find(shop.id).toArray()
  const { trail } = await paylike.transactions.findOne(transactionId)
  expect(idsOf(lines)).toEqual(trail.map(({ lineId }) => lineId).toReversed())
  expect(lines).toMatchObject([{ refund: true }, { capture: true }])
  expect(await paylike.merchants.lines.find(shop.id).limit(1).toArray()).toEqual([lines[0]])
  const balance = lines.reduce((sum, line) => sum + Number(line.balance), 0)
  expect(await paylike.merchants.findOne(shop.id)).toMatchObject({ balance })
})

test('a card is saved, told and charged', async () => {
  const { paylike, shop, transactionId } = await arrange()
  const id = await paylike.cards.create(shop.id, { transactionId })
  expect(await paylike.cards.findOne(id)).toEqual({
    ...{ id, merchantId: shop.id, created: service.now().toISOString(), bin: '410000', last4: '0000', scheme: 'visa' },
    ...{ expiry: '2066-08-31T23:59:59.999Z', notes: null, deleted: null },
  })
  const noted = await paylike.cards.create(shop.id, { transactionId, notes: 'Ann’s' })
  expect(await paylike.cards.findOne(noted)).toMatchObject({ notes: 'Ann’s' })
  const charged = await paylike.merchants.transactions.create(shop.id, { cardId: id, currency: 'EUR', amount: 5 })
  expect(await paylike.transactions.findOne(charged)).toMatchObject({ amount: 5, card: { last4: '0000' }, recurring: true })
})

test('every call may have a callback instead', async () => {
  const { paylike, shop, transactionId } = await arrange()
  const called = (call: (callback: (problem: unknown, value?: unknown) => void) => Promise<unknown>) =>
    new Promise((resolve) => {
      // Who takes the callback does not look at the promise.
      call((problem, value) => resolve(problem ? { problem } : { value })).catch(() => {})
    })
  expect(await called((done) => paylike.apps.findOne(done))).toMatchObject({ value: { id: shop.app.id } })
  expect(await called((done) => paylike.merchants.findOne(shop.id, done))).toMatchObject({ value: { id: shop.id } })
  expect(await called((done) => paylike.merchants.update(shop.id, {}, done))).toEqual({ value: undefined })
  expect(await called((done) => paylike.transactions.capture(transactionId, { amount: 1 }, done))).toEqual({ value: undefined })
  expect(await called((done) => paylike.merchants.lines.find(shop.id).toArray(done))).toMatchObject({
    value: [{ capture: true }],
  })
  const refused = await called((done) => paylike.transactions.refund(transactionId, { amount: 2 }, done))
  expect(refused).toMatchObject({ problem: { data: [{ field: 'amount', message: 'Can refund at most EUR 0.01' }] } })
})

test('who has no key, or a wrong one, is an authorization error', async () => {
  for (const key of [undefined, '', 'nobody', '4ff7de37-dddf-4e51-8cc9-48b61a102923']) {
    const paylike = client(key)
    const calls: Promise<unknown>[] = [
      paylike.apps.findOne(),
      paylike.merchants.create(merchantAttributes),
      paylike.merchants.update('x', {}),
    ]
    calls.push(paylike.merchants.users.revoke('a', 'b'), paylike.merchants.lines.find('x').toArray())
    for (const problem of await Promise.all(calls.map(refusal))) {
      expect(problem).toBeInstanceOf(paylike.AuthorizationError)
      expect(problem.message).toBe('Unauthorized')
    }
  }
})

test('what is unknown, foreign or no id at all is not found', async () => {
  const { paylike, shop } = await arrange()
  const other = await arrange()
  for (const id of [other.transactionId, 'f'.repeat(24), 'wrong_id']) {
    const { transactions, cards, merchants } = paylike
    const calls = [
      ...[
        transactions.findOne(id),
        transactions.capture(id, { amount: 1 }),
        transactions.refund(id, {}),
        transactions.void(id, {}),
      ],
      ...[cards.findOne(id), merchants.findOne(id), merchants.update(id, {}), merchants.transactions.create(id, {})],
      ...[merchants.lines.find(id).toArray(), merchants.users.find(id).toArray(), merchants.apps.revoke(shop.id, id)],
    ]
    for (const problem of await Promise.all(calls.map(refusal))) {
      expect(problem).toBeInstanceOf(paylike.NotFoundError)
      expect([problem.message, String(problem)]).toEqual(['Not Found', 'Not Found'])
    }
  }
})

test('more than there is, another currency and no source are validation errors that name the field', async () => {
  const { paylike, shop, transactionId } = await arrange()
  const { transactions, merchants } = paylike
  const calls = [
    [transactions.capture(transactionId, { amount: 400, currency: 'EUR' }), 'amount', 'Can capture at most EUR 3'],
    [transactions.void(transactionId, { amount: 301 }), 'amount', 'Can void at most EUR 3'],
    [transactions.refund(transactionId, { amount: 1 }), 'amount', 'Can refund at most EUR 0'],
    [transactions.capture(transactionId, { currency: 'EUR' }), 'amount', 'Required'],
    [transactions.capture(transactionId, { amount: 1, currency: 'USD' }), 'currency', expect.stringContaining('EUR')],
    [merchants.transactions.create(shop.id, { currency: 'EUR', amount: 1 }), 'transactionId', 'Required'],
  ] as const
  const problems = await Promise.all(calls.map(([call]) => refusal(call)))
  for (const problem of problems) expect(problem).toBeInstanceOf(paylike.ValidationError)
  expect(problems.map(({ data }) => data)).toEqual(calls.map(([, field, message]) => [{ field, message }]))
})

test('a decline is a validation error with the processing error and the transaction that failed', async () => {
  const test = { card: { balance: { currency: 'EUR', exponent: 2, value: 300 } } }
  const { paylike, shop, transactionId } = await arrange({ test })
  const call = paylike.merchants.transactions.create(shop.id, { transactionId, currency: 'EUR', amount: 1 })
  const problem = await refusal(call)
  expect(problem).toBeInstanceOf(paylike.ValidationError)
  const text = 'Insufficient funds'
  expect(problem.data).toMatchObject({ code: 7, message: text, text, client: true, merchant: false })
  const { response } = problem.data as { response: { transaction: { id: string } } }
  expect(await paylike.transactions.findOne(response.transaction.id)).toMatchObject({ successful: false, error: { code: 7 } })
})

test('an answer that the acquirer owes is an error of the client, and its process lives on', async () => {
  const { paylike, transactionId } = await arrange({ test: { acquirer: { capture: 'unanswered' } } })
  const problem = await refusal(paylike.transactions.capture(transactionId, { amount: 1 }))
  expect(problem).toBeInstanceOf(paylike.Error)
  expect(problem.message).toBe('Gateway Timeout')
})

test('errors are caught by their class', async () => {
  const { paylike } = await arrange()
  const caught = await paylike.transactions
    .capture('wrong_id', { amount: 100 })
    .catch(paylike.ValidationError, () => 'validation')
    .catch(paylike.NotFoundError, () => 'not found')
    .catch(paylike.Error, () => 'something else')
  expect(caught).toBe('not found')
})

/** A merchant with that many transactions, one a second, oldest first. */
async function arrangeMany(count: number) {
  const { paylike, shop, transactionId } = await arrange()
  const ids = [transactionId]
  while (ids.length < count) {
    service.now.advance(1)
    ids.push(await paylike.merchants.transactions.create(shop.id, { transactionId, currency: 'EUR', amount: 100 }))
  }
  return { paylike, shop, ids, find: () => paylike.merchants.transactions.find(shop.id) }
}

test('a cursor reads on until there is no more, however many come in a batch', async () => {
  const { ids, find } = await arrangeMany(101)
  const newestFirst = ids.toReversed()
  expect(idsOf(await find().toArray())).toEqual(newestFirst)
  expect(idsOf(await find().limit(100).toArray())).toEqual(newestFirst.slice(0, 100))
  expect(idsOf(await find().limit(7).toArray())).toEqual(newestFirst.slice(0, 7))
  expect(idsOf(await find().batchSize(1000).toArray())).toEqual(newestFirst)
  // A last batch that is full is followed by an empty one.
  const { ids: ten, find: findTen } = await arrangeMany(10)
  expect(idsOf(await findTen().batchSize(5).toArray())).toEqual(ten.toReversed())
})

test('a cursor reads before, after and between ids and dates, whether these exist or not', async () => {
  const { ids, find } = await arrangeMany(9)
  const at = (index: number) => ids[index] ?? ''
  const read = async (cursor: ReturnType<typeof find>) => idsOf(await cursor.batchSize(2).toArray()).map((id) => ids.indexOf(id))
  expect(await read(find().before(at(4)))).toEqual([3, 2, 1, 0])
  expect(await read(find().after(at(4)))).toEqual([5, 6, 7, 8])
  expect(await read(find().after(at(1)).before(at(7)))).toEqual([6, 5, 4, 3, 2])
  const moment = (index: number) => new Date(Number.parseInt(at(index).slice(0, 8), 16) * 1000)
  expect(await read(find().until(moment(4)))).toEqual([3, 2, 1, 0])
  expect(await read(find().since(moment(4)))).toEqual([4, 5, 6, 7, 8])
  expect(await read(find().since(moment(2)).until(moment(6)))).toEqual([5, 4, 3, 2])
  expect(await read(find().since(service.now()))).toEqual([8])
  expect(await read(find().until(new Date(0)))).toEqual([])
})

test('transactions are filtered by what is true of them', async () => {
  const { paylike, shop, transactionId } = await arrange({
    test: { card: { balance: { currency: 'EUR', exponent: 2, value: 400 } } },
  })
  const charge = (amount: number) => paylike.merchants.transactions.create(shop.id, { transactionId, currency: 'EUR', amount })
  const good = await charge(100)
  await refusal(charge(1))
  const find = async (filter: object) =>
    idsOf(
      await paylike.merchants.transactions
        .find(shop.id)
        .filter({ ...filter })
        .toArray(),
    )
  expect(await find({})).toHaveLength(3)
  expect(await find({ successful: true })).toEqual([good, transactionId])
  expect(await find({ successful: false })).toHaveLength(1)
  expect(await find({ recurring: true, successful: true })).toEqual([good])
  expect(await find({ amount: 300 })).toEqual([transactionId])
  expect(await find({ test: false })).toEqual([])
})

test('a cursor that is kept alive is told of what comes later, once and in order', async () => {
  const { paylike, shop, transactionId } = await arrange()
  const cursor = paylike.merchants.transactions.find(shop.id).since(service.now()).keepAlive(1)
  expect(() => cursor.toArray()).toThrow('keep alive')
  const read = cursor.pull((source) => source)
  const next = () =>
    new Promise<string>((resolve, reject) => read(null, (end, item) => (end === null ? resolve(item.id) : reject(end))))
  expect(await next()).toBe(transactionId)
  const coming = [next()]
  const later = [await pay(service, shop)]
  expect(await coming[0]).toBe(later[0])
  later.push(await pay(service, shop), await pay(service, shop))
  expect([await next(), await next()]).toEqual(later.slice(1))
  read(true, () => {})
})

test('disputes and fraud alerts are read with a cursor of one’s own', async () => {
  const { paylike, shop, transactionId } = await arrange()
  await paylike.transactions.capture(transactionId, { amount: 300 })
  const raise = (what: string) => paylike.service.post(`/merchants/${shop.id}/simulator/${what}`, { transactionId })
  const told = { disputes: await raise('disputes'), frauds: await raise('frauds') }
  for (const [what, one] of [
    ['disputes', 'dispute'],
    ['frauds', 'fraud'],
  ] as const) {
    const find = (filter: object) =>
      new Paylike.Cursor(paylike.service, `/${what}`).filter({ merchantId: shop.id, ...filter }).toArray()
    const [first, ...more] = await find({})
    expect(more).toEqual([])
    expect(first).toMatchObject({ id: anId, merchantId: shop.id, transactionId })
    expect(told[what]).toMatchObject({ [one]: { id: first?.id } })
    expect(await find({ transactionId })).toEqual([first])
    expect(await find({ transactionId: 'f'.repeat(24) })).toEqual([])
    expect(await paylike.service.get(`/${what}/${first?.id}`)).toEqual({ [one]: first })
    const unfiltered = new Paylike.Cursor(paylike.service, `/${what}`).toArray()
    expect(await refusal(unfiltered)).toBeInstanceOf(paylike.ValidationError)
  }
})

test('the bare calls of the client do what the named ones do', async () => {
  const { paylike, shop, transactionId } = await arrange()
  expect(await paylike.service.get('/me')).toMatchObject({ identity: { id: shop.app.id } })
  expect(await paylike.service.put(`/merchants/${shop.id}`, { name: 'Bare' })).toBeUndefined()
  expect(await paylike.service.post(`/merchants/${shop.id}/apps`, { appId: shop.app.id })).toBeUndefined()
  const captured = await paylike.service.post(`/transactions/${transactionId}/captures`, { amount: 300 })
  expect(captured).toEqual({ transaction: await paylike.transactions.findOne(transactionId) })
  const [line] = await paylike.merchants.lines.find(shop.id).toArray()
  expect(await paylike.service.get(`/lines/${line?.id}`)).toEqual(line)
  expect(await paylike.service.delete(`/merchants/${shop.id}/apps/${shop.app.id}`)).toBeUndefined()
})
