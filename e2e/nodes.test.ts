import { randomUUID } from 'node:crypto'
import { identity } from '@tollgate/identity/main'
import { type Db, openDb } from '@tollgate/kit/db'
import { type SmtpSink, startSmtpSink } from '@tollgate/kit/smtp-sink'
import type { Call, Called } from '@tollgate/kit/testing'
import { payments } from '@tollgate/payments/main'
import { createApp } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Node, startNodes } from './nodes-programs.ts'
import { createClient, findDifferences, judge, load, openShop } from './payments-kill.ts'
import { openShop as openPlainShop, pay } from './payments-service.ts'

/** Three processes of each service, a balancer before them, and between them and one PostgreSQL a pooler in transaction mode. */
type Nodes = Awaited<ReturnType<typeof startNodes>>

const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))
/** Requests that go to all nodes in turn, at once. */
const storm = (nodes: readonly Node[], count: number, ask: (call: Call) => Promise<Called>) =>
  Promise.all(times(count, (index) => ask((nodes[index % nodes.length] as Node).call)))
const from = (address: string) => ({ 'x-forwarded-for': address })
const migrationsOf = ({ nodes }: Nodes) =>
  nodes.flatMap(({ lines }) => lines.flatMap(({ migrations }) => (migrations as string[] | undefined) ?? []))

describe('identity', () => {
  const password = 'correct horse battery'
  let mails: SmtpSink
  let service: Nodes
  let db: Db
  let first: Node
  let second: Node
  let third: Node
  beforeAll(async () => {
    mails = await startSmtpSink()
    service = await startNodes('identity', 3, {
      AUTH_SMTP_PORT: String(mails.port),
      AUTH_MAILER_AUTOCONFIRM: 'true',
      AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
      AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For',
      AUTH_RATE_LIMIT_VERIFY: '10',
      AUTH_SECURITY_STRICT_LOGOUT: 'true',
    })
    db = openDb({ url: service.url, schema: { written: 'auth', actual: 'auth' }, name: 'nodes' })
    ;[first, second, third] = service.nodes as [Node, Node, Node]
  })
  afterAll(async () => {
    await db?.close()
    await service?.stop()
    await mails?.close()
  })

  type Told = { access_token: string; refresh_token: string; error_code?: string }
  const signUp = async (call: Call, email = `${randomUUID()}@site.test`) => {
    const answer = await call('POST /signup', { json: { email, password } })
    expect(answer.status).toBe(200)
    return { email, ...answer.json<Told>() }
  }
  const signIn = (call: Call, email: string, given = password) =>
    call('POST /token?grant_type=password', { json: { email, password: given } })
  const refresh = (call: Call, token: string) => call('POST /token?grant_type=refresh_token', { json: { refresh_token: token } })
  const bearer = ({ access_token }: Told) => ({ authorization: `Bearer ${access_token}` })

  test('three that start at once take every migration once', () => {
    expect(migrationsOf(service)).toEqual(identity.migrations.map(({ version, name }) => `${version}_${name}`))
  })

  test('who signs up at one node signs in at another and is known at the third', async () => {
    const { email } = await signUp(first.call)
    const signedIn = await signIn(second.call, email)
    expect(signedIn.status).toBe(200)
    const me = await third.call('GET /user', { headers: bearer(signedIn.json<Told>()) })
    expect([me.status, me.json().email]).toEqual([200, email])
  })

  test('a password that is changed, and a session that is ended, are so for all nodes at once', async () => {
    const { email, ...told } = await signUp(first.call)
    const changed = await second.call('PUT /user', { headers: bearer(told), json: { password: 'another horse battery' } })
    expect(changed.status).toBe(200)
    expect((await signIn(third.call, email)).status).toBe(400)
    const session = (await signIn(first.call, email, 'another horse battery')).json<Told>()
    expect((await second.call('POST /logout', { headers: bearer(session) })).status).toBe(204)
    expect((await third.call('GET /user', { headers: bearer(session) })).json().error_code).toBe('session_not_found')
    expect((await refresh(first.call, session.refresh_token)).json().error_code).toBe('refresh_token_not_found')
  })

  test('thirty refreshes of one token at three nodes at once have one successor', async () => {
    const { refresh_token: token } = await signUp(first.call)
    const answers = await storm(service.nodes, 30, (call) => refresh(call, token))
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const successors = new Set(answers.map((answer) => answer.json<Told>().refresh_token))
    expect(successors.size).toBe(1)
    expect(successors).not.toContain(token)
  })

  test('a rate limit holds for all nodes together', async () => {
    const ask = (address: string) => (call: Call) =>
      call('POST /verify', { headers: from(address), json: { type: 'signup', email: 'a@site.test', token: '000000' } })
    const limited = (answers: readonly Called[]) => answers.filter(({ status }) => status === 429).length
    // Thirty at once, and then ten in five minutes.
    expect(limited(await storm(service.nodes, 45, ask('192.0.2.1')))).toBe(15)
    expect(limited(await storm(service.nodes, 30, ask('192.0.2.2')))).toBe(0)
  })

  test('what all nodes look for to send is sent once', async () => {
    const people = await Promise.all(times(12, (index) => signUp((service.nodes[index % 3] as Node).call)))
    await Promise.all(people.map(({ email }) => service.call('POST /recover', { json: { email } })))
    await expect.poll(() => db`select from auth.jobs`, { timeout: 10_000, interval: 20 }).toHaveLength(0)
    const arrived = mails.mails().flatMap(({ to }) => to)
    expect(arrived.sort()).toEqual(people.map(({ email }) => email).sort())
  })
})

