import { randomUUID } from 'node:crypto'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Account, createAccount, startWithInbox } from '../testing.ts'

let github: HttpFake
let service: Awaited<ReturnType<typeof startWithInbox>>
let person = { id: 1, login: 'ann', email: 'ann@mail.test' }

beforeAll(async () => {
  github = await startHttpFake({
    'POST /login/oauth/access_token': () => ({ json: { access_token: 'theirs' } }),
    'GET /api/v3/user': () => ({ json: { id: person.id, login: person.login } }),
    'GET /api/v3/user/emails': () => ({ json: [{ email: person.email, primary: true, verified: true }] }),
  })
  service = await startWithInbox({
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'our client',
    AUTH_EXTERNAL_GITHUB_SECRET: 'our secret',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
    AUTH_EXTERNAL_GITHUB_URL: github.origin,
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED: 'true',
  })
})
afterAll(async () => {
  await service.stop()
  await github.close()
})

const newPerson = () => ({ id: Math.floor(Math.random() * 1e12), login: 'ann', email: `${randomUUID()}@mail.test` })

/** What becomes of somebody who adds the person whom the provider tells of to their account. */
async function link({ authorization }: Pick<Account, 'authorization'>) {
  const headers = { authorization }
  const answer = await service.call('GET /user/identities/authorize?provider=github&skip_http_redirect=true', { headers })
  const state = new URL(answer.json<{ url: string }>().url).searchParams.get('state') ?? ''
  const back = await service.call(`GET /callback?${new URLSearchParams({ state, code: 'x' })}`)
  const fragment = Object.fromEntries(new URLSearchParams(new URL(String(back.headers.location)).hash.slice(1)))
  const me = await service.call('GET /user', { headers })
  return { fragment, user: me.json<{ id: string; email: string; is_anonymous: boolean; identities: { provider: string }[] }>() }
}

test('a way in is added to the account, and its owner is told by mail', async () => {
  person = newPerson()
  const account = await createAccount(service)
  const { fragment, user } = await link(account)
  expect(fragment).toHaveProperty('access_token')
  expect(user.identities.map(({ provider }) => provider).toSorted()).toEqual(['email', 'github'])
  const { mail } = await service.mailTo(user.email)
  expect(mail.text).toContain('github')
  const [entry] = await service.app.db`
    select payload from auth.audit_log_entries where payload ->> 'actor_id' = ${account.userId} and payload ->> 'action' = 'identity_linked'`
  expect(entry).toMatchObject({ payload: { traits: { provider: 'github' } } })
})

test('one that is there is not added again, and one of somebody else’s never', async () => {
  person = newPerson()
  const [mine, theirs] = [await createAccount(service), await createAccount(service)]
  await link(mine)
  expect((await link(mine)).fragment).toMatchObject({
    error_code: 'identity_already_exists',
    error_description: 'Identity is already linked',
  })
  const stranger = await link(theirs)
  expect(stranger.fragment).toMatchObject({ error_description: 'Identity is already linked to another user' })
  expect(stranger.user.identities).toHaveLength(1)
})

test('somebody anonymous becomes somebody by it, under the same id', async () => {
  person = newPerson()
  const begun = await service.call('POST /signup', { json: {} })
  const { access_token, user } = begun.json<{ access_token: string; user: { id: string } }>()
  const linked = await link({ authorization: `Bearer ${access_token}` })
  expect(linked.user).toMatchObject({ id: user.id, email: person.email, is_anonymous: false })
})

test('an address that is somebody else’s account does not come along', async () => {
  person = newPerson()
  await createAccount(service, { email: person.email })
  const begun = await service.call('POST /signup', { json: {} })
  const { access_token } = begun.json<{ access_token: string }>()
  const { fragment, user } = await link({ authorization: `Bearer ${access_token}` })
  expect(fragment).toMatchObject({ error_code: 'email_exists' })
  expect(user).toMatchObject({ email: '', is_anonymous: true, identities: [] })
})

test('without a token nobody adds anything', async () => {
  const answer = await service.call('GET /user/identities/authorize?provider=github')
  expect(answer.json()).toMatchObject({ code: 401, error_code: 'no_authorization' })
})
