import { createFetch } from '@tollgate/kit/fetch'
import { createIds } from '@tollgate/kit/id'
import { createInTurn } from '@tollgate/kit/in-turn'
import { runJobs } from '@tollgate/kit/jobs'
import { type Loop, repeat } from '@tollgate/kit/loop'
import type { Parts, Service } from '@tollgate/kit/service'
import { createTransport } from '@tollgate/kit/smtp'
import { version } from '@tollgate/kit/version'
import { openAcquirer } from './acquirers/all.ts'
import { createSimulator } from './acquirers/simulator.ts'
import type { App } from './app.ts'
import { type Config, settings } from './config.ts'
import { fail, failureTable } from './errors.ts'
import { createMeters } from './meters.ts'
import { migrations } from './migrations.ts'
import { deliverInvitation } from './operations/deliver-invitation.ts'
import { expireAuthorizations } from './operations/expire-authorizations.ts'
import { createFinisher } from './operations/finish-pending.ts'
import { forgetCallers } from './operations/limit.ts'
import { createRates } from './operations/load-rates.ts'
import { startPayoutLoop } from './operations/run-payouts.ts'
import { startPlanLoop } from './operations/run-plans.ts'
import { sumLinesKind, sumLinesWorker } from './operations/sum-lines.ts'
import { sweepSecurityCodes } from './operations/sweep-security-codes.ts'
import { createAccessTokens } from './providers/access-tokens.ts'
import { createKept } from './rules/kept.ts'
import { endpoints, failureShape, manner } from './server.ts'
import { createVault } from './vault/vault.ts'

export const payments: Service<Config, App> = {
  name: 'payments',
  title: 'Tollgate Payments',
  description:
    'Apps, merchants, transactions and what becomes of them. Clients and shop plugins made for Paylike work unchanged.',
  schema: 'pay',
  settings,
  migrations,
  endpoints,
  failures: failureTable,
  failureShape,
  failureNotes: `A 400 is a list of fields, \`[{"field": "company.country", "message": "Required"}]\`. Every other refusal is
\`{"code": "<code>", "message": "<message>"}\` for callers whose \`Accept\` admits \`application/json\` (\`*/*\` does), and has no body for those
that send none or \`application/vnd.api+json\`: the old clients cannot read one.

The devices of customers, which call \`/vault\`, \`/payments\`, \`/applepay\` and \`/googlepay\`, are told \`{"code", "message"}\` with a code in capitals; a field
that does not fit is \`REQUEST_INVALID\`, a body that cannot be read \`BODY_INVALID\`. What may go better in a moment is answered in plain text,
because their clients take an error in JSON for the last word.`,
  bodyTypes: ['application/json', 'application/x-www-form-urlencoded'],
  versionAttribute: 'pay.version',
  manner,
  open,
  close,
}

/** What has to be ended together with an app, in this order. */
const endsOf = new WeakMap<App, readonly (() => Promise<void>)[]>()

/** How many apps and people a process remembers, at some hundred bytes each. */
const mostKnown = 20_000

function open({ config, db, log, now, metrics }: Parts<Config>): App {
  const { smtp, siteUrl } = config.mail
  const fetch = createFetch({ ...config.outside, userAgent: `Tollgate/${version}` })
  const rates = createRates({ db, log, now, fetch, settings: config.exchange })
  const meters = createMeters(metrics, { now, day: rates.day })
  const live = openAcquirer(config.acquirer, { fetch, log })
  const { externalUrl } = config.customers
  if (!config.vault.keys) log.warn('PAY_VAULT_KEYS is not set: customers cannot pay')
  else if (config.environment === 'production' && new URL(externalUrl).hostname === 'localhost')
    log.warn(`PAY_API_EXTERNAL_URL is ${externalUrl}: payment links would lead customers to their own machines`)
  const parts: Omit<App, 'nudge'> = {
    config,
    db,
    log,
    now,
    fetch,
    mintId: createIds(now),
    inTurn: createInTurn(),
    rates,
    acquirers: {
      simulator: meters.timed(createSimulator({ db, now, log })),
      live: live && meters.timed(live),
    },
    meters,
    people: createAccessTokens(config.people, { fetch, now, log }),
    vault: createVault(config.vault, () => fail('vault_missing')),
    known: { apps: createKept(mostKnown), people: createKept(mostKnown) },
    smtp: createTransport(smtp, { clientName: URL.parse(siteUrl)?.hostname ?? 'localhost', hostSetting: 'PAY_SMTP_HOST' }),
  }
  const jobs = runJobs({
    db,
    log,
    now,
    workers: { invitation: (job) => deliverInvitation(parts, job), [sumLinesKind]: sumLinesWorker(parts) },
  })
  rates.start()
  const app = { ...parts, nudge: jobs.nudge }
  const loops = startLoops(parts)
  endsOf.set(app, [...loops.map(({ stop }) => stop), jobs.stop, rates.stop, parts.smtp.close, fetch.close])
  return app
}

/** What the service does without being asked. */
function startLoops(parts: Omit<App, 'nudge'>): Loop[] {
  const { config, log } = parts
  const finish = createFinisher(parts, { after: config.acquirer.askAgainAfter })
  const expire = async () => void (await expireAuthorizations(parts, config.transactions.expireDays))
  return [
    repeat('finishing what was left open', finish, { every: 5, log }),
    repeat('expiring authorizations', expire, { every: 3600, log }),
    repeat('deleting expired security codes', () => sweepSecurityCodes(parts), { every: 60, log }),
    repeat('forgetting callers', () => forgetCallers(parts), { every: 3600, log }),
    startPayoutLoop(parts),
    startPlanLoop(parts),
  ]
}

async function close(app: App): Promise<void> {
  for (const end of endsOf.get(app) ?? []) await end()
}