describe('payments', () => {
  let service: Nodes
  let db: Db
  beforeAll(async () => {
    service = await startNodes('payments', 3, {
      PAY_ASK_AGAIN_AFTER: '1',
      PAY_VAULT_KEYS: `nodes:${Buffer.alloc(32, 'nodes').toString('base64')}`,
      PAY_RATE_LIMIT_HEADER: 'X-Forwarded-For',
      PAY_RATE_LIMIT_NEWCOMERS: '10',
    })
    db = openDb({ url: service.url, schema: { written: 'pay', actual: 'pay' }, name: 'nodes' })
  })
  afterAll(async () => {
    await db?.close()
    await service?.stop()
  })

  test('three that start at once take every migration once', () => {
    expect(migrationsOf(service)).toEqual(payments.migrations.map(({ version, name }) => `${version}_${name}`))
  })

  test('one key at three nodes at once moves money once, and all are told the same', async () => {
    const shop = await openPlainShop(service)
    const id = await pay(service, shop, { amount: 1000 })
    const headers = { authorization: shop.authorization, 'idempotency-key': randomUUID() }
    const capture = (call: Call) => call(`POST /transactions/${id}/captures`, { headers, json: { amount: 300 } })
    const answers = await storm(service.nodes, 30, capture)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(201)
    expect(await db`select captured from pay.transactions where id = ${id}`).toEqual([{ captured: 300 }])
  })

  test('ten captures of 300 on 1000, spread over three nodes: three pass', async () => {
    const shop = await openPlainShop(service)
    const id = await pay(service, shop, { amount: 1000 })
    const { authorization } = shop
    const answers = await storm(service.nodes, 10, (call) =>
      call(`POST /transactions/${id}/captures`, { headers: { authorization }, json: { amount: 300 } }),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    expect(await db`select captured from pay.transactions where id = ${id}`).toEqual([{ captured: 900 }])
  })

  test('a rate limit holds for all nodes together', async () => {
    const answers = await storm(service.nodes, 30, (call) => call('POST /apps', { headers: from('192.0.2.1'), json: {} }))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
    expect((await createApp(service.call)).id).toMatch(/^[0-9a-f]{24}$/)
  })

  test('a node that is killed under load costs nothing that was acknowledged, and the others go on', async () => {
    const client = createClient(service.balancer.origin)
    const shop = await openShop(client)
    let isOpen = true
    const loading = load(client, shop, { assistants: 6, isOpen: () => isOpen })
    const [victim, ...others] = service.nodes as [Node, Node, Node]
    const { given } = service.balancer
    const served = () => others.map(({ port }) => given.get(port) ?? 0)
    const until = (count: number) =>
      expect.poll(() => Math.min(...served()), { timeout: 15_000, interval: 10 }).toBeGreaterThan(count)
    await until(Math.max(...served()) + 15)
    await victim.kill()
    const [before, atVictim] = [served(), given.get(victim.port)]
    await until(Math.max(...before) + 30)
    isOpen = false
    const history = await loading
    expect(given.get(victim.port)).toBe(atVictim)
    const { lost, doubled, refused, changed } = await judge(db, client, shop, history)
    expect({ lost, doubled, refused, changed }).toEqual({ lost: [], doubled: [], refused: [], changed: [] })
    expect(await findDifferences(db, shop, history)).toEqual([])
    client.close()
  }, 40_000)
})
