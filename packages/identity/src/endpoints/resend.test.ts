import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  service = await startWithInbox()
})
afterAll(() => service.stop())

const password = 'correct horse'
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const resend = async (json: object) => {
  const answer = await service.call('POST /resend', { json })
  return { status: answer.status, told: answer.json<{ message_id?: string; msg?: string }>() }
}

test('a confirmation is sent again, once the interval is over', async () => {
  const email = `${randomUUID()}@site.test`
  await service.call('POST /signup', { json: { email, password } })
  await service.mailTo(email)
  expect((await resend({ type: 'signup', email })).status).toBe(429)
  service.now.advance(900)
  const { status, told } = await resend({ type: 'signup', email })
  expect(status).toBe(200)
  const { mail, token } = await service.mailTo(email)
  // The id that was told is the one that the mail can be found by.
  expect(mail.headers['message-id']).toContain(told.message_id)
  expect((await service.call('POST /verify', { json: { type: 'signup', token_hash: token } })).status).toBe(200)
})

test('a code by SMS is sent again', async () => {
  const phone = '4550000001'
  await service.call('POST /signup', { json: { phone, password } })
  await service.nextSms()
  service.now.advance(61)
  expect((await resend({ type: 'sms', phone })).told.message_id).toMatch(uuid)
  const { code } = await service.nextSms()
  expect((await service.call('POST /verify', { json: { type: 'sms', phone, token: code } })).status).toBe(200)
})

test('a change of address is sent again to both, and what was half confirmed begins anew', async () => {
  const { userId } = await createAccount(service)
  const [email, newEmail] = [`${userId}@site.test`, `${randomUUID()}@site.test`]
  await service.app.db`update auth.users set email_change = ${newEmail}, email_change_confirm_status = 1 where id = ${userId}`
  expect((await resend({ type: 'email_change', email })).told.message_id).toMatch(uuid)
  const [current, next] = [await service.mailTo(email), await service.mailTo(newEmail)]
  const first = await service.call('POST /verify', { json: { type: 'email_change', token_hash: current.token } })
  expect(first.json()).toMatchObject({ code: '200', msg: expect.stringContaining('Confirmation link accepted') })
  const second = await service.call('POST /verify', { json: { type: 'email_change', email: newEmail, token: next.code } })
  expect(second.json()).toMatchObject({ user: { id: userId, email: newEmail } })
})

test('a change of number is sent again to the new one', async () => {
  const { userId } = await createAccount(service, { phone: '4550000002', phoneConfirmedAt: service.now() })
  await service.app.db`update auth.users set phone_change = '4550000003' where id = ${userId}`
  await resend({ type: 'phone_change', phone: '4550000002' })
  const { to, code } = await service.nextSms()
  expect(to).toBe('4550000003')
  const answer = await service.call('POST /verify', { json: { type: 'phone_change', phone: to, token: code } })
  expect(answer.json()).toMatchObject({
    user: { id: userId, phone: '4550000003', app_metadata: { providers: ['email', 'phone'] } },
  })
})

test('whoever has nothing to wait for is answered alike and gets nothing', async () => {
  const { userId } = await createAccount(service)
  const before = [service.mails.mails().length, service.gateway.requests.length]
  const asked = [
    { type: 'signup', email: `${userId}@site.test` },
    { type: 'email_change', email: `${userId}@site.test` },
    { type: 'signup', email: `${randomUUID()}@site.test` },
    { type: 'sms', phone: '4559999999' },
    { type: 'phone_change', phone: '4559999999' },
  ]
  for (const json of asked) expect((await resend(json)).told).toEqual({ message_id: expect.stringMatching(uuid) })
  await expect.poll(async () => (await service.app.db`select from auth.jobs`).length).toBe(0)
  expect([service.mails.mails().length, service.gateway.requests.length]).toEqual(before)
})

test.each<[object, string]>([
  [{}, 'Missing one of these types: signup, email_change, sms, phone_change'],
  [{ type: 'recovery', email: 'a@b.test' }, 'Missing one of these types: signup, email_change, sms, phone_change'],
  [{ type: 'signup', phone: '45' }, 'Type provided requires an email address'],
  [{ type: 'sms', email: 'a@b.test' }, 'Type provided requires a phone number'],
  [{ type: 'signup', email: 'a@b.test', phone: '45' }, 'Only an email address or phone number should be provided.'],
  [{ type: 'email_change' }, 'Missing email address or phone number'],
  [{ type: 'signup', email: 'nobody' }, 'Unable to validate email address: invalid format'],
])('%j is refused', async (json, msg) => {
  expect((await resend(json)).told).toMatchObject({ code: 400, error_code: 'validation_failed', msg })
})
