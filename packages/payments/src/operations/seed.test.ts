import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { basic, startPayments } from '../testing.ts'
import { SeedProblem, seed } from './seed.ts'
import { verify } from './verify.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

const shop = {
  id: '5d18a2ea0000000000000001',
  name: 'Shop',
  key: '4f1f3c8e-7d1c-4a2b-9c3d-000000000001',
  created: '2019-06-30T12:08:42.816Z',
}

test('an app comes in with the id, key and date that it had', async () => {
  expect(await seed(service.app, { apps: [shop] })).toEqual({ apps: 1 })
  const answer = await service.call('GET /me', { headers: { authorization: basic(shop.key) } })
  expect(answer.json()).toEqual({ identity: { id: shop.id, name: 'Shop', created: shop.created } })
  expect(await verify(service.app.db, service.now())).toMatchObject({ breaches: [] })
})

test('what is there already stays as it is', async () => {
  await seed(service.app, { apps: [shop] })
  expect(await seed(service.app, { apps: [{ ...shop, name: 'Another' }] })).toEqual({ apps: 0 })
  expect(await service.app.db`select name from pay.apps where id = ${shop.id}`).toEqual([{ name: 'Shop' }])
})

test('all of a file is loaded or nothing, and a key that is taken is told', async () => {
  await seed(service.app, { apps: [shop] })
  const other = { ...shop, id: '5d18a2ea0000000000000002', key: '4f1f3c8e-7d1c-4a2b-9c3d-000000000002' }
  const thief = { ...shop, id: '5d18a2ea0000000000000003' }
  await expect(seed(service.app, { apps: [other, thief] })).rejects.toThrow(
    new SeedProblem('App 5d18a2ea0000000000000003 has the same key as another app.'),
  )
  expect(await service.app.db`select id from pay.apps where id = ${other.id}`).toEqual([])
})

test.each([
  ['no object', [], 'the file'],
  ['an id of another kind', { apps: [{ ...shop, id: 'abc' }] }, 'id'],
  ['a key that is no UUID', { apps: [{ ...shop, key: 'abc' }] }, 'key'],
  ['no date', { apps: [{ ...shop, created: undefined }] }, 'created'],
  ['a day that does not exist', { apps: [{ ...shop, created: '2019-02-31T00:00:00Z' }] }, 'created'],
  ['an hour that does not exist', { apps: [{ ...shop, created: '2019-02-01T25:00:00Z' }] }, 'created'],
])('a file with %s is refused, and the place is named', async (_, content, place) => {
  const problem = await seed(service.app, content).catch((thrown: unknown) => thrown)
  expect(problem).toBeInstanceOf(SeedProblem)
  expect(String(problem)).toMatch(new RegExp(`The seed file is not as it should be:\n {2}- .*${place}`))
})

test('nothing is loaded in production', async () => {
  const production = await startPayments({ PAY_ENV: 'production' })
  onTestFinished(() => production.stop())
  await expect(seed(production.app, { apps: [shop] })).rejects.toThrow(/PAY_ENV is production/)
})

test('whatever breaks a promise is named, however many pages on', async () => {
  const own = await startPayments()
  onTestFinished(() => own.stop())
  await own.app.db`
    insert into pay.apps (id, key_hash, created)
    select '5d18a2ea' || lpad(to_hex(number), 16, '0'), sha256(number::text::bytea), '2019-06-30' from generate_series(1, 2500) number`
  await own.app.db`update pay.apps set created = '2100-01-01' where id = '5d18a2ea00000000000008fc'`
  expect(await verify(own.app.db, own.now())).toEqual({
    apps: 2500,
    breaches: ['app 5d18a2ea00000000000008fc was created in the future, at 2100-01-01T00:00:00.000Z'],
  })
})
