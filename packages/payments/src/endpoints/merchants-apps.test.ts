import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Member = { authorization: string }

function add(merchantId: string, { authorization }: Member, json: unknown) {
  return service.call(`POST /merchants/${merchantId}/apps`, { json, headers: { authorization, accept: '*/*' } })
}

function remove(merchantId: string, { authorization }: Member, appId: string) {
  return service.call(`DELETE /merchants/${merchantId}/apps/${appId}`, { headers: { authorization, accept: '*/*' } })
}

function list(merchantId: string, { authorization }: Member, query = 'limit=100') {
  return service.call(`GET /merchants/${merchantId}/apps?${query}`, { headers: { authorization, accept: '*/*' } })
}

async function listed(merchantId: string, member: Member, query?: string) {
  return (await list(merchantId, member, query)).json<{ id: string; name: string | null; key?: string; created: string }[]>()
}

test('an app is added without a word, again and again, and may then do everything', async () => {
  const merchant = await plantMerchant(service)
  const helper = await createApp(service.call, 'Helper')
  expect((await list(merchant.id, helper)).status).toBe(404)
  for (let time = 0; time < 3; time++) {
    const answer = await add(merchant.id, merchant, { appId: helper.id })
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([201, '', undefined])
  }
  expect(await service.app.db`select from pay.members where merchant_id = ${merchant.id}`).toHaveLength(2)
  const another = await createApp(service.call)
  expect((await add(merchant.id, helper, { appId: another.id })).status).toBe(201)
  expect((await list(merchant.id, another)).status).toBe(200)
})

test('ten who add the same app at once all succeed, and it is a member once', async () => {
  const merchant = await plantMerchant(service)
  const helper = await createApp(service.call)
  const answers = await Promise.all(Array.from({ length: 10 }, () => add(merchant.id, merchant, { appId: helper.id })))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201))
  expect(await listed(merchant.id, merchant)).toHaveLength(2)
})

test('a form names the app, too', async () => {
  const merchant = await plantMerchant(service)
  const { id: appId } = await createApp(service.call)
  const headers = { authorization: merchant.authorization }
  expect((await service.call(`POST /merchants/${merchant.id}/apps`, { form: { appId }, headers })).status).toBe(201)
})

test('the list tells id, name and date, newest first, and the key only to the app whose key it is', async () => {
  const merchant = await plantMerchant(service)
  service.now.advance(1)
  const helper = await createApp(service.call, 'Helper')
  await add(merchant.id, merchant, { appId: helper.id })
  const first = `{"id":"${helper.id}","name":"Helper","key":"${helper.key}","created":"${service.now().toISOString()}"}`
  const created = new Date(service.now().getTime() - 1000).toISOString()
  expect((await list(merchant.id, helper)).text).toBe(
    `[\n${first},\n{"id":"${merchant.app.id}","name":null,"created":"${created}"}\n]\n`,
  )
  expect(await listed(merchant.id, merchant)).toEqual([
    { id: helper.id, name: 'Helper', created: service.now().toISOString() },
    { id: merchant.app.id, name: null, key: merchant.app.key, created },
  ])
})

test('the list has pages, both orders and a filter by name', async () => {
  const merchant = await plantMerchant(service)
  const ids = [merchant.app.id]
  for (const name of ['A', 'B', 'A']) {
    service.now.advance(1)
    const { id } = await createApp(service.call, name)
    await add(merchant.id, merchant, { appId: id })
    ids.push(id)
  }
  const told = async (query: string) => (await listed(merchant.id, merchant, query)).map(({ id }) => ids.indexOf(id)).join('')
  expect(await told('limit=10')).toBe('3210')
  expect(await told('limit=2')).toBe('32')
  expect(await told(`limit=2&before=${ids[3]}`)).toBe('21')
  expect(await told(`limit=2&after=${ids[0]}`)).toBe('12')
  expect(await told(`limit=9&after=${ids[0]}&before=${ids[3]}`)).toBe('21')
  expect(await told('limit=9&filter[name]=A')).toBe('31')
  expect(await told(`limit=1&filter[name]=A&after=${ids[0]}`)).toBe('1')
  expect(await told('limit=9&filter[unknown]=A')).toBe('3210')
})

