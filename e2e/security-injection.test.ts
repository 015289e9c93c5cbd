import { identity } from '@tollgate/identity/main'
import { createAccount, startWithInbox } from '@tollgate/identity/testing'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import type { TestedService } from '@tollgate/kit/testing'
import { payments } from '@tollgate/payments/main'
import { plantMerchant, plantTransaction, startPayments } from '@tollgate/payments/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atOnce } from './security-addresses.ts'
import { asCall, type Sound, type SoundCalls, soundIdentityCalls, soundPaymentsCalls } from './security-calls.ts'

type Shape = { type?: string; properties?: Record<string, Shape>; anyOf?: Shape[]; items?: Shape }
type Endpoint = {
  method: string
  path: string
  caller: { security: { name: string } | undefined }
  params?: unknown
  query?: unknown
  body?: unknown
}
type Fields = Record<string, unknown>

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`

/** Whether there is a place where a caller can put anything. */
const asksForAnything = ({ params, query, body, caller }: Endpoint) =>
  params !== undefined || query !== undefined || body !== undefined || caller.security !== undefined

/** The places in a shape, and those that a sound request has besides: `['card', 'expiry', 'month']`. */
function placesOf(shape: unknown, sound: unknown): string[][] {
  const { properties, anyOf = [] } = (shape ?? {}) as Shape
  const members = anyOf.find((each) => each.properties)?.properties ?? properties ?? {}
  const given = typeof sound === 'object' && sound !== null && !Array.isArray(sound) ? (sound as Fields) : {}
  const names = new Set([...Object.keys(members), ...Object.keys(given)])
  return [...names].flatMap((name) => [[name], ...placesOf(members[name], given[name]).map((inner) => [name, ...inner])])
}

/** A copy with something else in one place. */
function put(fields: Fields | undefined, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  const inner = fields?.[name]
  const own = typeof inner === 'object' && inner !== null ? (inner as Fields) : {}
  return { ...fields, [name]: rest.length === 0 ? value : put(own, rest, value) }
}

const product = String(7919 * 7907)

/** What each would do, if anybody read it as more than text. */
const texts = (outside: string) => [
  "x'; drop table canary; --",
  "' or '1'='1",
  "1; update canary set word = 'forged'",
  "$$; delete from canary; $$\\'; delete from canary; --",
  '"></script><script>forged()</script><img src=x onerror=forged()>',
  'x\r\nX-Forged: yes\r\n\r\n<script>forged()</script>',
  'a@site.test>\r\nRCPT TO:<forged@evil.test>\r\nBcc: forged@evil.test\r\n\r\nforged',
  'x\n{"level":"panic","message":"forged"}\u001b[2J',
  `{{7919*7907}}$\{7919*7907}<%=7919*7907%>#{7919*7907}{{ .Token }}$(touch forged)\`touch forged\``,
  '../../../../../../etc/passwd',
  `${outside}/forged`,
]

/** What is no text where one is asked for. */
const things: readonly unknown[] = [
  { $ne: null },
  ["' or '1'='1"],
  JSON.parse('{"__proto__":{"forged":true},"constructor":{"prototype":{"forged":true}}}'),
]

