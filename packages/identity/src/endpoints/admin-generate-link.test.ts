import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminAuthorization, createAccount, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  service = await startWithInbox({ AUTH_DISABLE_SIGNUP: 'true' })
})
afterAll(() => service.stop())

const password = 'correct horse'
const newEmail = () => `${randomUUID()}@site.test`

type Made = {
  id: string
  action_link: string
  email_otp: string
  hashed_token: string
  verification_type: string
  redirect_to: string
}
const make = async (json: object) => {
  const headers = { authorization: adminAuthorization(service) }
  const answer = await service.call('POST /admin/generate_link', { json, headers })
  return { status: answer.status, made: answer.json<Made>() }
}
const present = async (json: object) =>
  (await service.call('POST /verify', { json })).json<{ user?: Record<string, unknown>; code?: unknown }>()

test.each([
  ['signup', { password, data: { nick: 'ann' } }, 'signup'],
  ['invite', { data: { nick: 'ann' } }, 'invite'],
  ['magiclink', { data: { nick: 'ann' } }, 'signup'],
])('%s makes an account, and a link and a code that open it; nothing is sent', async (type, more, verification) => {
  const [one, other] = [newEmail(), newEmail()]
  const redirect_to = 'https://site.test/in?a=1&b=2'
  const { status, made } = await make({ type, email: one, redirect_to, ...more })
  expect(status).toBe(200)
  expect(made).toMatchObject({ email: one, user_metadata: { nick: 'ann' }, verification_type: verification, redirect_to })
  const link = new URL(made.action_link)
  expect([link.origin, link.pathname]).toEqual(['https://auth.site.test', '/verify'])
  expect(Object.fromEntries(link.searchParams)).toEqual({ token: made.hashed_token, type: verification, redirect_to })
  expect((await present({ type: verification, token_hash: made.hashed_token })).user).toMatchObject({ id: made.id })

  const { made: second } = await make({ type, email: other, ...more })
  expect((await present({ type: 'email', email: other, token: second.email_otp })).user).toMatchObject({ id: second.id })
  expect(service.mails.mails()).toEqual([])
})

test.each(['recovery', 'magiclink'])('%s opens an account that is there', async (type) => {
  const { userId } = await createAccount(service)
  const { made } = await make({ type, email: `${userId}@site.test` })
  expect(made.verification_type).toBe(type)
  expect((await present({ type, token_hash: made.hashed_token })).user).toMatchObject({ id: userId })
})

test('a change of address needs both of its links', async () => {
  const { userId } = await createAccount(service)
  const [email, new_email] = [`${userId}@site.test`, newEmail()]
  const { made: current } = await make({ type: 'email_change_current', email, new_email })
  const { made: next } = await make({ type: 'email_change_new', email, new_email })
  expect([current, next].map(({ action_link }) => new URL(action_link).searchParams.get('type'))).toEqual([
    'email_change',
    'email_change',
  ])
  expect((await present({ type: 'email_change', token_hash: next.hashed_token })).code).toBe('200')
  expect((await present({ type: 'email_change', token_hash: current.hashed_token })).user).toMatchObject({
    id: userId,
    email: new_email,
  })
})

test.each<[string, () => Promise<object>, number, string]>([
  ['a sign-up without a password', async () => ({ type: 'signup', email: newEmail() }), 400, 'validation_failed'],
  ['a sign-up with a weak password', async () => ({ type: 'signup', email: newEmail(), password: 'abc' }), 422, 'weak_password'],
  ['a recovery for nobody', async () => ({ type: 'recovery', email: newEmail() }), 404, 'user_not_found'],
  [
    'a change for nobody',
    async () => ({ type: 'email_change_new', email: newEmail(), new_email: newEmail() }),
    404,
    'user_not_found',
  ],
  ['an unknown type', async () => ({ type: 'nothing', email: newEmail() }), 400, 'validation_failed'],
  ['no type', async () => ({ email: newEmail() }), 400, 'validation_failed'],
  ['no address', async () => ({ type: 'signup' }), 400, 'validation_failed'],
  [
    'a sign-up of somebody who is here',
    async () => ({ type: 'signup', password, email: `${(await createAccount(service)).userId}@site.test` }),
    422,
    'email_exists',
  ],
  [
    'an invitation of somebody who is here',
    async () => ({ type: 'invite', email: `${(await createAccount(service)).userId}@site.test` }),
    422,
    'email_exists',
  ],
  [
    'a change to somebody else’s address',
    async () => ({
      type: 'email_change_new',
      email: `${(await createAccount(service)).userId}@site.test`,
      new_email: `${(await createAccount(service)).userId}@site.test`,
    }),
    422,
    'email_exists',
  ],
])('%s is refused', async (_, json, status, error_code) => {
  expect((await make(await json())).made).toMatchObject({ code: status, error_code })
})

test('nobody but an admin makes links', async () => {
  const { authorization } = await createAccount(service)
  const answer = await service.call('POST /admin/generate_link', {
    json: { type: 'recovery', email: 'a@b.test' },
    headers: { authorization },
  })
  expect(answer.json()).toMatchObject({ code: 403, error_code: 'not_admin' })
})
