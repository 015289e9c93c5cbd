import { createKeys } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { seedAccounts } from './accounts.ts'
import { type Server, type Setup, type Site, secret, startService } from './servers.ts'
import { type SlowSmtp, startSlowSmtp } from './slow-smtp.ts'

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
  /** What an operator's program sends to an identity service. */
  adminHeaders: Readonly<Record<string, string>>
}

const thinkingMilliseconds = 200

export function createStage(site: Site, connections: number): Stage {
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
    get adminHeaders() {
      const token = createKeys({ secret: new Secret(secret) }).sign({ role: 'service_role', aud: audience })
      return { Authorization: `Bearer ${token}` }
    },
  }
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