test('people are not among the apps', async () => {
  const merchant = await plantMerchant(service)
  const id = service.app.mintId('0000')
  await service.app.db`insert into pay.users (id, email, created) values (${id}, 'a@b.dk', ${service.now()})`
  await service.app.db`
    insert into pay.members (merchant_id, identity_id, kind, created) values (${merchant.id}, ${id}, 'user', ${service.now()})`
  expect((await listed(merchant.id, merchant)).map((app) => app.id)).toEqual([merchant.app.id])
  expect((await remove(merchant.id, merchant, id)).status).toBe(404)
  expect((await add(merchant.id, merchant, { appId: id })).status).toBe(400)
})

test.each([
  ['an unknown app', { appId: '0123456789abcdef01234567' }, 'There is no app with this id'],
  ['what is no id', { appId: 'helper' }, 'Must be 24 hex digits'],
  ['a prototype', { appId: '__proto__' }, 'Must be 24 hex digits'],
  ['a number', { appId: 7 }, 'Must be text'],
  ['nobody', {}, 'Required'],
  ['false', { appId: false }, 'Required'],
])('%s cannot be added', async (_, json, message) => {
  const merchant = await plantMerchant(service)
  const answer = await add(merchant.id, merchant, json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field: 'appId', message }]])
})

test('a merchant cannot be added as an app', async () => {
  const merchant = await plantMerchant(service)
  expect((await add(merchant.id, merchant, { appId: merchant.id })).status).toBe(400)
})

test('a revoked app is out at once, and those who revoke an unknown one are told so', async () => {
  const merchant = await plantMerchant(service)
  const helper = await createApp(service.call)
  await add(merchant.id, merchant, { appId: helper.id })
  const answer = await remove(merchant.id, merchant, helper.id)
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await list(merchant.id, helper)).status).toBe(404)
  expect((await add(merchant.id, helper, { appId: helper.id })).status).toBe(404)
  for (const id of [helper.id, '0123456789abcdef01234567', 'wrong_id', merchant.id])
    expect((await remove(merchant.id, merchant, id)).status, id).toBe(404)
})

test('an app may revoke itself, even as the last one', async () => {
  const merchant = await plantMerchant(service)
  expect((await remove(merchant.id, merchant, merchant.app.id)).status).toBe(204)
  expect((await remove(merchant.id, merchant, merchant.app.id)).status).toBe(404)
  expect(
    (await service.call(`GET /merchants/${merchant.id}`, { headers: { authorization: merchant.authorization } })).status,
  ).toBe(404)
})

test('whoever is revoked while it works finishes or is refused, and after the revocation is refused', async () => {
  const merchant = await plantMerchant(service)
  const helper = await createApp(service.call)
  await add(merchant.id, merchant, { appId: helper.id })
  const headers = { authorization: helper.authorization, accept: '*/*' }
  const change = (name: string) => service.call(`PUT /merchants/${merchant.id}`, { json: { name }, headers })
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, (_, index) => change(`before ${index}`)),
    remove(merchant.id, merchant, helper.id),
    ...Array.from({ length: 10 }, (_, index) => change(`after ${index}`)),
  ])
  for (const { status } of answers) expect([200, 204, 404]).toContain(status)
  expect((await change('too late')).status).toBe(404)
})

test('of two who revoke the same app at once, one is told that it was there', async () => {
  const merchant = await plantMerchant(service)
  const helper = await createApp(service.call)
  await add(merchant.id, merchant, { appId: helper.id })
  const answers = await Promise.all([remove(merchant.id, merchant, helper.id), remove(merchant.id, merchant, helper.id)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404])
})

test('strangers get the same 404 as for a merchant that is not there, before anything else is found fault with', async () => {
  const merchant = await plantMerchant(service)
  const stranger = await createApp(service.call)
  for (const id of [merchant.id, '0123456789abcdef01234567', 'wrong_id'])
    for (const answer of [
      await add(id, stranger, { appId: stranger.id }),
      await add(id, stranger, {}),
      await list(id, stranger),
      await list(id, stranger, ''),
      await remove(id, stranger, merchant.app.id),
    ])
      expect([answer.status, answer.json()]).toEqual([404, { code: 'not_found', message: expect.any(String) }])
  expect(await listed(merchant.id, merchant)).toHaveLength(1)
})
