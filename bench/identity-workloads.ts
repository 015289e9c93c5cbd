import { accountCount, firstToken } from './accounts.ts'
import { ask, askFor } from './http.ts'
import { chained, inTurns, numbered, numberHere, type Requests, requestText } from './requests.ts'
import { type Server, startBare } from './servers.ts'
import type { Stage } from './stage.ts'
import type { Ready, Workload } from './workload.ts'

/** More than that do not sit in front of a list at once. */
const operators = 8

const password = 'correct horse battery staple'

/** In the order of a round: what is compared stands side by side. */
export const identityWorkloads: readonly Workload[] = [
  {
    name: 'bare',
    title: 'bare node:http',
    async prepare({ site, identity }) {
      const { port } = await identity()
      const server = await startBare(await ask(port, 'GET', '/settings'), site)
      return { server, requests: inTurns(requestText('GET', '/settings')) }
    },
  },
  {
    name: 'settings',
    title: 'identity GET /settings',
    compared: [{ with: 'bare', ratio: 0.6 }],
    bars: { statements: 0 },
    prepare: async ({ identity }) => ({ server: await identity(), requests: inTurns(requestText('GET', '/settings')) }),
  },
  {
    name: 'health',
    title: 'identity GET /health',
    bars: { statements: 0 },
    prepare: async ({ identity }) => ({ server: await identity(), requests: inTurns(requestText('GET', '/health')) }),
  },
  {
    name: 'refresh',
    title: 'identity refresh grant',
    bars: { statements: { most: 2 } },
    goals: { perSecond: 2_500, perProcessorSecond: 1_700 },
    prepare: async ({ accounts, connections }) => ({ server: await accounts(), requests: refreshes(0, connections) }),
  },
  {
    name: 'user',
    title: 'identity GET /user',
    bars: { statements: 1 },
    goals: { perSecond: 5_000, perProcessorSecond: 4_000 },
    async prepare({ accounts }) {
      const server = await accounts()
      const tokens = await Promise.all(range(people.from, people.count).map((account) => signIn(server, account)))
      const headers = tokens.map((token) => ({ Authorization: `Bearer ${token}` }))
      return { server, requests: inTurns(...headers.map((each) => requestText('GET', '/user', { headers: each }))) }
    },
  },
  {
    name: 'password',
    title: 'identity password grant',
    mostConnections: 32,
    bars: { statements: { most: 3 } },
    goals: { perProcessorSecond: 55 },
    async prepare({ accounts }) {
      const server = await accounts()
      return { server, requests: await passwordGrants(server, 'password') }
    },
  },
  {
    name: 'signup',
    title: 'identity signup, autoconfirm',
    mostConnections: 32,
    goals: { perProcessorSecond: 55 },
    prepare: async ({ accounts }) => ({ server: await accounts(), requests: signups }),
  },
  {
    name: 'signup-mail',
    title: 'identity signup, slow mail, 20/s',
    rate: 20,
    // One answer of the mail server alone takes longer, and a mail needs five.
    bars: { p95: 200 },
    async prepare({ mailing }) {
      const { server, smtp } = await mailing()
      const doubt = () => (smtp.taken() === 0 ? 'the mail server has not got a single mail' : undefined)
      return { server, requests: signups, doubt }
    },
  },
  {
    name: 'admin-first',
    mostConnections: operators,
    title: 'identity admin list, first page',
    prepare: (stage) => adminList(stage, ['page=1&per_page=50']),
  },
  {
    name: 'admin-deep',
    mostConnections: operators,
    title: 'identity admin list, page 1,000',
    prepare: (stage) => adminList(stage, ['page=1000&per_page=50']),
  },
  {
    name: 'admin-cursor',
    mostConnections: operators,
    title: 'identity admin list, cursor as deep',
    async prepare(stage) {
      const cursor = await walkTo(50_000, stage)
      return adminList(stage, [`limit=50&cursor=${encodeURIComponent(cursor)}`])
    },
  },
  {
    name: 'admin-search',
    mostConnections: operators,
    title: 'identity admin search',
    // Of names that many have, numbers and addresses that a few have, and something that nobody has.
    prepare: (stage) =>
      adminList(
        stage,
        ['nanna', 'ensen', 'olm', 'ta.kj', '45200', '777@', 'emil dahl', 'nobody'].map(
          (text) => `filter=${encodeURIComponent(text)}`,
        ),
      ),
  },
  {
    name: 'crowded',
    title: 'identity refresh in a crowd, 100/s',
    rate: 100,
    bars: { p99: 100 },
    async prepare({ accounts, connections }) {
      const server = await accounts()
      const crowd = await passwordGrants(server, 'crowd')
      return { server, requests: refreshes(connections, connections), crowd }
    },
  },
]

/** Those who only ever look themselves up, far from those whose tokens are being refreshed. */
const people = { from: accountCount - 1_000, count: 100 }

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index)
}

function refreshes(from: number, count: number): Requests {
  const write = (token: string) => requestText('POST', '/token?grant_type=refresh_token', { json: { refresh_token: token } })
  return chained(range(from + 1, count).map(firstToken), write, '"refresh_token":"')
}

async function signIn({ port }: Server, account: number): Promise<string> {
  const json = { refresh_token: firstToken(account) }
  const session = await askFor<{ access_token: string }>(port, 'POST', '/token?grant_type=refresh_token', { json })
  return session.access_token
}

const signups = numbered(requestText('POST', '/signup', { json: { email: `newcomer${numberHere}@example.com`, password } }))

/** A handful of accounts that have a password of the usual kind. */
async function passwordGrants({ port }: Server, name: string): Promise<Requests> {
  const emails = range(1, 8).map((number) => `${name}${number}@example.com`)
  for (const email of emails) await askFor(port, 'POST', '/signup', { json: { email, password } })
  return inTurns(...emails.map((email) => requestText('POST', '/token?grant_type=password', { json: { email, password } })))
}

async function adminList({ accounts, adminHeaders: headers }: Stage, queries: readonly string[]): Promise<Ready> {
  const server = await accounts()
  return { server, requests: inTurns(...queries.map((query) => requestText('GET', `/admin/users?${query}`, { headers }))) }
}

type Listed = { users: unknown[]; pagination?: { next_cursor?: string } }

/** The cursor behind so many accounts, which only they who have gone there know. */
async function walkTo(depth: number, { accounts, adminHeaders: headers }: Stage): Promise<string> {
  const { port } = await accounts()
  let cursor = ''
  for (let seen = 0; seen < depth; ) {
    const path = `/admin/users?limit=1000${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
    const { users, pagination } = await askFor<Listed>(port, 'GET', path, { headers })
    cursor = pagination?.next_cursor ?? ''
    seen += users.length
    if (cursor === '') throw new Error(`the list of accounts ends after ${seen}`)
  }
  return cursor
}
