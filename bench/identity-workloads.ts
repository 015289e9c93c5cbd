import { firstToken, keptToken, usualAccounts } from './accounts.ts'
import { ask, askFor } from './http.ts'
import { chained, inTurns, numbered, numberHere, type Requests, requestText } from './requests.ts'
import { type Server, startBare, startBareHash } from './servers.ts'
import { type Size, sizes } from './sizes.ts'
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
    pace: 2_000,
    async prepare({ site, identity }) {
      const { port } = await identity()
      const server = await startBare(await ask(port, 'GET', '/settings'), site)
      return { server, requests: inTurns(requestText('GET', '/settings')) }
    },
  },
  {
    name: 'settings',
    title: 'identity GET /settings',
    pace: 2_000,
    compared: [{ with: 'bare', ratio: 0.6 }],
    bars: { statements: 0 },
    prepare: async ({ identity }) => ({ server: await identity(), requests: inTurns(requestText('GET', '/settings')) }),
  },
  {
    name: 'health',
    title: 'identity GET /health',
    pace: 2_000,
    bars: { statements: 0 },
    prepare: async ({ identity }) => ({ server: await identity(), requests: inTurns(requestText('GET', '/health')) }),
  },
  {
    name: 'refresh',
    title: 'identity refresh grant',
    pace: 500,
    bare: 'bare-refresh',
    bars: { statements: { most: 2 } },
    prepare: (stage) => refresh(stage, usualAccounts),
  },
  {
    name: 'bare-refresh',
    title: 'bare statement of a refresh grant',
    pace: 500,
    async prepare({ bareAccounts, connections }) {
      const write = (given: string) => requestText('POST', '/refresh', { json: { given } })
      const firsts = range(people.bare, connections).map((account) => keptToken(firstToken(account)))
      return { server: await bareAccounts(), requests: chained(firsts, write, '"made":"') }
    },
  },
  {
    name: 'user',
    title: 'identity GET /user',
    pace: 1_000,
    bare: 'bare-user',
    bars: { statements: { most: 1 } },
    prepare: (stage) => lookUp(stage, usualAccounts),
  },
  {
    name: 'bare-user',
    title: 'bare statement of GET /user',
    pace: 1_000,
    prepare: async ({ bareAccounts }) => ({ server: await bareAccounts(), requests: inTurns(requestText('GET', '/user')) }),
  },
  {
    name: 'password',
    title: 'identity password grant',
    pace: 15,
    mostConnections: 32,
    bare: 'bare-hash',
    bars: { statements: { most: 3 } },
    async prepare({ accounts }) {
      const server = await accounts()
      return { server, requests: await passwordGrants(server, 'password') }
    },
  },
  {
    name: 'bare-hash',
    title: 'bare hash of a password',
    pace: 15,
    mostConnections: 32,
    prepare: async ({ site }) => ({ server: await startBareHash(site), requests: inTurns(requestText('POST', '/')) }),
  },
  {
    name: 'signup',
    title: 'identity signup, autoconfirm',
    pace: 15,
    mostConnections: 32,
    bare: 'bare-hash',
    prepare: async ({ accounts }) => ({ server: await accounts(), requests: signups('newcomer') }),
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
      return { server, requests: signups('newcomer'), doubt }
    },
  },
  {
    name: 'crowded',
    title: 'identity refresh in a crowd, 100/s',
    rate: 100,
    bars: { p99: 100 },
    async prepare({ accounts, connections }) {
      const server = await accounts()
      const crowd = await passwordGrants(server, 'crowd')
      return { server, requests: refreshes(people.crowded, connections), crowd }
    },
  },
]

/** The same with few accounts and with many, and what goes through them. */
export const identitySizes: readonly Workload[] = [
  ...sizes.map(
    ({ name, rows, title }): Workload => ({
      name: `refresh-${name}`,
      title: `identity refresh grant, ${title} accounts`,
      pace: 500,
      growth: { family: 'refresh', rows },
      prepare: (stage) => refresh(stage, rows),
    }),
  ),
  ...sizes.map(
    ({ name, rows, title }): Workload => ({
      name: `user-${name}`,
      title: `identity GET /user, ${title} accounts`,
      pace: 1_000,
      growth: { family: 'user', rows },
      prepare: (stage) => lookUp(stage, rows),
    }),
  ),
  ...sizes.map((size) => adminWorkload('admin-first', 'list, first page', size, async () => ['page=1&per_page=50'])),
  {
    name: 'admin-deep',
    title: 'identity admin list, page 1,000, 100,000 accounts',
    pace: 20,
    mostConnections: operators,
    prepare: (stage) => adminList(stage, usualAccounts, ['page=1000&per_page=50']),
  },
  ...sizes.map((size) =>
    adminWorkload('admin-cursor', 'list, cursor half way', size, async (stage) => {
      const cursor = await walkTo(size.rows / 2, stage, size.rows)
      return [`limit=50&cursor=${encodeURIComponent(cursor)}`]
    }),
  ),
  ...sizes.map((size) => adminWorkload('admin-find', 'search for one', size, (stage) => searchesForOne(stage, size.rows))),
  // Of names that many have, numbers and addresses that a few have, and something that nobody has.
  ...sizes.map((size) =>
    adminWorkload('admin-search', 'search for many', size, async () =>
      ['nanna', 'ensen', 'olm', 'ta.kj', '45200', '777@', 'emil dahl', 'nobody'].map(filterBy),
    ),
  ),
]

