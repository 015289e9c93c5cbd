import type { SMTPPoolOptions } from 'nodemailer/lib/smtp-pool'
import type { Secret } from './secret.ts'
import { MailFailure, toMailFailure } from './smtp/failure.ts'
import { createHandOver, type HandOver } from './smtp/hand-over.ts'

export { MailFailure } from './smtp/failure.ts'

export type SmtpSettings = {
  host: string
  port: number
  user: string | undefined
  pass: Secret | undefined
  adminEmail: string
  senderName: string
}

export type MailHeader = { key: string; value: string }

export type Mail = {
  /** What the Message-ID is made of: a repeat of the same mail carries the same one, by which it can be recognised. */
  id: string
  to: string
  subject: string
  html: string
  text: string | undefined
  date: Date
  /** Further ones, which take the place of the usual ones where the names are the same. */
  headers?: readonly MailHeader[]
  /**
   * Called once all of the mail is on its way but for the end, without which a server throws it away. Whoever notes here that the mail is
   * handed over neither loses it when the process is killed before, nor sends it twice when it is killed after. When it rejects, the mail
   * is not sent.
   */
  beforeHandOver?: () => Promise<void>
}

export type Transport = {
  /** Answers with the Message-ID when the server has taken the mail; a failure is a `MailFailure`. */
  send(mail: Mail): Promise<{ id: string }>
  /** Lets what is being sent end; what still waits fails as temporary. */
  close(): Promise<void>
}

type Options = {
  /** By which name we greet the mail server. */
  clientName: string
  /** The setting that names the mail server, for whoever has to set it. */
  hostSetting: string
  connections?: number
  /** In milliseconds. */
  timeouts?: Partial<typeof usualTimeouts>
  /** Certificates to trust besides those that Node does. */
  authorities?: string
}

const usualTimeouts = { connect: 10_000, greeting: 10_000, silence: 30_000, whole: 60_000, idle: 30_000 }

/** One connection, kept open for the next mail. Each has a pool of its own, so that it can be given up without the others. */
type Lane = { send(mail: object, handOver: HandOver): Promise<unknown>; cut(): void; close(): void }

export function createTransport(settings: SmtpSettings, options: Options): Transport {
  const { connections = 5 } = options
  const timeouts = { ...usualTimeouts, ...options.timeouts }
  const server = `${settings.host}:${settings.port}`
  const idle: Lane[] = []
  const waiting: PromiseWithResolvers<Lane>[] = []
  const inside = new Set<Promise<unknown>>()
  let open = 0
  let closed = false

  async function openLane(): Promise<Lane> {
    // It takes 100 ms to load, which a service that sends no mail should not spend.
    const { createTransport: createPool } = await import('nodemailer')
    const pool = createPool({ ...poolOptions(settings, options, timeouts), pool: true })
    // A connection that ends while it has nothing to do is no news.
    pool.on('error', () => {})
    let current: HandOver | undefined
    pool.use('stream', ({ message }, done) => {
      const handOver = current
      if (handOver) message.processFunc((content) => handOver.stream(content))
      done()
    })
    return {
      send(mail, handOver) {
        current = handOver
        return pool.sendMail(mail)
      },
      cut: () => pool.close({ force: true }),
      close: () => pool.close(),
    }
  }

  async function takeLane(): Promise<Lane> {
    const free = idle.pop()
    if (free) return free
    if (open < connections) {
      open++
      return openLane()
    }
    const turn = Promise.withResolvers<Lane>()
    waiting.push(turn)
    return turn.promise
  }

  function giveLane(lane: Lane) {
    const next = waiting.shift()
    if (next) next.resolve(lane)
    else if (closed) lane.close()
    else idle.push(lane)
  }

  async function replaceLane(lane: Lane) {
    lane.cut()
    giveLane(await openLane())
  }

  async function deliver(mail: Mail, id: string) {
    const lane = await takeLane()
    const handOver = createHandOver(mail.beforeHandOver)
    const sent = lane.send(messageOf(mail, settings, id), handOver).then(
      () => undefined,
      (problem: unknown) => ({ problem }),
    )
    const trouble = await orTooLong(sent, timeouts.whole)
    if (!trouble && handOver.stage() === 'over') return giveLane(lane)

    const halfway = handOver.stop() === 'begun'
    // Whatever was said next in the middle of a mail would be taken for more of it.
    if (halfway) lane.cut()
    // Otherwise the caller might put the mail back, and what runs before its end might then take it away again.
    await handOver.settled()
    const failure = failureOf(trouble, handOver)
    // Who owes an answer might give it to the next mail.
    if (halfway || trouble === 'too long' || failure.maybeSent) await replaceLane(lane)
    else giveLane(lane)
    throw failure
  }

  function failureOf(trouble: 'too long' | { problem: unknown } | undefined, handOver: HandOver): MailFailure {
    const refusal = handOver.refusal()
    if (refusal) return new MailFailure('temporary', `${server}: the mail was held back at the last moment`, refusal)
    const handedOver = handOver.stage() === 'over'
    if (!trouble) return new MailFailure('temporary', `${server}: the mail was answered before it was there`)
    if (trouble !== 'too long') return toMailFailure(trouble.problem, { server, handedOver })
    return new MailFailure('temporary', `${server}: the mail was not taken within the time allowed`, { maybeSent: handedOver })
  }

  return {
    async send(mail) {
      if (closed) throw new MailFailure('temporary', `${server}: no more mails are sent, the service is stopping`)
      if (settings.host === '') throw new MailFailure('permanent', `${options.hostSetting} is not set, so no mail can be sent`)
      if (!oneAddress.test(mail.to)) {
        throw new MailFailure('permanent', `${server}: the recipient is no address that mail can be sent to`)
      }
      const id = messageId(mail.id, settings.adminEmail)
      const delivery = deliver(mail, id)
      inside.add(delivery)
      await delivery.finally(() => inside.delete(delivery))
      return { id }
    },
    async close() {
      closed = true
      for (const turn of waiting.splice(0)) {
        turn.reject(new MailFailure('temporary', `${server}: no more mails are sent, the service is stopping`))
      }
      await Promise.allSettled(inside)
      for (const lane of idle.splice(0)) lane.close()
    },
  }
}

