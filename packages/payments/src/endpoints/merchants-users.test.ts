import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { type SmtpSink, startSmtpSink } from '@tollgate/kit/smtp-sink'
import { oneProcess } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { plantMerchant, startPayments } from '../testing.ts'

const secret = new Secret('a secret that both services know of, 32+')

let mails: SmtpSink
let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  mails = await startSmtpSink()
  service = await startPayments({
    PAY_JWT_SECRET: secret.reveal(),
    PAY_SMTP_HOST: '127.0.0.1',
    PAY_SMTP_PORT: String(mails.port),
    PAY_SMTP_ADMIN_EMAIL: 'no-reply@pay.test',
    PAY_SMTP_SENDER_NAME: 'Tollgate',
    PAY_SITE_URL: 'https://console.pay.test/sign-in',
  })
})
afterAll(async () => {
  await service.stop()
  await mails.close()
})
beforeEach(async () => {
  mails.clear()
  merchant = await plantMerchant(service)
})

const headers = (authorization = merchant.authorization) => ({ authorization, accept: 'application/json' })

/** How somebody with this address shows that they signed in. */
function bearer(email: string, name?: string): string {
  const exp = Math.floor(service.now().getTime() / 1000) + 3600
  const claims = { aud: 'authenticated', role: 'authenticated', email, exp, user_metadata: name === undefined ? {} : { name } }
  return `Bearer ${signToken(claims, secret)}`
}

function invite(email: unknown, authorization = merchant.authorization) {
  return service.call(`POST /merchants/${merchant.id}/users`, { headers: headers(authorization), json: { email } })
}

type User = { id: string; created: string; email: string; name: string | null }

async function list(query = 'limit=100', authorization = merchant.authorization): Promise<User[]> {
  return (await service.call(`GET /merchants/${merchant.id}/users?${query}`, { headers: headers(authorization) })).json<User[]>()
}

const emails = async (query?: string) => (await list(query)).map(({ email }) => email)
const mailsTo = (address: string) => mails.mails().filter(({ to }) => to.includes(address))
const jobsLeft = () => service.app.db`select from pay.jobs`

test('whoever is invited for the first time is no member yet, and gets a mail that tells by whom, to what and where to go', async () => {
  await service.app.db`update pay.merchants set name = 'Gärtnerei <Müller>' where id = ${merchant.id}`
  await service.app.db`update pay.apps set name = 'Back office' where id = ${merchant.app.id}`
  const answer = await invite(' Ann@Example.com ')
  expect([answer.status, answer.text]).toEqual([201, '{"isMember":false}\n'])
  const mail = await mails.next(({ to }) => to.includes('ann@example.com'))
  expect(mail).toMatchObject({ from: 'no-reply@pay.test', subject: 'You have been invited to Gärtnerei <Müller>' })
  expect(mail.text).toContain('Back office has invited you to Gärtnerei <Müller>')
  expect(mail.html).toContain('Gärtnerei &#60;Müller&#62;')
  expect(mail.links).toEqual(['https://console.pay.test/sign-in'])
  expect(mail.headers).toMatchObject({ 'auto-submitted': 'auto-generated' })
  expect(mail.headers['message-id']).toMatch(/^<invitation\.[0-9a-f]{24}@pay\.test>$/)
  await expect.poll(jobsLeft).toEqual([])
})

test('whoever is a member already gets no mail', async () => {
  await invite('again@example.com')
  await mails.next(({ to }) => to.includes('again@example.com'))
  const answer = await invite('AGAIN@example.com')
  expect([answer.status, answer.text]).toEqual([201, '{"isMember":true}\n'])
  await expect.poll(jobsLeft).toEqual([])
  expect(mailsTo('again@example.com')).toHaveLength(1)
})

test('somebody with an account who is no member of this merchant is invited like anybody else', async () => {
  await service.call('GET /me', { headers: headers(bearer('known@example.com', 'Known')) })
  expect((await invite('known@example.com')).json()).toEqual({ isMember: false })
  await mails.next(({ to }) => to.includes('known@example.com'))
  expect(await list()).toMatchObject([{ email: 'known@example.com', name: 'Known' }])
})