/** Whose sessions, from which account on, are refreshed by whom, so that nobody is in the way of anybody else. */
export const people = { refresh: 1, crowded: 300, bare: 600, mixed: 900, memory: 1_200 }

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index)
}

async function refresh({ accounts, connections }: Stage, count: number): Promise<Ready> {
  return { server: await accounts(count), requests: refreshes(people.refresh, connections) }
}

/** As many sessions as there are connections, each going on from token to token. */
export function refreshes(from: number, count: number): Requests {
  const write = (token: string) => requestText('POST', '/token?grant_type=refresh_token', { json: { refresh_token: token } })
  return chained(range(from, count).map(firstToken), write, '"refresh_token":"')
}

async function lookUp({ accounts, lookers }: Stage, count: number): Promise<Ready> {
  return { server: await accounts(count), requests: await lookers(count) }
}

export function signups(name: string): Requests {
  return numbered(requestText('POST', '/signup', { json: { email: `${name}${numberHere}@example.com`, password } }))
}

/** A handful of accounts that have a password of the usual kind. */
export async function passwordGrants({ port }: Server, name: string): Promise<Requests> {
  const emails = range(1, 8).map((number) => `${name}${number}@example.com`)
  for (const email of emails) await askFor(port, 'POST', '/signup', { json: { email, password } })
  return inTurns(...emails.map((email) => requestText('POST', '/token?grant_type=password', { json: { email, password } })))
}

function adminWorkload(
  family: string,
  title: string,
  size: Size,
  queries: (stage: Stage) => Promise<readonly string[]>,
): Workload {
  return {
    name: `${family}-${size.name}`,
    title: `identity admin ${title}, ${size.title} accounts`,
    pace: 20,
    mostConnections: operators,
    growth: { family, rows: size.rows },
    prepare: async (stage) => adminList(stage, size.rows, await queries(stage)),
  }
}

async function adminList({ accounts, adminHeaders: headers }: Stage, count: number, queries: readonly string[]): Promise<Ready> {
  const server = await accounts(count)
  return { server, requests: inTurns(...queries.map((query) => requestText('GET', `/admin/users?${query}`, { headers }))) }
}

type Listed = { users: { email: string }[]; pagination?: { next_cursor?: string } }

/** The cursor behind so many accounts, which only they who have gone there know. */
async function walkTo(depth: number, { accounts, adminHeaders: headers }: Stage, count: number): Promise<string> {
  const { port } = await accounts(count)
  const limit = Math.min(1_000, depth)
  let cursor = ''
  for (let seen = 0; seen < depth; ) {
    const path = `/admin/users?limit=${limit}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
    const { users, pagination } = await askFor<Listed>(port, 'GET', path, { headers })
    cursor = pagination?.next_cursor ?? ''
    seen += users.length
    if (cursor === '') throw new Error(`the list of accounts ends after ${seen}`)
  }
  return cursor
}

/** Searches that find one account each, the same ones however many others there are. */
async function searchesForOne({ accounts, adminHeaders: headers }: Stage, count: number): Promise<string[]> {
  const { port } = await accounts(count)
  const path = `/admin/users?per_page=20&sort=${encodeURIComponent('created_at asc')}`
  const { users } = await askFor<Listed>(port, 'GET', path, { headers })
  // A surname with the number behind it and the end of the name: nobody else has it.
  const queries = users.map(({ email }) => filterBy(email.slice(email.indexOf('.') + 1, email.indexOf('@') + 1)))
  for (const query of queries) {
    const { length } = (await askFor<Listed>(port, 'GET', `/admin/users?${query}`, { headers })).users
    if (length !== 1) throw new Error(`GET /admin/users?${query} answered ${length} accounts instead of one`)
  }
  return queries
}

function filterBy(text: string): string {
  return `filter=${encodeURIComponent(text)}`
}
