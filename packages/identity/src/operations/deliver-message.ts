import { addJob, type Job } from '@tollgate/kit/jobs'
import { MailFailure } from '@tollgate/kit/smtp'
import type { App } from '../app.ts'
import { customHeaders } from '../mail/custom-headers.ts'
import type { MailFacts } from '../mail/kinds.ts'
import { unseal } from '../rules/seal.ts'
import { gatewayNamed, sendSms } from '../sms/send-sms.ts'
import { SmsTrouble } from '../sms/trouble.ts'
import {
  deleteMessage,
  findWaitingMessage,
  setGivenUp,
  setHandedOver,
  setSent,
  unsetHandedOver,
  type WaitingMessage,
} from '../store/messages.ts'
import type { SealedMail, SealedSms } from './send-code.ts'

type Parts = Omit<App, 'nudge'>

/** No outsider is waited for as long as this: whatever came of a message that was handed over longer ago, nobody will say any more. */
const longestHandOver = 90

/** The loop gives a job up after twelve attempts, in about an hour. A mail server may be away for longer. */
const quickAttempts = 10
const slowSeconds = 15 * 60

/** After this long a message is no news, whether the code in it would still be good or not. */
const patience = 5 * 86_400

/**
 * Delivers a message. It is marked as handed over at the last moment before an outsider takes it: whoever finds it so marked does not know
 * whether it was taken, and does not send it again. What fails before that, or is known to have failed, is tried again.
 */
export async function deliverMessage(app: Parts, job: Job): Promise<void> {
  const { db, log, now } = app
  const message = await findWaitingMessage(db, String(job.payload.message))
  if (!message) return
  const { id, channel, handedOverAt } = message
  if (channel === 'none') return deleteMessage(db, id)

  const giveUp = async (error: string) => {
    if (await setGivenUp(db, id, { error, now: now() })) log.error({ message: id, channel, error }, 'message given up')
  }
  // Whoever is at it will tell what came of it, or never will.
  if (handedOverAt && now().getTime() - handedOverAt.getTime() < longestHandOver * 1000)
    throw new Error(`message ${id} is being handed over elsewhere`)
  if (handedOverAt) return giveUp('the process ended while it was being handed over: it may have been sent')
  if (deadlineOf(message) <= now().getTime()) return giveUp('it could not be sent in time')
  const letter = open(app, message)
  if (!letter) return giveUp('it cannot be read, for it was written under another AUTH_JWT_SECRET')

  let mark: Date | undefined
  const handOver = async () => {
    mark = await takeMark(app, id)
  }
  try {
    const outsideId = await letter.deliver(handOver)
    // Should this fail, the mark is what keeps the message from being sent again.
    await setSent(db, id, { outsideId, now: now() })
    app.meters.delivery('taken', channel, letter.kind)
  } catch (problem) {
    if (!(problem instanceof MailFailure) && !(problem instanceof SmsTrouble)) throw problem
    app.meters.delivery('refused', channel, letter.kind)
    const reason = discreet(problem.message, letter.secrets)
    if (problem.maybeSent) return giveUp(`${reason}: it may have been sent`)
    const temporary = problem instanceof MailFailure ? problem.kind === 'temporary' : problem.temporary
    if (!temporary) return giveUp(reason)
    if (mark) await unsetHandedOver(db, id, mark)
    return tryAgain(app, job, new Error(reason, { cause: problem.cause }))
  }
}

function deadlineOf({ createdAt, expiresAt }: WaitingMessage): number {
  return Math.min(createdAt.getTime() + patience * 1000, expiresAt?.getTime() ?? Number.POSITIVE_INFINITY)
}

/** Throws where the message must not be sent: somebody whose job this is too was faster, or it cannot be written down. */
async function takeMark({ db, now }: Parts, id: string): Promise<Date> {
  const mark = now()
  const taken = await setHandedOver(db, id, mark).catch(async (problem: unknown) => {
    // It may have been written all the same, and would keep the message from ever being sent.
    await unsetHandedOver(db, id, mark)
    throw problem
  })
  if (!taken) throw new Error(`message ${id} is being handed over elsewhere`)
  return mark
}

/** Leaves it to the loop at first, which comes back soon and then later and later; from then on, at an even pace until it is too late. */
async function tryAgain({ db, log, now }: Parts, { kind, payload, attempts }: Job, problem: Error): Promise<void> {
  if (attempts < quickAttempts && !payload.slow) throw problem
  log.warn({ message: payload.message, error: problem }, 'message put off')
  const runAt = new Date(now().getTime() + slowSeconds * 1000 * (0.75 + Math.random() / 2))
  await addJob(db, { kind, payload: { ...payload, slow: true }, now: now(), runAt })
}

type HandOver = () => Promise<void>

/** A message that can be read, how it is delivered, and what of it nobody else may read. */
type Letter = { kind: string; deliver(handOver: HandOver): Promise<string>; secrets: (string | undefined)[] }

/** Undefined where it was sealed with another key. */
function open(app: Parts, { id, channel, sealed, createdAt }: WaitingMessage): Letter | undefined {
  let content: SealedMail | SealedSms
  try {
    content = unseal<SealedMail | SealedSms>(app.secrets.messages, id, sealed)
  } catch {
    return undefined
  }
  return channel === 'mail' ? mailOf(app, id, createdAt, content as SealedMail) : smsOf(app, content as SealedSms)
}

function mailOf(app: Parts, id: string, date: Date, { kind, to, facts }: SealedMail): Letter {
  return {
    kind,
    secrets: [facts.link, facts.tokenHash, facts.code, to, ...addressesIn(facts)],
    async deliver(beforeHandOver) {
      const composed = await app.composeMail(kind, facts)
      const headers = customHeaders(app.config.smtp.headers, kind)
      return (await app.smtp.send({ id, to, ...composed, date, headers, beforeHandOver })).id
    },
  }
}

function addressesIn({ email, newEmail, oldEmail, phone, oldPhone }: MailFacts) {
  return [email, newEmail, oldEmail, phone, oldPhone]
}

function smsOf({ config: { sms }, fetch }: Parts, { to, text, code, whatsapp }: SealedSms): Letter {
  return {
    kind: 'sms',
    secrets: [text, code, to],
    async deliver(handOver) {
      if (sms.provider === undefined)
        throw new SmsTrouble('sms', 'AUTH_SMS_PROVIDER is not set', { temporary: false, maybeSent: false })
      const ready = { gateway: gatewayNamed(sms.provider), ...sms.gateways[sms.provider] }
      await handOver()
      return (await sendSms(ready, fetch, { to, text, code, ...(whatsapp ? { channel: 'whatsapp' as const } : {}) })).id
    },
  }
}

/** An outsider that refuses a message may quote it. */
function discreet(words: string, secrets: readonly (string | undefined)[]): string {
  return secrets.reduce<string>((told, secret) => (secret ? told.replaceAll(secret, '[withheld]') : told), words)
}