test('ten invitations of one person at once make one membership and one mail', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => invite('crowd@example.com')))
  expect(answers.filter((answer) => answer.json().isMember === false)).toHaveLength(1)
  await mails.next(({ to }) => to.includes('crowd@example.com'))
  await expect.poll(jobsLeft).toEqual([])
  expect(mailsTo('crowd@example.com')).toHaveLength(1)
  expect(await emails()).toEqual(['crowd@example.com'])
})

test('a person who was invited has every right of a member as soon as they sign in, and is told as the one who invites', async () => {
  await invite('boss@example.com')
  const boss = bearer('Boss@example.com', 'The Boss')
  service.now.advance(1)
  expect((await invite('third@example.com', boss)).json()).toEqual({ isMember: false })
  const mail = await mails.next(({ to }) => to.includes('third@example.com'))
  expect(mail.text).toContain('The Boss (boss@example.com) has invited you to shop.test')
  expect((await list('limit=100', boss)).map(({ email, name }) => [email, name])).toEqual([
    ['third@example.com', null],
    ['boss@example.com', 'The Boss'],
  ])
})

test('a revoked person is out at once, and a second revocation finds nobody', async () => {
  await invite('gone@example.com')
  const gone = bearer('gone@example.com')
  const [{ id } = { id: '' }] = await list('limit=1', gone)
  const revoke = () => service.call(`DELETE /merchants/${merchant.id}/users/${id}`, { headers: headers() })
  const answer = await revoke()
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await service.call(`GET /merchants/${merchant.id}/users?limit=1`, { headers: headers(gone) })).status).toBe(404)
  expect((await revoke()).status).toBe(404)
  expect(await list()).toEqual([])
  expect((await invite('gone@example.com')).json()).toEqual({ isMember: false })
})

test('a person may revoke themselves', async () => {
  await invite('leaver@example.com')
  const leaver = bearer('leaver@example.com')
  const [{ id } = { id: '' }] = await list('limit=1', leaver)
  const answer = await service.call(`DELETE /merchants/${merchant.id}/users/${id}`, { headers: headers(leaver) })
  expect(answer.status).toBe(204)
})

test('an app is no user, and a member of another merchant none of this one', async () => {
  const other = await plantMerchant(service)
  await service.call(`POST /merchants/${other.id}/users`, {
    headers: headers(other.authorization),
    json: { email: 'elsewhere@example.com' },
  })
  const [{ id } = { id: '' }] = await service.app.db<{
    id: string
  }>`select id from pay.users where email = 'elsewhere@example.com'`
  for (const user of [merchant.app.id, id, '0'.repeat(24), 'nobody'])
    expect((await service.call(`DELETE /merchants/${merchant.id}/users/${user}`, { headers: headers() })).status).toBe(404)
  expect(
    (await service.call(`GET /merchants/${other.id}/users?limit=1`, { headers: headers(other.authorization) })).json(),
  ).toHaveLength(1)
  expect(await list()).toEqual([])
})

test("another's merchant is not found, whatever is asked of it", async () => {
  const stranger = await plantMerchant(service)
  const asked = { headers: headers(stranger.authorization) }
  await invite('inside@example.com')
  const [{ id } = { id: '' }] = await list()
  for (const [what, more] of [
    [`POST /merchants/${merchant.id}/users`, { json: { email: 'eve@example.com' } }],
    [`POST /merchants/${merchant.id}/users`, { json: {} }],
    [`GET /merchants/${merchant.id}/users?limit=10`, {}],
    [`GET /merchants/${merchant.id}/users`, {}],
    [`DELETE /merchants/${merchant.id}/users/${id}`, {}],
  ] as const) {
    const answer = await service.call(what, { ...asked, ...more })
    expect(answer.status).toBe(404)
    expect(answer.text).not.toContain('inside@example.com')
  }
  expect(await emails()).toEqual(['inside@example.com'])
})

