import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminAuthorization, startIdentity } from '../testing.ts'
import { narrowSearch } from './narrow-search.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
  await service.app.db`
    insert into auth.users (id, aud, email, created_at, updated_at)
    select gen_random_uuid(), 'authenticated', 'customer.' || n * 1009 || '@company.example', now(), now() from generate_series(1, 500) n`
})
afterAll(() => service.stop())

test('what is common is left out once the database knows what is, and is known from then on', async () => {
  const { db } = service.app
  const address = 'customer.888888@company.example'
  expect(await narrowSearch(db, db, address)).toBe(address)
  await db`analyze auth.users`
  expect(await narrowSearch(db, db, address)).toBe('.888888@')
  const asked = () => Promise.reject(new Error('the database was asked again'))
  expect(await narrowSearch(db, asked, address)).toBe('.888888@')
})

test('a search by part of the index finds the one account that has all of the text', async () => {
  const { db } = service.app
  await db`analyze auth.users`
  const address = `customer.${77 * 1009}@company.example`
  expect(await narrowSearch(db, db, address)).not.toBe(address)
  await db`
    insert into auth.users (id, aud, email, created_at, updated_at)
    values (gen_random_uuid(), 'authenticated', ${`other.${77 * 1009}@company.example`}, now(), now())`
  const { json, headers } = await service.call(`GET /admin/users?filter=${encodeURIComponent(address)}`, {
    headers: { authorization: adminAuthorization(service) },
  })
  expect(json<{ users: { email: string }[] }>().users.map(({ email }) => email)).toEqual([address])
  expect(headers['x-total-count']).toBe('1')
})