/** A server that answers a byte now and then is never silent, and would keep a mail for ever. */
async function orTooLong<T>(sent: Promise<T>, limit: number): Promise<T | 'too long'> {
  const late = Promise.withResolvers<'too long'>()
  const timer = setTimeout(() => late.resolve('too long'), limit)
  return Promise.race([sent, late.promise]).finally(() => clearTimeout(timer))
}

// The library takes a text with commas or brackets apart into several addresses, and mails to all of them.
const oneAddress = /^[^\s\p{Cc}@<>,;:"()[\]\\]+@[^\s\p{Cc}@<>,;:"()[\]\\]+$/u

/** `<row@domain>`: nothing of it can be guessed wrong, and the domain is one that the sender owns. */
function messageId(rowId: string, sender: string): string {
  const [, domain = 'localhost'] = /@([a-z0-9.-]+)$/i.exec(sender) ?? []
  return `<${rowId.replace(/[^\w.-]/g, '')}@${domain}>`
}

function messageOf(mail: Mail, { adminEmail, senderName }: SmtpSettings, messageId: string): object {
  return {
    messageId,
    from: { name: senderName, address: adminEmail },
    to: { name: '', address: mail.to },
    envelope: { from: adminEmail, to: [mail.to] },
    subject: mail.subject,
    date: mail.date,
    html: mail.html,
    ...(mail.text === undefined ? {} : { text: mail.text }),
    headers: headersOf(mail.headers ?? []),
  }
}

// So that nobody's "I am on holiday" comes back, and no list takes it for a letter.
const usualHeaders: readonly MailHeader[] = [
  { key: 'Auto-Submitted', value: 'auto-generated' },
  { key: 'X-Auto-Response-Suppress', value: 'All' },
]

function headersOf(own: readonly MailHeader[]): MailHeader[] {
  const taken = new Set(own.map(({ key }) => key.toLowerCase()))
  return [...usualHeaders.filter(({ key }) => !taken.has(key.toLowerCase())), ...own]
}

function poolOptions(settings: SmtpSettings, options: Options, timeouts: typeof usualTimeouts): SMTPPoolOptions {
  const { host, port, user, pass } = settings
  const { secure, required, verified } = protection({ host, port, credentials: user !== undefined })
  return {
    host,
    port,
    secure,
    requireTLS: required,
    name: options.clientName,
    tls: { rejectUnauthorized: verified, minVersion: 'TLSv1.2', ...(options.authorities ? { ca: options.authorities } : {}) },
    ...(user === undefined ? {} : { auth: { user, pass: pass?.reveal() ?? '' } }),
    maxConnections: 1,
    // A kept connection that the server had closed meanwhile is no reason to make somebody wait for the next attempt. Only a mail of
    // which not a byte was sent is tried again, so that nothing is handed over twice.
    maxRequeues: 1,
    connectionTimeout: timeouts.connect,
    dnsTimeout: timeouts.connect,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.silence,
    idleTimeout: timeouts.idle,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/**
 * TLS from the first byte on port 465, STARTTLS elsewhere when it is offered. A password leaves this machine only through TLS to a
 * server that proved its name. Where plain text would be taken anyway, an unproven certificate is no worse.
 */
export function protection({ host, port, credentials }: { host: string; port: number; credentials: boolean }) {
  const secure = port === 465
  const near = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
  return { secure, required: !secure && credentials && !near, verified: !near && (secure || credentials) }
}
