import { availableParallelism } from 'node:os'
import { ConfigProblem } from '@tollgate/kit/env'
import { createFetch } from '@tollgate/kit/fetch'
import { type JobLoop, runJobs } from '@tollgate/kit/jobs'
import { createKeys, KeyProblem, type Keys } from '@tollgate/kit/jwt'
import { type Loop, repeat } from '@tollgate/kit/loop'
import type { Parts, Service } from '@tollgate/kit/service'
import { affordableWorkers } from '@tollgate/kit/service-settings'
import { createTransport } from '@tollgate/kit/smtp'
import { createTogether } from '@tollgate/kit/together'
import { version } from '@tollgate/kit/version'
import type { App } from './app.ts'
import { type Config, settings } from './config.ts'
import { failureTable } from './errors.ts'
import { createCompose } from './mail/compose.ts'
import { createMeters } from './meters.ts'
import { migrations } from './migrations.ts'
import { cleanUp } from './operations/clean-up.ts'
import { deliverMessage } from './operations/deliver-message.ts'
import { createExchange } from './operations/refresh-session.ts'
import { watchMessages } from './operations/watch-messages.ts'
import { createBreachCheck } from './passwords/breach.ts'
import { createPasswords } from './passwords/hashing.ts'
import { createIdTokens } from './providers/id-tokens.ts'
import { derivedKey } from './rules/derived-key.ts'
import { endpoints, failureShape, manner } from './server.ts'
import { type Bearer, findBearers } from './store/users.ts'

export const identity: Service<Config, App> = {
  name: 'identity',
  title: 'Tollgate Identity',
  description: 'Sign-up, sign-in, tokens and sessions. Clients made for Supabase Auth work unchanged.',
  schema: 'auth',
  settings,
  migrations,
  endpoints,
  failures: failureTable,
  failureShape: () => failureShape,
  failureNotes: `A refusal is \`{"code": <status>, "error_code": "<code>", "msg": "<message>"}\`, with \`error_id\` (the request's id) from 500 up. A request
with the header \`X-Supabase-Api-Version: 2024-01-01\` or later gets \`{"code": "<code>", "message": "<message>"}\` instead. The header
\`x-sb-error-code\` carries the code in both cases. A password that is too weak comes with \`"weak_password": {"reasons": [...]}\`. What a
trigger of the operator's raises comes as \`{"code": "<SQLSTATE>", "message": "...", "hint"?, "detail"?}\`: see [Accounts](guides/accounts.md).`,
  bodyTypes: ['application/json'],
  versionAttribute: 'auth.version',
  manner,
  open,
  close,
}

/** What has to be ended together with an app. */
type Loops = { jobs: JobLoop; cleaning: Cleaning; watching: Loop | undefined; fetch: { close(): Promise<void> } }

const loopsOf = new WeakMap<App, Loops>()

function open({ config, db, log, now, metrics }: Parts<Config>): App {
  const { jwt, security, password, smtp } = config
  const fetch = createFetch({
    allowPrivate: security.allowPrivateAddresses,
    timeout: config.outsideTimeout,
    userAgent: `Tollgate/${version}`,
  })
  const { breach } = password
  const passwords = createPasswords({ concurrency: hashesAtOnce(config), queue: password.hashQueue })
  const parts: Omit<App, 'nudge'> = {
    config,
    db,
    log,
    now,
    fetch,
    keys: openKeys(jwt),
    secrets: {
      refresh: derivedKey(jwt.secret, 'refresh tokens'),
      codes: derivedKey(jwt.secret, 'codes'),
      messages: derivedKey(jwt.secret, 'messages'),
      recipients: derivedKey(jwt.secret, 'recipients'),
      decoys: derivedKey(jwt.secret, 'decoys'),
      flows: derivedKey(jwt.secret, 'flows'),
    },
    passwords,
    whoIs: createTogether((bearers: readonly Bearer[]) => findBearers(db, bearers)),
    exchange: createExchange({ config, db, now }),
    meters: createMeters(metrics, { passwords, now }),
    isBreached: breach.enabled ? createBreachCheck({ ...breach, fetch, log }) : undefined,
    idTokens: createIdTokens({ fetch, now, log, allowHttp: security.allowPrivateAddresses }),
    composeMail: createCompose({ siteUrl: config.siteUrl, mailer: smtp.mailer, now, log, fetch }),
    smtp: createTransport(smtp, { clientName: new URL(config.externalUrl).hostname, hostSetting: 'AUTH_SMTP_HOST' }),
  }
  const jobs = runJobs({ db, log, now, workers: { deliver: (job) => deliverMessage(parts, job) } })
  const cleaning = cleanNowAndThen(parts)
  const watch = () => watchMessages(parts)
  const watching = metrics && repeat('looking at the messages that wait', watch, { every: 15, log, atOnce: true })
  const app = { ...parts, nudge: jobs.nudge }
  loopsOf.set(app, { jobs, cleaning, watching, fetch })
  return app
}

type Cleaning = { stop(): Promise<void> }

const hour = 60 * 60 * 1000

function cleanNowAndThen(parts: Parameters<typeof cleanUp>[0]): Cleaning {
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay = cleanUp(parts)
  }, hour)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await underWay
    },
  }
}

async function close(app: App): Promise<void> {
  const loops = loopsOf.get(app)
  await loops?.cleaning.stop()
  await loops?.watching?.stop()
  await loops?.jobs.stop()
  await app.smtp.close()
  await loops?.fetch.close()
}

/** All workers together hash no more passwords at once than there are cores. */
function hashesAtOnce(config: Config): number {
  return Math.max(1, Math.floor(availableParallelism() / affordableWorkers(config)))
}

/** What is wrong between several settings shows only when the keys are put together. */
export function openKeys({ secret, keyId, keys, algorithms }: Config['jwt']): Keys {
  try {
    return createKeys({ secret, keyId, jwks: keys?.reveal(), algorithms })
  } catch (problem) {
    if (!(problem instanceof KeyProblem)) throw problem
    throw new ConfigProblem([`AUTH_JWT_KEYS, AUTH_JWT_SECRET and AUTH_JWT_KEY_ID cannot be used together: ${problem.message}.`])
  }
}
