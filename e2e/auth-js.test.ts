import { AuthClient } from '@supabase/auth-js'
import { createAccount, startIdentity } from '@tollgate/identity/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

const client = () => new AuthClient({ url: service.origin, persistSession: false, autoRefreshToken: false })

const jwtOf = ({ authorization }: { authorization: string }) => authorization.replace('Bearer ', '')

test('the official client is told who is signed in', async () => {
  const account = await createAccount(service)
  const { data, error } = await client().getUser(jwtOf(account))
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ id: account.userId, email: `${account.userId}@site.test`, is_anonymous: false })
})

test('the official client understands why a token is refused', async () => {
  const { error } = await client().getUser('not.a.token')
  expect(error).toMatchObject({ status: 403, code: 'bad_jwt' })
})

test('the official client ends sessions', async () => {
  const account = await createAccount(service)
  const { error } = await client().admin.signOut(jwtOf(account), 'global')
  expect(error).toBeNull()
  expect(await service.app.db`select from auth.sessions where user_id = ${account.userId}`).toHaveLength(0)
})
