import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import type { App } from '@tollgate/identity/app'
import { identity } from '@tollgate/identity/main'
import { type Account, createAccount, signIn } from '@tollgate/identity/testing'
import { type FakeRequest, type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import type { SmtpSink } from '@tollgate/kit/smtp-sink'
import fc from 'fast-check'
import { type Pools, remember, sendCall, settled } from './fuzz-calls.ts'
import { createFindings } from './fuzz-findings.ts'
import { identityCallOf } from './fuzz-identity.ts'
import { atOnce, type Fuzzing, type FuzzNode, inParallel } from './fuzz-node.ts'

/** Reads what is sent to people, and knows those whom a provider knows. */
type IdentityNode = FuzzNode<App> & { mails: SmtpSink; gateway: HttpFake; provider: HttpFake }

/** What the service needs, so that requests come further than to a refusal. */
export function identityFuzzSettings(provider: HttpFake) {
  return {
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    // Here nobody is to be told to come back later, or not for long.
    AUTH_PASSWORD_HASH_QUEUE: '10000',
    AUTH_SMTP_MAX_FREQUENCY: '5s',
    AUTH_SMS_MAX_FREQUENCY: '5s',
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'fuzz',
    AUTH_EXTERNAL_GITHUB_SECRET: 'a secret of the provider',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
    AUTH_EXTERNAL_GITHUB_URL: provider.origin,
  }
}

/** A provider who knows everybody by the code that they come back with; with some codes it has trouble. */
export function startFuzzProvider(): Promise<HttpFake> {
  const codeOf = ({ headers }: FakeRequest) => String(headers.authorization).replace(/^.* /, '')
  const emailOf = (code: string) => ({ email: `${code}@elsewhere.test`, verified: !code.endsWith('3'), primary: true })
  return startHttpFake({
    'POST /login/oauth/access_token': ({ body }) => {
      const code = /(?:code=|"code":")([\w-]+)/.exec(body)?.[1] ?? ''
      if (code === 'broken') return 'garbage'
      if (code === 'nobody') return { json: { error: 'bad_verification_code' } }
      return { json: { access_token: code, token_type: 'bearer' } }
    },
    'GET /api/v3/user': (request) => ({ json: codeOf(request) === 'nameless' ? {} : { id: codeOf(request), login: 'somebody' } }),
    'GET /api/v3/user/emails': (request) => ({ json: [emailOf(codeOf(request))] }),
  })
}

const anything = fc.oneof(
  ...identity.endpoints.map((endpoint) => fc.record({ call: identityCallOf(endpoint), endpoint: fc.constant(endpoint) })),
)

/** Requests that endpoints ask for, or nearly. */
export async function fuzzIdentity(node: IdentityNode, seed: number): Promise<Fuzzing> {
  const pools = await firstPools(node)
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const findings = createFindings()
  return {
    findings,
    async send(batch, count) {
      const asked = fc.sample(anything, { seed: (seed + batch) | 0, numRuns: count })
      await inParallel(asked, async ({ call, endpoint }) => {
        const name = `${endpoint.method} ${endpoint.path}`
        const answered = await sendCall(node.origin, agent, settled(call, pools))
        const { status, text, headers } = answered
        findings.count(name, status, headers.location)
        if (status >= 500) findings.noteCall(`${name}: ${status}`, call, answered)
        else if (status >= 400 && !headers['x-sb-error-code'])
          findings.noteCall(`${name}: ${status} without a code`, call, answered)
        else learn(text, pools)
        learnFromLink(headers.location ?? '', pools)
      })
      await node.heard()
      findings.explain(node.lines)
      node.lines.length = 0
      // Whoever asked for a message may ask for another one after a while.
      await node.advance(5)
      learnFromMessages(node, pools)
      // What nobody looks at would pile up.
      node.provider.requests.length = 0
      await addAccounts(node, pools, 1 + batch)
    },
    async finish() {},
    close: () => agent.destroy(),
  }
}

/** Accounts that requests know of, and that others of them delete. */
async function addAccounts(node: IdentityNode, pools: Pools, batch: number) {
  for (let number = 0; number < 8; number++) {
    const name = `fuzz-${batch}-${number}`
    const banned = number === 7 ? { bannedUntil: new Date(node.app.now().getTime() + 1e12) } : {}
    const account = { email: `${name}@site.test`, phone: String(4_530_000_000 + batch * 10 + number), ...banned }
    const made = await createAccount(node, account)
    remember(pools, 'user', made.userId)
    remember(pools, 'account', made.userId)
    remember(pools, 'refresh', made.refreshToken)
    remember(pools, 'access', made.authorization)
    await addSession(node, pools, made)
    if (number > 4) await addIdentity(node, pools, made)
  }
}

/** One more that they can end. */
async function addSession(node: IdentityNode, pools: Pools, { userId, authorization }: Account) {
  const { sessionId } = await signIn(node, userId)
  remember(pools, 'sessionId', sessionId)
  remember(pools, 'sessionAccess', authorization)
}

/** One more way in that they can take away. */
async function addIdentity({ app }: IdentityNode, pools: Pools, { userId, authorization }: Account) {
  const [identity] = await app.db<{ id: string }>`
    insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
    select ${userId}, ${userId}, jsonb_build_object('sub', ${userId}::text, 'email', email), 'github', ${app.now()}, ${app.now()}, ${app.now()}
    from auth.users where id = ${userId}
    returning id`
  remember(pools, 'linkedIdentity', identity?.id)
  remember(pools, 'linkedAccess', authorization)
}

async function firstPools(node: IdentityNode): Promise<Pools> {
  const { app } = node
  const kinds = [
    ...[
      'user',
      'account',
      'refresh',
      'access',
      'code',
      'link',
      'flow',
      'state',
      'cursor',
      'admin',
      'forged',
      'sessionId',
      'sessionAccess',
    ],
    ...['linkedIdentity', 'linkedAccess', 'mailTo', 'mailType', 'mailCode', 'mailLink', 'smsTo', 'smsCode'],
  ]
  const pools: Pools = Object.fromEntries(kinds.map((kind) => [kind, []]))
  await addAccounts(node, pools, 0)
  const [userId = ''] = pools.user ?? []
  const now = Math.floor(app.now().getTime() / 1000)
  const sign = (claims: Record<string, unknown>) => `Bearer ${app.keys.sign(claims)}`
  pools.admin?.push(
    sign({ role: 'service_role' }),
    sign({ role: 'supabase_admin', sub: userId }),
    sign({ role: 'service_role', aud: 'x' }),
  )
  pools.forged?.push(
    ...[{ sub: userId, exp: now - 10 }, { sub: 'x' }, { sub: randomUUID() }, { sub: userId, session_id: 'x' }].map(sign),
    ...[
      { sub: userId, session_id: randomUUID() },
      { role: 7 },
      { role: 'service_role', sub: userId, session_id: randomUUID() },
    ].map(sign),
    ...[{ sub: userId, role: ['service_role'], aud: ['a', 'b'] }, { sub: 7 }, { sub: userId, user_metadata: 'x', amr: 'x' }].map(
      sign,
    ),
  )
  return pools
}

function learn(text: string, pools: Pools) {
  // Lists are long, and tell nothing that is not told elsewhere.
  if (!text.startsWith('{') || text.length > 20_000) return
  const told = JSON.parse(text)
  remember(pools, 'refresh', told.refresh_token)
  if (told.access_token) remember(pools, 'access', `Bearer ${told.access_token}`)
  if (told.aud) remember(pools, 'user', told.id)
  remember(pools, 'user', told.identities?.[0]?.identity_id)
  remember(pools, 'cursor', told.pagination?.next_cursor)
  if (typeof told.url === 'string') learnFromLink(told.url, pools)
  remember(pools, 'link', told.hashed_token)
  remember(pools, 'code', told.email_otp)
}

function learnFromLink(link: string, pools: Pools) {
  const named = (name: string) => new RegExp(`[?&]${name}=([^&#]+)`).exec(link)?.[1]
  remember(pools, 'flow', named('code'))
  remember(pools, 'state', decodeURIComponent(named('state') ?? ''))
}

const codeIn = /(?<![\w=/-])\d{6,10}(?![\w=/-])/

function learnFromMessages({ mails, gateway }: IdentityNode, pools: Pools) {
  for (const { text, links, to } of mails.mails().slice(-40)) {
    const link = links.find((each) => each.includes('token=')) ?? ''
    const [code, token, type] = [codeIn.exec(text)?.[0], /[?&]token=(\w+)/.exec(link)?.[1], /[?&]type=(\w+)/.exec(link)?.[1]]
    remember(pools, 'code', code)
    remember(pools, 'link', token)
    // Of some mails there is only half, and what is not whole would put the rest out of step.
    if (code && token && type && to[0])
      rememberTogether(pools, { mailTo: to[0], mailType: type, mailCode: code, mailLink: token })
  }
  mails.clear()
  for (const { body } of gateway.requests.slice(-20)) {
    const { to, text = '' } = Object.fromEntries(new URLSearchParams(body))
    const code = codeIn.exec(text)?.[0]
    remember(pools, 'code', code)
    if (to && code) rememberTogether(pools, { smsTo: to, smsCode: code })
  }
  gateway.requests.length = 0
}

function rememberTogether(pools: Pools, values: Record<string, string>) {
  for (const [kind, value] of Object.entries(values)) remember(pools, kind, value)
}
