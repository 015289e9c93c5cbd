import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Job } from '@tollgate/kit/jobs'
import { createTransport } from '@tollgate/kit/smtp'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { keptLog } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createApp, plantMerchant, startPayments } from '../testing.ts'
import { deliverInvitation } from './deliver-invitation.ts'
import { inviteUser } from './invite-user.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let log: ReturnType<typeof keptLog>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())
beforeEach(async () => {
  await service.app.db`truncate pay.jobs`
  log = keptLog()
})

const nobody = 1
let people = 0

/** A new member, and the job that their mail is. */
async function invite() {
  const merchant = await plantMerchant(service)
  const email = `person${++people}@example.com`
  const { app } = service
  const user = { id: app.mintId('0000'), email, created: app.now() }
  await app.db`insert into pay.users (id, email, created) values (${user.id}, ${email}, ${user.created})`
  await app.db`
    insert into pay.members (merchant_id, identity_id, kind, created) values (${merchant.id}, ${user.id}, 'user', ${user.created})`
  const payload = {
    id: app.mintId('0000'),
    merchantId: merchant.id,
    userId: user.id,
    inviterId: merchant.app.id,
    at: app.now().toISOString(),
  }
  const job = (attempts = 1, more: object = {}): Job => ({
    id: 0,
    kind: 'invitation',
    payload: { ...payload, ...more },
    attempts,
  })
  return { merchant, email, userId: user.id, invitation: payload.id, job }
}

/** What a process needs to deliver, with a mail server at this port. */
function partsWith(port: number, host = '127.0.0.1') {
  const settings = { host, port, user: undefined, pass: undefined, adminEmail: 'no-reply@pay.test', senderName: 'Pay' }
  const smtp = createTransport(settings, { clientName: 'pay.test', hostSetting: 'PAY_SMTP_HOST' })
  onTestFinished(() => smtp.close())
  return { ...service.app, log: log.log, smtp }
}

async function startSink() {
  const sink = await startSmtpSink()
  onTestFinished(() => sink.close())
  return sink
}

const jobs = () => service.app.db<{ payload: object; run_at: Date }>`select payload, run_at from pay.jobs`

test('a mail that is sent again carries the same Message-ID and date', async () => {
  const sink = await startSink()
  const { email, job } = await invite()
  const { now } = service
  await deliverInvitation(partsWith(sink.port), job())
  now.advance(120)
  await deliverInvitation(partsWith(sink.port), job(2))
  const [one, other] = sink.mails()
  expect(one).toMatchObject({ to: [email], text: expect.stringContaining('A member has invited you to shop.test') })
  expect(other?.headers).toMatchObject({ 'message-id': one?.headers['message-id'], date: one?.headers.date })
})

test('two invitations carry different ones', async () => {
  const sink = await startSink()
  for (const { job } of [await invite(), await invite()]) await deliverInvitation(partsWith(sink.port), job())
  expect(new Set(sink.mails().map(({ headers }) => headers['message-id'])).size).toBe(2)
})

test('whoever was revoked before the mail left gets none', async () => {
  const sink = await startSink()
  const { userId, job } = await invite()
  await service.app.db`delete from pay.members where identity_id = ${userId}`
  await deliverInvitation(partsWith(sink.port), job())
  expect(sink.mails()).toEqual([])
  expect(log.lines).toEqual([])
})

test('a mail server that is away is tried again, often at first and evenly later, for five days', async () => {
  const { job } = await invite()
  const parts = partsWith(nobody)
  await expect(deliverInvitation(parts, job(9))).rejects.toThrow('127.0.0.1:1')
  expect(await jobs()).toEqual([])
  await deliverInvitation(parts, job(10))
  const [later] = await jobs()
  expect(later?.payload).toMatchObject({ slow: true })
  const minutes = ((later?.run_at.getTime() ?? 0) - service.now().getTime()) / 60_000
  expect(minutes).toBeGreaterThan(10)
  expect(minutes).toBeLessThan(20)
  await deliverInvitation(parts, job(1, { slow: true }))
  expect(await jobs()).toHaveLength(2)
  const early = new Date(service.now().getTime() - 6 * 86_400_000).toISOString()
  await deliverInvitation(parts, job(1, { slow: true, at: early }))
  expect(await jobs()).toHaveLength(2)
  expect(log.lines.at(-1)).toMatchObject({
    level: 'error',
    message: 'invitation given up',
    error: 'it could not be sent in time',
  })
})

test('a recipient that the server refuses is given up, and no log holds the address', async () => {
  const { email, job, invitation } = await invite()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (said) => {
      const refused = /^RCPT TO:<(.*)>/.exec(said.toString())
      socket.write(refused ? `550 No ${refused[1]} here: ${refused[1]}\r\n` : '250 fine\r\n')
    })
    socket.write('220 a server that knows nobody\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  await deliverInvitation(partsWith((server.address() as AddressInfo).port), job())
  expect(await jobs()).toEqual([])
  expect(log.lines).toMatchObject([{ level: 'error', message: 'invitation given up', invitation }])
  expect(JSON.stringify(log.lines)).not.toContain(email)
})

test('where the mail server was taken out of the settings since, the operator is told which', async () => {
  const { job } = await invite()
  await deliverInvitation(partsWith(25, ''), job())
  expect(log.lines).toMatchObject([{ message: 'invitation given up', error: 'PAY_SMTP_HOST is not set, so no mail can be sent' }])
})

test('the job goes with the membership: what is rolled back mails nobody', async () => {
  const own = await startPayments({
    PAY_SMTP_HOST: '127.0.0.1',
    PAY_SMTP_PORT: '1',
    PAY_SMTP_ADMIN_EMAIL: 'no-reply@pay.test',
    PAY_SITE_URL: 'https://pay.test',
  })
  onTestFinished(() => own.stop())
  const { id } = await createApp(own.call)
  const who = { kind: 'app' as const, id, name: null, created: own.now() }
  // There is no such merchant, which the table refuses after the person was entered.
  const invited = own.app.db.begin((tx) =>
    inviteUser(own.app, tx, { who, merchantId: '0'.repeat(24), email: 'nobody@example.com' }),
  )
  await expect(invited).rejects.toThrow()
  expect(await own.app.db`select from pay.jobs`).toEqual([])
  expect(await own.app.db`select from pay.users`).toEqual([])
})
