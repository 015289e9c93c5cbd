import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import type { App } from '@tollgate/identity/app'
import { identity } from '@tollgate/identity/main'
import { createAccount } from '@tollgate/identity/testing'
import type { SmtpSink } from '@tollgate/kit/smtp-sink'
import fc from 'fast-check'
import { type Pools, remember, sendCall, settled } from './fuzz-calls.ts'
import { createFindings } from './fuzz-findings.ts'
import { identityCallOf } from './fuzz-identity.ts'
import { atOnce, type Fuzzing, type FuzzNode, inParallel } from './fuzz-node.ts'

/** Reads what is sent to people. */
type IdentityNode = FuzzNode<App> & { mails: SmtpSink }

/** What the service needs, so that requests come further than to a refusal. */
export const identityFuzzSettings = {
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  // Here nobody is to be told to come back later.
  AUTH_PASSWORD_HASH_QUEUE: '10000',
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
        findings.count(name, status)
        if (status >= 500) findings.noteCall(`${name}: ${status}`, call, answered)
        else if (status >= 400 && !headers['x-sb-error-code'])
          findings.noteCall(`${name}: ${status} without a code`, call, answered)
        else learn(text, pools)
        remember(pools, 'flow', /[?&]code=([^&#]+)/.exec(headers.location ?? '')?.[1])
      })
      await node.heard()
      findings.explain(node.lines)
      node.lines.length = 0
      // Whoever asked for a message may ask for another one after a while.
      await node.advance(5)
      learnFromMails(node, pools)
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
    const { userId, refreshToken, authorization } = await createAccount(node, account)
    remember(pools, 'user', userId)
    remember(pools, 'refresh', refreshToken)
    remember(pools, 'access', authorization)
  }
}

async function firstPools(node: IdentityNode): Promise<Pools> {
  const { app } = node
  const pools: Pools = { user: [], refresh: [], access: [], code: [], link: [], flow: [], cursor: [], admin: [], forged: [] }
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
  remember(pools, 'link', told.hashed_token)
  remember(pools, 'code', told.email_otp)
}

function learnFromMails({ mails }: IdentityNode, pools: Pools) {
  for (const { text, links } of mails.mails().slice(-20)) {
    remember(pools, 'code', /(?<![\w=/-])\d{6,10}(?![\w=/-])/.exec(text)?.[0])
    remember(pools, 'link', /[?&]token=(\w+)/.exec(links.join(' '))?.[1])
  }
  mails.clear()
}
