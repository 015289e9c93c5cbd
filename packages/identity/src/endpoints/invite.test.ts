import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminAuthorization, createAccount, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  service = await startWithInbox({ AUTH_DISABLE_SIGNUP: 'true' })
})
afterAll(() => service.stop())

const newEmail = () => `${randomUUID()}@site.test`
const invite = (json: object, role = 'service_role') =>
  service.call('POST /invite', { json, headers: { authorization: adminAuthorization(service, role) } })

test.each(['service_role', 'service_admin', 'supabase_admin'])(
  '%s invites somebody, also where nobody can sign up',
  async (role) => {
    const email = newEmail()
    const answer = await invite({ email, data: { team: 'blue' } }, role)
    const moment = service.now().toISOString()
    expect(answer.json()).toMatchObject({
      email,
      invited_at: moment,
      confirmation_sent_at: moment,
      user_metadata: { team: 'blue' },
    })
    expect(answer.json()).not.toHaveProperty('email_confirmed_at')
    const { mail, type } = await service.mailTo(email)
    expect([mail.subject, type]).toEqual(['You have been invited', 'invite'])
    const [entry] = await service.app.db`
    select payload from auth.audit_log_entries where payload -> 'traits' ->> 'user_email' = ${email}`
    expect(entry).toMatchObject({ payload: { action: 'user_invited', log_type: 'team', actor_username: role } })
  },
)

test('somebody who has not come yet is invited again, and the older link is void', async () => {
  const email = newEmail()
  await invite({ email })
  const first = await service.mailTo(email)
  service.now.advance(10)
  expect((await invite({ email })).json()).toMatchObject({ invited_at: service.now().toISOString() })
  const second = await service.mailTo(email)
  const present = async (token_hash: string) =>
    (await service.call('POST /verify', { json: { type: 'invite', token_hash } })).status
  expect([await present(first.token), await present(second.token)]).toEqual([403, 200])
})

test('somebody who is here already is not invited', async () => {
  const { userId } = await createAccount(service)
  expect((await invite({ email: `${userId}@site.test` })).json()).toMatchObject({ code: 422, error_code: 'email_exists' })
})

test.each(['anon', 'authenticated', ''])('the role %j may not', async (role) => {
  expect((await invite({ email: newEmail() }, role)).json()).toMatchObject({
    code: 403,
    error_code: 'not_admin',
    msg: 'User not allowed',
  })
})

test('without a token nobody may', async () => {
  const answer = await service.call('POST /invite', { json: { email: newEmail() } })
  expect(answer.json()).toMatchObject({ code: 401, error_code: 'no_authorization' })
})