test('users come newest first, a line each, in pages either way', async () => {
  expect((await service.call(`GET /merchants/${merchant.id}/users?limit=5`, { headers: headers() })).text).toBe('[\n]\n')
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    service.now.advance(1)
    await invite(`${name}.${merchant.id}@example.com`)
  }
  const all = await list()
  expect(all.map(({ email }) => email[0])).toEqual(['e', 'd', 'c', 'b', 'a'])
  expect(Object.keys(all[0] ?? {})).toEqual(['id', 'created', 'email', 'name'])
  const [e, d, c, b, a] = all.map(({ id }) => id)
  const letters = async (query: string) => (await emails(query)).map((email) => email[0]).join('')
  expect(await letters('limit=2')).toBe('ed')
  expect(await letters(`limit=2&before=${d}`)).toBe('cb')
  expect(await letters(`limit=2&after=${c}`)).toBe('de')
  expect(await letters(`limit=9&after=${a}&before=${e}`)).toBe('dcb')
  expect(await letters(`limit=1&after=${a}&before=${e}`)).toBe('d')
  expect(await letters(`limit=9&before=${a}`)).toBe('')
  expect(await letters(`limit=9&after=${e}`)).toBe('')
  expect(await letters(`limit=9&before=${b}&sort=x&filter[unknown]=1`)).toBe('a')
})

test('users can be filtered by address and name', async () => {
  const [one, other] = [`one.${merchant.id}@example.com`, `other.${merchant.id}@example.com`]
  await invite(one)
  await invite(other)
  await service.call('GET /me', { headers: headers(bearer(one, 'The One')) })
  expect(await emails(`limit=9&filter[email]=${one.toUpperCase()}`)).toEqual([one])
  expect(await emails(`limit=9&filter[name]=The+One`)).toEqual([one])
  expect(await emails(`limit=9&filter[name]=The+One&filter[email]=${other}`)).toEqual([])
  expect(await emails(`limit=9&filter[name]=the`)).toEqual([])
  expect(await emails(`limit=1&after=${'0'.repeat(24)}&filter[email]=${other}`)).toEqual([other])
})

test.each([
  ['missing', {}, 'Required'],
  ['empty', { email: '' }, 'Required'],
  ['no address', { email: 'ann' }, 'email'],
  ['a list', { email: ['ann@example.com'] }, ''],
  ['two addresses', { email: 'ann@example.com,eve@example.com' }, 'email'],
  ['with a header in it', { email: 'ann@example.com\r\nBcc: eve@example.com' }, 'email'],
  ['very long', { email: `${'a'.repeat(400)}@example.com` }, ''],
])('an address that is %s is refused by the name of the field', async (_, json, message) => {
  const answer = await service.call(`POST /merchants/${merchant.id}/users`, { headers: headers(), json })
  expect(answer.status).toBe(400)
  expect(answer.json()).toEqual([{ field: 'email', message: expect.stringContaining(message) }])
  expect(await list()).toEqual([])
})

test.each(['', 'limit=0', 'limit=1001', 'limit=x', 'limit=9&before=x'])('a page such as %j is refused', async (query) => {
  const answer = await service.call(`GET /merchants/${merchant.id}/users?${query}`, { headers: headers() })
  expect(answer.status).toBe(400)
  expect(answer.json()).toMatchObject([{ field: query.includes('before') ? 'before' : 'limit' }])
})

test('a form will do', async () => {
  const answer = await service.call(`POST /merchants/${merchant.id}/users`, {
    headers: headers(),
    form: { email: 'form@example.com' },
  })
  expect(answer.json()).toEqual({ isMember: false })
})

test('without a mail server the membership stands all the same, nothing waits to be mailed, and the operator is told once', async () => {
  const own = await oneProcess('each process tells by itself', () => startPayments({ PAY_JWT_SECRET: secret.reveal() }))
  onTestFinished(() => own.stop())
  const shop = await plantMerchant(own)
  for (const email of ['one@example.com', 'two@example.com']) {
    const answer = await own.call(`POST /merchants/${shop.id}/users`, { headers: headers(shop.authorization), json: { email } })
    expect(answer.json()).toEqual({ isMember: false })
  }
  const answer = await own.call(`GET /merchants/${shop.id}/users?limit=9`, { headers: headers(bearer('one@example.com')) })
  expect(answer.json()).toHaveLength(2)
  expect(await own.app.db`select from pay.jobs`).toEqual([])
  expect(own.lines.filter(({ message }) => message.includes('PAY_SMTP_HOST'))).toHaveLength(1)
})