async function query(url: string, text: string): Promise<Fields[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const urlOf = (service: { app: { config: { db: { url: { reveal(): string } } } } }) => service.app.config.db.url.reveal()

/** Every row of every table of a schema, as text. */
async function dump(url: string, schema: string): Promise<string> {
  const tables = await query(url, `select tablename as name from pg_tables where schemaname = '${schema}' order by 1`)
  const rows = await Promise.all(
    tables.map(async ({ name }) => [
      name,
      ...(await query(url, `select t::text as row from ${schema}.${name} t`)).map(({ row }) => row),
    ]),
  )
  return rows.flat().join('\n')
}

let outside: HttpFake
let mailed: Awaited<ReturnType<typeof startWithInbox>>
let paid: Awaited<ReturnType<typeof startPayments>>
let provider: HttpFake
let stages: Record<'identity' | 'payments', Stage>

type Stage = {
  service: Pick<TestedService<unknown>, 'call' | 'lines'>
  endpoints: readonly Endpoint[]
  calls: SoundCalls
  url: string
  schema: string
  /** What belongs to somebody who never asks anything: nobody else is told it, and it stays as it is. */
  victim: { marks: string[]; rows: string }
}

beforeAll(async () => {
  outside = await startHttpFake(() => ({ text: 'reached' }))
  provider = await startHttpFake(() => ({ status: 404 }))
  mailed = await startWithInbox({
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_SMS_MAX_FREQUENCY: '0',
    AUTH_PASSWORD_HASH_QUEUE: '10000',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_MAILER_LINK_PAGE_ENABLED: 'true',
    ...Object.fromEntries(
      ['VERIFY', 'TOKEN_REFRESH', 'OTP', 'ANONYMOUS_USERS', 'HEADER'].map((name) => [
        `AUTH_RATE_LIMIT_${name}`,
        name === 'HEADER' ? '' : '1000000',
      ]),
    ),
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'our client',
    AUTH_EXTERNAL_GITHUB_SECRET: 'our secret',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
    AUTH_EXTERNAL_GITHUB_URL: provider.origin,
  })
  paid = await startPayments()
  for (const service of [mailed, paid])
    await query(urlOf(service), "create table canary (word text); insert into canary values ('sings')")

  const email = 'victim-of-nobody@private.test'
  const victim = await createAccount(mailed, { email, userMetadata: { secret: 'victims secret' } })
  const shop = await plantMerchant(paid)
  const theirs = await plantMerchant(paid)
  const transaction = await plantTransaction(paid, { merchantId: theirs.id })
  stages = {
    identity: {
      ...{
        service: mailed,
        endpoints: identity.endpoints as readonly Endpoint[],
        calls: soundIdentityCalls(mailed),
        url: urlOf(mailed),
      },
      schema: 'auth',
      victim: {
        marks: [email, victim.userId, 'victims secret'],
        rows: `select to_jsonb(u)::text as row from auth.users u where id = '${victim.userId}'`,
      },
    },
    payments: {
      ...{
        service: paid,
        endpoints: payments.endpoints as readonly Endpoint[],
        calls: soundPaymentsCalls(paid, shop),
        url: urlOf(paid),
      },
      schema: 'pay',
      victim: {
        marks: [theirs.id, theirs.key, transaction],
        rows: `select to_jsonb(m)::text as row from pay.merchants m where id = '${theirs.id}'
          union all select to_jsonb(t)::text from pay.transactions t where merchant_id = '${theirs.id}'
          union all select to_jsonb(m)::text from pay.members m where merchant_id = '${theirs.id}' order by 1`,
      },
    },
  }
})
afterAll(async () => {
  await mailed?.stop()
  await paid?.stop()
  await Promise.all([outside?.close(), provider?.close()])
})

describe.each(['identity', 'payments'] as const)('%s', (name) => {
  test('there is a sound request to every endpoint that takes anything, and it is answered as such', async () => {
    const { endpoints, calls, service } = stages[name]
    const taking = endpoints.filter((each) => asksForAnything(each)).map(nameOf)
    expect(taking.filter((each) => !Object.hasOwn(calls, each))).toEqual([])
    const refused = []
    for (const [endpoint, ways] of Object.entries(calls)) {
      const [first] = ways
      const { status } = await service.call(...asCall(endpoint, (await first?.()) ?? {}))
      if (status >= 400) refused.push(endpoint)
    }
    // These take a contract with somebody who is not here.
    const contracts = ['POST /applepay/token', 'POST /applepay/approve-payment-session', 'POST /googlepay/token']
    expect(refused).toEqual(name === 'payments' ? contracts : [])
  })

  test('whatever is put into whichever parameter of whichever endpoint is text, and no more', async () => {
    const { endpoints, calls, service, url, victim } = stages[name]
    const before = await query(url, victim.rows)
    const wrong: string[] = []
    let sent = 0

    const attack = async (endpoint: Endpoint, sound: Sound, place: string, value: unknown) => {
      const { status, text, headers } = await service.call(...asCall(nameOf(endpoint), sound))
      sent++
      const complain = (what: string) =>
        wrong.push(`${nameOf(endpoint)} ${place} ${JSON.stringify(value)}: ${what.slice(0, 200)}`)
      // Whoever is turned away at the door has attacked nothing but the door.
      if (status >= 500 || status === 429) complain(`${status} ${text}`)
      if (headers['x-forged'] !== undefined || /^\s*<script/i.test(text)) complain('a header was added')
      if (/syntax error at|pg_catalog|unterminated quoted|SQLSTATE/i.test(text)) complain('the database speaks')
      const isPage = String(headers['content-type']).startsWith('text/html')
      if (isPage && /<script>forged|<img src=x|onerror=forged\(\)>/.test(text)) complain('markup was added')
      if (text.includes(product) || /root:x?:0/.test(text)) complain('something was carried out')
      const privileged = endpoint.caller.security?.name === 'adminToken'
      if (!privileged && victim.marks.some((mark) => text.includes(mark))) complain('somebody else’s data was told')
    }

    type Attack = () => Promise<void>
    const attacks: Attack[] = []
    for (const endpoint of endpoints)
      for (const make of calls[nameOf(endpoint)] ?? []) {
        const first = await make()
        for (const place of ['params', 'query', 'body'] as const)
          for (const path of placesOf(endpoint[place], first[place]))
            attacks.push(async () => {
              const sound = await make()
              // Two ways to say who it is are one too many.
              const rival = path[0] === 'phone' ? { email: undefined } : {}
              const values = [...texts(outside.origin), ...(place === 'body' ? things : [])]
              for (const value of values) {
                const fields = put({ ...(sound[place] as Fields), ...rival }, path, value)
                await attack(endpoint, { ...sound, [place]: fields }, `${place} ${path.join('.')}`, value)
              }
            })
        // Names are as much the caller's as values are.
        for (const value of texts(outside.origin).slice(0, 6))
          attacks.push(async () => {
            const sound = await make()
            await attack(endpoint, { ...sound, query: { ...sound.query, [value]: 'x' } }, 'query', value)
            if (sound.body) await attack(endpoint, { ...sound, body: { ...sound.body, [value]: 'x' } }, 'body', value)
          })
      }
    await atOnce(attacks, (each) => each())
    expect(wrong.slice(0, 20)).toEqual([])
    expect(sent).toBeGreaterThan(3_000)
    expect(await query(url, 'select word from canary')).toEqual([{ word: 'sings' }])
    expect(await query(url, victim.rows)).toEqual(before)
    expect(outside.requests).toEqual([])
    expect(({} as { forged?: true }).forged).toBeUndefined()
  }, 300_000)

  test('the log has a line for every request, in its own form, and none that somebody else wrote', () => {
    const { lines } = stages[name].service
    expect(lines.length).toBeGreaterThan(3_000)
    // Each line was read as JSON when it was written: a line break in one would have been two.
    for (const { level, message } of lines) expect([level === 'panic', message === 'forged']).toEqual([false, false])
    expect(lines.some((line) => JSON.stringify(line).includes('X-Forged'))).toBe(false)
  })
})

test('mails go to nobody whom an address smuggled in, and carry nothing out', () => {
  const mails = mailed.mails.mails()
  expect(mails.length).toBeGreaterThan(50)
  for (const { to, html, text } of mails) {
    expect(to.filter((address) => address.includes('evil.test'))).toEqual([])
    expect(`${html}${text}`).not.toMatch(/<script>forged|<img src=x/)
    expect(`${html}${text}`).not.toContain(product)
  }
})

describe('mass assignment', () => {
  /** Values that stand nowhere else, under the names that things go by here, there and in other people's tables. */
  const hidden: Fields = {
    ...{
      id: '66666666-6666-4666-8666-fedcbafedcba',
      user_id: '66666666-6666-4666-8666-fedcbafedcba',
      sub: 'mass-sub',
      aud: 'mass-aud',
    },
    ...{
      role: 'mass-role',
      roles: ['mass-role'],
      is_super_admin: true,
      isAdmin: true,
      admin: true,
      aal: 'mass-aal',
      amr: ['mass-amr'],
    },
    ...{
      confirmed_at: '2001-02-03T04:05:06Z',
      email_confirmed_at: '2001-02-03T04:05:06Z',
      phone_confirmed_at: '2001-02-03T04:05:06Z',
    },
    ...{ banned_until: '2001-02-03T04:05:06Z', created_at: '2001-02-03T04:05:06Z', deleted_at: '2001-02-03T04:05:06Z' },
    ...{
      encrypted_password: 'mass-hash',
      password_hash: 'mass-hash',
      raw_app_meta_data: { mass: 'mass-meta' },
      app_metadata: { mass: 'mass-meta' },
    },
    ...{ appMetadata: { mass: 'mass-meta' }, identities: [{ provider: 'mass-provider' }], is_anonymous: true, is_sso_user: true },
    ...{
      session_id: 'mass-session',
      confirmation_token: 'mass-token',
      recovery_token: 'mass-token',
      emailConfirmedAt: '2001-02-03T04:05:06Z',
    },
    ...{ created: '2001-02-03T04:05:06Z', merchantId: 'fedcbafedcbafedcbafedcba', merchant_id: 'fedcbafedcbafedcbafedcba' },
    ...{
      key: 'mass-key',
      key_hash: 'mass-hash',
      owner: 'mass-owner',
      members: ['mass-member'],
      identity_id: 'fedcbafedcbafedcbafedcba',
    },
    ...{
      balance: 777_000_777_000,
      amountCaptured: 777_000_777_000,
      capturable: 777_000_777_000,
      capturedAmount: 777_000_777_000,
    },
    ...{
      refundedAmount: 777_000_777_000,
      pendingAmount: 777_000_777_000,
      voidedAmount: 777_000_777_000,
      fee: 777_000_777_000,
      flat: 777_000_777_000,
    },
    ...{
      successful: true,
      approved: true,
      state: 'mass-state',
      status: 'mass-status',
      error: 'mass-error',
      test: true,
      recurring: true,
    },
    ...{ trail: [{ amount: 777_000_777_000, capture: true }], acquirer: 'mass-acquirer', acquirer_reference: 'mass-reference' },
    ...{
      pricing: { rate: 777_000_777_000 },
      price: { rate: 777_000_777_000 },
      claim: { canCapture: true },
      terms: { plans: 'mass-terms' },
    },
    ...{ tds: { mode: 'mass-tds' }, scheme: 'mass-scheme', last4: 'mass', bin: 'mass-bin', card_id: 'fedcbafedcbafedcbafedcba' },
    ...{ won: true, decided: '2001-02-03T04:05:06Z', lines: [{ amount: 777_000_777_000 }], payout: 'mass-payout' },
  }
  // So long that no id and no hash has one by chance.
  const sentinel = /mass-[a-z]{3}|fedcbafedcba|777000777000|2001-02-03/

  /** With every name that a shape does not have, in it and in every object within. */
  function overfilled(fields: Fields, shape: Shape | undefined, isFree: boolean): Fields {
    if (isFree) return fields
    const members = shape?.properties ?? {}
    const known = new Set(Object.keys(members).map((each) => each.toLowerCase()))
    const inner = Object.entries(fields).map(([name, value]) => {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      const own = members[name]
      return [name, isObject ? overfilled(value as Fields, own, own?.properties === undefined) : value]
    })
    const extra = Object.entries(hidden).filter(([name]) => !known.has(name.toLowerCase()) && !Object.hasOwn(fields, name))
    return { ...Object.fromEntries(extra), ...Object.fromEntries(inner) }
  }

  test.each(['identity', 'payments'] as const)(
    '%s keeps and tells nothing that an endpoint does not ask for',
    async (name) => {
      const { endpoints, calls, service, url, schema } = stages[name]
      const before = (await dump(url, schema)).split('\n').filter((row) => sentinel.test(row))
      const wrong: string[] = []
      let tried = 0
      for (const endpoint of endpoints)
        for (const make of calls[nameOf(endpoint)] ?? []) {
          const plain = await service.call(...asCall(nameOf(endpoint), await make()))
          const sound = await make()
          const isFree = (endpoint.body as Shape | undefined)?.properties === undefined
          const asked = {
            ...sound,
            query: {
              ...Object.fromEntries(Object.entries(hidden).filter(([key]) => !takes(endpoint.query, key))),
              ...sound.query,
            },
            ...(sound.body && { body: overfilled(sound.body, endpoint.body as Shape, isFree) }),
          }
          // Whatever is not the provider's business is handed on to it by design, and GET /pos reads what it likes.
          const handsOn = /\/authorize$|\/callback$|\/pos$|\/popup$/.test(endpoint.path)
          const { status, text } = await service.call(
            ...asCall(nameOf(endpoint), handsOn ? { ...asked, query: sound.query ?? {} } : asked),
          )
          tried++
          if (status !== plain.status)
            wrong.push(`${nameOf(endpoint)} answered ${status} instead of ${plain.status}: ${text.slice(0, 200)}`)
          if (sentinel.test(text)) wrong.push(`${nameOf(endpoint)} told it: ${text.slice(0, 500)}`)
        }
      expect(wrong).toEqual([])
      expect(tried).toBeGreaterThan(30)
      expect((await dump(url, schema)).split('\n').filter((row) => sentinel.test(row))).toEqual(before)
    },
    60_000,
  )

  const takes = (shape: unknown, name: string) =>
    Object.keys((shape as Shape | undefined)?.properties ?? {}).some((each) => each.toLowerCase() === name.toLowerCase())

  test('nobody has become more than they were', async () => {
    const { url } = stages.identity
    const risen = `is_super_admin or is_anonymous or is_sso_user or role in ('service_role', 'supabase_admin', 'mass-role')`
    expect(await query(url, `select id, role from auth.users where ${risen}`)).toEqual([])
    const headers = { authorization: (await createAccount(mailed)).authorization }
    const asked = { json: { app_metadata: { role: 'mass-role' }, data: { role: 'service_role' } }, headers }
    await mailed.call('PUT /user', asked)
    const { app_metadata: kept, role } = (await mailed.call('GET /user', { headers })).json<Fields>()
    expect([kept, role]).toEqual([{ provider: 'email', providers: ['email'] }, 'authenticated'])
  })

  test('what a merchant is cannot be changed by whoever has it', async () => {
    const { call } = paid
    const shop = await plantMerchant(paid)
    const headers = { authorization: shop.authorization }
    const read = async () => (await call(`GET /merchants/${shop.id}`, { headers })).json<{ merchant: Fields }>().merchant
    const before = await read()
    const changes: Fields[] = [
      ...[
        { id: 'fedcbafedcbafedcbafedcba' },
        { key: 'mass-key' },
        { currency: 'USD' },
        { test: false },
        { website: 'https://evil.test' },
      ],
      ...[{ created: '2001-02-03T04:05:06Z' }, { company: { country: 'SE' } }, { bank: { iban: 'DE89370400440532013000' } }],
      ...[
        { claim: { canTransferToCard: true } },
        { pricing: { rate: 0 } },
        { pricing: { flat: { amount: 0 } } },
        { tds: { mode: 'none' } },
      ],
    ]
    for (const json of changes)
      expect([json, (await call(`PUT /merchants/${shop.id}`, { headers, json })).status]).toEqual([json, 400])
    expect(await read()).toEqual(before)
  })
})
