import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let owner: Awaited<ReturnType<typeof createApp>>
/** Oldest first. */
let ids: string[] = []
beforeAll(async () => {
  service = await startPayments()
  owner = await createApp(service.call)
  ids = []
  for (const [index, name] of ['A', 'B', 'C', 'D', 'E'].entries()) {
    service.now.advance(1)
    ids.push(await create(owner.authorization, { name, test: index % 2 === 0, currency: index < 3 ? 'EUR' : 'DKK' }))
  }
  await create((await createApp(service.call)).authorization, { name: 'Foreign' })
})
afterAll(() => service.stop())

async function create(authorization: string, more: object): Promise<string> {
  const json = { currency: 'EUR', email: 'a@b.dk', website: 'b.dk', descriptor: 'B', company: { country: 'DK' }, ...more }
  const answer = await service.call('POST /merchants', { json, headers: { authorization } })
  return answer.json<{ merchant: { id: string } }>().merchant.id
}

function ask(query: string, { id = owner.id, authorization = owner.authorization } = {}) {
  return service.call(`GET /identities/${id}/merchants?${query}`, { headers: { authorization, accept: '*/*' } })
}

async function names(query: string): Promise<string> {
  return (await ask(query))
    .json<{ name: string }[]>()
    .map(({ name }) => name)
    .join('')
}

test("the newest come first, and only one's own", async () => {
  expect(await names('limit=1000')).toBe('EDCBA')
  expect(await names('limit=2')).toBe('ED')
})

test('before leads to older ones, after to newer ones the other way round, both to what is between', async () => {
  expect(await names(`limit=2&before=${ids[3]}`)).toBe('CB')
  expect(await names(`limit=2&after=${ids[1]}`)).toBe('CD')
  expect(await names(`limit=10&after=${ids[0]}&before=${ids[4]}`)).toBe('DCB')
  expect(await names(`limit=10&after=${ids[4]}`)).toBe('')
  expect(await names(`limit=10&before=${ids[0]}`)).toBe('')
})

test('a boundary may be made from a date', async () => {
  const second = ids[2]?.slice(0, 8)
  expect(await names(`limit=10&before=${second}0000000000000000`)).toBe('BA')
  expect(await names(`limit=10&after=${second}0000000000000000`)).toBe('CDE')
})

test('an empty list is two lines', async () => {
  const nobody = await createApp(service.call)
  expect((await ask('limit=1', nobody)).text).toBe('[\n]\n')
})

test.each([
  ['test=y', 'ECA'],
  ['test=1', 'ECA'],
  ['test=no', 'DB'],
  ['currency=DKK', 'ED'],
  ['currency=dkk', ''],
  ['name=C', 'C'],
  ['name=c', ''],
  ['email=a@b.dk', 'EDCBA'],
  ['website=c.dk', ''],
  ['descriptor=B', 'EDCBA'],
  ['key=unknown', ''],
  ['unknown=1', 'EDCBA'],
  ['name=', 'EDCBA'],
  ['__proto__=1', 'EDCBA'],
  ["name=' or 1=1 --", ''],
])('filter[%s] leaves %s', async (filter, left) => {
  const [name, value = ''] = filter.split(/=(.*)/s)
  expect(await names(`limit=10&filter[${name}]=${encodeURIComponent(value)}`)).toBe(left)
  expect(await names(`limit=10&filter%5B${name}%5D=${encodeURIComponent(value)}&after=${'0'.repeat(24)}`)).toBe(
    left.split('').toReversed().join(''),
  )
})

test('filters add up, and a page is filled with what they leave', async () => {
  expect(await names('limit=10&filter[test]=yes&filter[currency]=EUR')).toBe('CA')
  expect(await names(`limit=1&filter[test]=yes&before=${ids[4]}`)).toBe('C')
})

test('a filter by key finds the one', async () => {
  const [first] = (await ask('limit=1')).json<{ id: string; key: string }[]>()
  expect((await ask(`limit=10&filter[key]=${first?.key}`)).json<{ id: string }[]>().map(({ id }) => id)).toEqual([first?.id])
})

test.each([
  ['', 'limit', 'Required'],
  ['limit=0', 'limit', 'Must be at least 1'],
  ['limit=1001', 'limit', 'Must be at most 1000'],
  ['limit=1.5', 'limit', 'Must be a whole number'],
  ['limit=x', 'limit', 'Must be a whole number'],
  ['limit=1&before=x', 'before', 'Must be 24 hex digits'],
  ['limit=1&after=0123456789ABCDEF01234567', 'after', 'Must be 24 hex digits'],
  ['limit=1&filter=x', 'filter', 'Must be an object'],
  ['limit=1&filter[test]=perhaps', 'filter.test', 'Must be true or false'],
  ['limit=1&filter[name][x]=1', 'filter.name', 'Must be text'],
  ['limit=1&filter[name]=a%00', 'query', 'The query cannot be read: text holds a NUL character'],
])('?%s is refused by the name of its field', async (query, field, message) => {
  const answer = await ask(query)
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
})

test('the merchants of somebody else are not told, even to those who ask wrongly', async () => {
  const stranger = await createApp(service.call)
  for (const id of [stranger.id, '0123456789abcdef01234567', ids[0] ?? '', 'me', '__proto__'])
    for (const query of ['limit=10', '']) expect((await ask(query, { id })).status, id).toBe(404)
  expect((await ask('limit=10', { authorization: '' })).status).toBe(401)
})

test("a merchant that one was added to is listed among one's own", async () => {
  const helper = await createApp(service.call)
  await service.call(`POST /merchants/${ids[2]}/apps`, {
    json: { appId: helper.id },
    headers: { authorization: owner.authorization },
  })
  const list = (await ask('limit=10', helper)).json<{ id: string }[]>()
  expect(list.map(({ id }) => id)).toEqual([ids[2]])
})
