import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, startIdentity, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  service = await startWithInbox()
})
afterAll(() => service.stop())

const recover = (email: string, path = '/recover') => service.call(`POST ${path}`, { json: { email } })

test.each([
  ['somebody confirmed', {}],
  ['somebody unconfirmed', { emailConfirmedAt: null }],
  ['somebody without a password', { passwordHash: '' }],
])('%s gets a mail, whose link opens a session', async (_, given) => {
  const { userId } = await createAccount(service, given)
  const email = `${userId}@site.test`
  expect((await recover(` ${email}`, '/recover?redirect_to=https://site.test/reset')).text).toBe('{}')
  const { mail, token, type, redirectTo } = await service.mailTo(email)
  expect([mail.subject, type, redirectTo]).toEqual(['Reset Your Password', 'recovery', 'https://site.test/reset'])
  const answer = await service.call('POST /verify', { json: { type, token_hash: token } })
  expect(answer.json()).toMatchObject({ type: 'recovery', user: { id: userId, email_confirmed_at: expect.any(String) } })
})

test('an unknown address is answered alike, and nobody gets a mail; one who is banned neither', async () => {
  const { userId } = await createAccount(service, { bannedUntil: new Date('2099-01-01') })
  const known = `${(await createAccount(service)).userId}@site.test`
  const quiet = [`${randomUUID()}@site.test`, `${userId}@site.test`]
  for (const email of [...quiet, known]) expect((await recover(email)).text).toBe('{}')
  await service.mailTo(known)
  expect(service.mails.mails().filter(({ to }) => quiet.some((email) => to.includes(email)))).toEqual([])
})

test('a second one within a minute is refused; a magic link is another matter', async () => {
  const email = `${(await createAccount(service)).userId}@site.test`
  await recover(email)
  expect((await recover(email)).json()).toMatchObject({ code: 429, error_code: 'over_email_send_rate_limit' })
  expect((await service.call('POST /magiclink', { json: { email } })).status).toBe(200)
})

test('no address is refused, and so is everybody where email is disabled', async () => {
  expect((await service.call('POST /recover', { json: {} })).json()).toMatchObject({
    code: 400,
    msg: 'Password recovery requires an email',
  })
  const own = await startIdentity({ AUTH_EXTERNAL_EMAIL_ENABLED: 'false' })
  const answer = await own.call('POST /recover', { json: { email: 'a@b.test' } })
  await own.stop()
  expect(answer.json()).toEqual({ code: 400, error_code: 'email_provider_disabled', msg: 'Email logins are disabled' })
})
