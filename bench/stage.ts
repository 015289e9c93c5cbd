import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@tollgate/kit/db'
import { createKeys } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { seedAccounts } from './accounts.ts'
import { type History, seedHistory } from './history.ts'
import { askFor } from './http.ts'
import { seedMerchants } from './merchants.ts'
import type { Options } from './options.ts'
import { basic } from './requests.ts'
import { type Server, type Setup, type Site, secret, startService, startTextbook } from './servers.ts'
import { type SlowSmtp, startSlowSmtp } from './slow-smtp.ts'
import { makeTextbook } from './textbook-tables.ts'

/** Hands out what workloads run on, each started when the first of them asks for it. */
export type Stage = {
  site: Site
  /** How many connections a workload will have at most, each of which may need something of its own. */
  connections: number
  /** The services as they come. */
  identity(): Promise<Server>
  payments(): Promise<Server>
  /** An identity service with a hundred thousand accounts, where whoever signs up is in. */
  accounts(): Promise<Server>
  /** An identity service whose mails go to a server that takes its time. */
  mailing(): Promise<{ server: Server; smtp: SlowSmtp }>
  /** A payments service with a thousand merchants and one more, and the headers of an app that may do everything with all of them. */
  shops(): Promise<Shop>
  /** A payments service with one merchant who has sold very often. */
  history(): Promise<Shop & { facts: History }>
  /** Something else than our service, which knows one merchant; and the same with a lock as late and as seldom as it can be. */
  textbook(): Promise<Shop>
  lateTextbook(): Promise<Shop>
  /** What an operator's program sends to an identity service. */
  adminHeaders: Readonly<Record<string, string>>
}

export type Shop = { server: Server; headers: Readonly<Record<string, string>> }

const thinkingMilliseconds = 200

/** No machine captures more than so many a second with a single worker. */
const capturesPerSecond = 5_000

export function createStage(site: Site, options: Options): Stage {
  const { connections, workers, history: size } = options
  const loadSeconds = options.rounds * (options.seconds + options.warmUp) + 9 * options.warmUp
  /** The service makes the tables and the app, and leaves. */
  const textbookTables = once(async () => {
    const { server, owner, headers } = await startShop(site, 'textbook')
    await server.child.stop()
    await site.database.tell('textbook', (sql) => makeTextbook(sql, owner))
    return headers
  })
  return {
    site,
    connections,
    identity: once(() => startService('identity', site)),
    payments: once(() => startService('payments', site)),
    accounts: once(async () => {
      const setup = identityWith('accounts', { AUTH_MAILER_AUTOCONFIRM: 'true' })
      const server = await startService('identity', site, setup)
      console.error('making accounts')
      await site.database.tell('accounts', seedAccounts)
      return server
    }),
    mailing: once(async () => {
      const smtp = await startSlowSmtp(thinkingMilliseconds)
      site.cleanup.later(() => smtp.close())
      const setup = identityWith('mailing', {
        AUTH_SMTP_PORT: String(smtp.port),
        AUTH_RATE_LIMIT_EMAIL_SENT: '100000000',
      })
      return { server: await startService('identity', site, setup), smtp }
    }),
    shops: once(async () => {
      const { server, owner, headers } = await startShop(site, 'shops')
      console.error('making merchants')
      const waiting = Math.ceil(capturesPerSecond * workers * loadSeconds)
      await site.database.tell('shops', (sql) => seedMerchants(sql, owner, { past: 50_000, waiting }))
      return { server, headers }
    }),
    history: once(async () => {
      const { server, owner, headers } = await startShop(site, 'history')
      console.error('making transactions')
      const facts = await site.database.tell('history', (sql) => seedHistory(sql, owner, size))
      await untilSummed(site, server, { headers, facts })
      return { server, headers, facts }
    }),
    textbook: once(async () => ({ headers: await textbookTables(), server: await startTextbook(site, 'first') })),
    lateTextbook: once(async () => ({ headers: await textbookTables(), server: await startTextbook(site, 'late') })),
    get adminHeaders() {
      const token = createKeys({ secret: new Secret(secret) }).sign({ role: 'service_role', aud: audience })
      return { Authorization: `Bearer ${token}` }
    },
  }
}

async function startShop(site: Site, database: string) {
  const server = await startService('payments', site, { database })
  const { app } = await askFor<{ app: { id: string; key: string } }>(server.port, 'POST', '/apps', { json: {} })
  return { server, owner: { id: app.id }, headers: basic(app.key) }
}

/** The first who asks for a balance has the service sum up what there is, which takes a moment. */
async function untilSummed(
  site: Site,
  { port, database }: Server,
  { headers, facts }: Pick<Shop, 'headers'> & { facts: History },
) {
  await askFor(port, 'GET', `/merchants/${facts.merchantId}/balance`, { headers })
  const deadline = performance.now() + 60_000
  while ((await site.database.tell(database, countJobs)) > 0) {
    if (performance.now() > deadline) throw new Error('the payments service has not summed up its lines within a minute')
    await sleep(200)
  }
}

async function countJobs(sql: Db): Promise<number> {
  return (await sql`select from pay.jobs`).length
}

const audience = 'authenticated'

/** As most are set up. Callers are not limited, because none is told apart from another. */
function identityWith(database: string, env: Readonly<Record<string, string>>): Setup {
  return { database, env: { AUTH_JWT_AUD: audience, AUTH_JWT_DEFAULT_GROUP_NAME: audience, ...env } }
}

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    started ??= start()
    return started
  }
}
