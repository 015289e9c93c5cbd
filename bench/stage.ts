import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@tollgate/kit/db'
import { createKeys } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { seedAccounts, usualAccounts } from './accounts.ts'
import { type History, seedHistory } from './history.ts'
import { askFor } from './http.ts'
import { lookingUp } from './looking-up.ts'
import { seedMerchants } from './merchants.ts'
import type { Options } from './options.ts'
import { seedPayouts } from './payouts.ts'
import { identitySamples, listSamples, shopSamples, startRecorded } from './recordings.ts'
import { basic, type Requests } from './requests.ts'
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
  /** An identity service with so many accounts, a hundred thousand unless it is said, where whoever signs up is in. */
  accounts(count?: number): Promise<Server>
  /** Requests of people of such a service who look themselves up, having signed in once. */
  lookers(count: number): Promise<Requests>
  /** An identity service whose mails go to a server that takes its time. */
  mailing(): Promise<{ server: Server; smtp: SlowSmtp }>
  /** A payments service with a thousand merchants and one more, and the headers of an app that may do everything with all of them. */
  shops(): Promise<Shop>
  /** A payments service with one merchant who has sold so often, and the same merchants besides. */
  history(size: number): Promise<Shop & { facts: History }>
  /** Servers that say to the databases of the usual accounts, of the shops and of a hundred thousand transactions what the services say. */
  bareAccounts(): Promise<Server>
  bareShops(): Promise<Server>
  bareHistory(): Promise<Server>
  /** A database of the payments service in which so many merchants were paid on a day. */
  payouts(count: number): Promise<{ database: string; day: string }>
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

/** How often merchants have sold before. */
const usualSales = 50_000

/** Whose session is recorded, which is none of those that are measured. */
const recordedAccount = 1_500

/** The size of the history that lists are compared with their bare statement in. */
export const usualHistory = 100_000

export function firstPage({ merchantId }: History): string {
  return `/merchants/${merchantId}/transactions?limit=50`
}

/** `most` makes everything smaller that would be larger, for those who only want to see whether it works. */
export function createStage(site: Site, options: Options, most = Number.POSITIVE_INFINITY): Stage {
  const { connections, workers } = options
  const loadSeconds = options.rounds * (options.seconds + options.warmUp) + 9 * options.warmUp + options.paced + 1
  /** The service makes the tables and the app, and leaves. */
  const textbookTables = once(async () => {
    const { server, owner, headers } = await startShop(site, 'textbook')
    await server.child.stop()
    await site.database.tell('textbook', (sql) => makeTextbook(sql, owner, Math.min(most, usualSales)))
    return headers
  })
  const accounts = onceEach(most, async (count) => {
    const setup = identityWith(`accounts_${count}`, { AUTH_MAILER_AUTOCONFIRM: 'true' })
    const server = await startService('identity', site, setup)
    console.error(`making ${count} accounts`)
    await site.database.tell(server.database, (sql) => seedAccounts(sql, count))
    return server
  })
  const shops = once(async () => {
    const { server, owner, headers } = await startShop(site, 'shops')
    console.error('making merchants')
    const waiting = Math.min(most, Math.ceil(capturesPerSecond * workers * loadSeconds))
    await site.database.tell('shops', (sql) => seedMerchants(sql, owner, { past: Math.min(most, usualSales), waiting }))
    return { server, headers }
  })
  const history = onceEach(most, async (size) => {
    const { server, owner, headers } = await startShop(site, `history_${size}`)
    console.error(`making ${size} transactions`)
    const facts = await site.database.tell(server.database, (sql) => seedHistory(sql, owner, size))
    await untilSummed(site, server, { headers, facts, size })
    return { server, headers, facts }
  })
  return {
    site,
    connections,
    identity: once(() => startService('identity', site)),
    payments: once(() => startService('payments', site)),
    accounts,
    lookers: onceEach(most, async (count) => lookingUp(await accounts(count), count)),
    mailing: once(async () => {
      const smtp = await startSlowSmtp(thinkingMilliseconds)
      site.cleanup.later(() => smtp.close())
      const setup = identityWith('mailing', {
        AUTH_SMTP_PORT: String(smtp.port),
        AUTH_RATE_LIMIT_EMAIL_SENT: '100000000',
      })
      return { server: await startService('identity', site, setup), smtp }
    }),
    shops,
    history,
    bareAccounts: once(async () => startRecorded(identitySamples(recordedAccount), await accounts(), site)),
    bareShops: once(async () => {
      const { server, headers } = await shops()
      return startRecorded(shopSamples(headers), server, site)
    }),
    bareHistory: once(async () => {
      const { server, headers, facts } = await history(usualHistory)
      return startRecorded(listSamples(headers, firstPage(facts)), server, site)
    }),
    payouts: onceEach(most, async (count) => {
      const database = `payouts_${count}`
      const { server } = await startShop(site, database)
      await server.child.stop()
      console.error(`making ${count} payouts`)
      return { database, day: await site.database.tell(database, (sql) => seedPayouts(sql, count)) }
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
  { headers, facts, size }: Pick<Shop, 'headers'> & { facts: History; size: number },
) {
  await askFor(port, 'GET', `/merchants/${facts.merchantId}/balance`, { headers })
  const deadline = performance.now() + 60_000 + size / 20
  while ((await site.database.tell(database, countJobs)) > 0) {
    if (performance.now() > deadline) throw new Error('the payments service has not summed up its lines in time')
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

/** Once for every number, and for the usual one when none is named. */
function onceEach<T>(most: number, start: (count: number) => Promise<T>): (count?: number) => Promise<T> {
  const started = new Map<number, Promise<T>>()
  return (wanted = usualAccounts) => {
    const count = Math.min(most, wanted)
    const there = started.get(count) ?? start(count)
    started.set(count, there)
    return there
  }
}
