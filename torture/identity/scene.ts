import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@tollgate/kit/db'
import type { Cleanup } from '../../bench/cleanup.ts'
import type { Random } from '../random.ts'
import { restPatience, type Scene } from '../scene.ts'
import type { Stage } from '../stage.ts'
import { checkIdentity } from './checker.ts'
import { createAsker, isUnknown, type Said } from './client.ts'
import { copyMessages, countWaiting, readLedger } from './ledger.ts'
import { startMailServer } from './mail-server.ts'
import { comeBack, live, type Person } from './people.ts'
import { createPostbox, type Postbox } from './postbox.ts'
import { startSmsGateway } from './sms-gateway.ts'

/** Seconds: shorter than by default, so that a short run can wait for its end. */
const reuseInterval = 3

/** Seconds that the SMS gateway may take. */
const gatewayPatience = 2

const secret = 'a secret that only the torturer knows of'

/** People with accounts, a mail server and an SMS gateway. */
export async function identityScene({ people, random }: { people: number; random: Random }, cleanup: Cleanup): Promise<Scene> {
  const postbox = createPostbox()
  const smtp = await startMailServer(postbox, random.fork())
  cleanup.later(() => smtp.close())
  const sms = await startSmsGateway(postbox, random.fork(), gatewayPatience * 1_000)
  cleanup.later(() => sms.close())
  return {
    env: {
      AUTH_API_HOST: '127.0.0.1',
      AUTH_SITE_URL: 'https://site.test',
      AUTH_API_EXTERNAL_URL: 'https://auth.site.test',
      AUTH_DB_DRIVER: 'postgres',
      AUTH_JWT_SECRET: secret,
      AUTH_JWT_AUD: 'authenticated',
      AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: String(smtp.port),
      AUTH_SMTP_ADMIN_EMAIL: 'no-reply@site.test',
      AUTH_SMTP_MAX_FREQUENCY: '1',
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      AUTH_SMS_PROVIDER: 'twilio',
      AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC1',
      AUTH_SMS_TWILIO_AUTH_TOKEN: 'token',
      AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG1',
      AUTH_SMS_TWILIO_URL: sms.origin,
      AUTH_SMS_MAX_FREQUENCY: '1',
      AUTH_SMS_OTP_EXP: '86400',
      AUTH_INTERNAL_HTTP_TIMEOUT: String(gatewayPatience),
      AUTH_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'true',
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: String(reuseInterval),
      AUTH_SECURITY_STRICT_LOGOUT: 'true',
      AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
      AUTH_RATE_LIMIT_SMS_SENT: '1000000',
    },
    outsiders: { smtp, sms },
    // Codes are good for a day.
    longestJump: 6 * 60 * 60_000,
    async open(stage, watch) {
      const before = await stage.openSql()
      await copyMessages(before)
      const history: Said[] = []
      const { ask, close } = createAsker(stage.service.origin, history, watch)
      cleanup.later(close)
      const world = { ask, postbox, interval: reuseInterval * 1_000 }
      let lived: Person[][] = []
      return {
        history,
        async load(own, isOpen) {
          const lives = Array.from({ length: people }, (_, index) =>
            live({ ...world, random: own.fork(), isOpen }, `p${index + 1}`),
          )
          lived = await Promise.all(lives)
        },
        async settle(sql, own) {
          await untilRest(sql, stage)
          await Promise.all(lived.map((each) => comeBack({ ...world, random: own.fork(), isOpen: () => true }, each)))
          return []
        },
        async check(sql) {
          const ledger = await readLedger(sql, secret)
          const { handings } = postbox
          return checkIdentity({ history, ledger, handings, interval: world.interval, wrong: stage.clock.wrong() })
        },
        figures: () => figuresOf(history, postbox, lived.flat()),
      }
    },
  }
}

/** So far does the clock go at a time, until everything is at rest: sixty seconds of it are less than the day for which codes are good. */
const step = 5 * 60_000

/** Until every message is sent or given up. What a process left behind that was killed waits for minutes, which are made to pass. */
async function untilRest(sql: Db, { clock }: Stage): Promise<void> {
  for (const deadline = performance.now() + restPatience; performance.now() < deadline; await sleep(300)) {
    if ((await countWaiting(sql).catch(() => undefined)) === 0) return
    clock.ahead(step)
  }
}

function figuresOf(history: readonly Said[], { handings }: Postbox, people: readonly Person[]): Record<string, number> {
  const count = (act: string) => history.filter((each) => each.act === act && each.answer && each.answer.status < 300).length
  return {
    requests: history.length,
    unanswered: history.filter(({ answer }) => answer === undefined).length,
    unknown: history.filter(isUnknown).length,
    people: people.length,
    entered: count('verify') + count('sign in'),
    refreshed: count('refresh'),
    'refused to refresh': history.filter(({ act, answer }) => act === 'refresh' && answer?.status === 400).length,
    'logged out': count('log out'),
    passwords: count('password'),
    mails: handings.filter(({ channel }) => channel === 'mail').length,
    sms: handings.filter(({ channel }) => channel === 'sms').length,
    'handed over without a clear answer': handings.filter(({ told }) => told === 'nothing').length,
  }
}
