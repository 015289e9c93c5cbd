import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import PostalMime, { decodeWords } from 'postal-mime'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerEnvelope } from 'smtp-server'

export type ReceivedMail = {
  id: number
  receivedAt: Date
  /** The bare address; the display name stands in `headers.from`. */
  from: string
  /** Whom the envelope names, so that blind copies count too. */
  to: string[]
  subject: string
  text: string
  html: string | undefined
  /** By lower-case name, decoded; what was repeated is joined by commas. */
  headers: Record<string, string>
  /** Every http(s) address in the HTML and the text, once each, in order of appearance. */
  links: string[]
  raw: Buffer
}

export type SmtpSink = {
  port: number
  /** Oldest first. */
  mails(): readonly ReceivedMail[]
  /** The oldest that fits and was not taken by an earlier call, or the next to arrive; gives up after five seconds. */
  next(fits?: (mail: ReceivedMail) => boolean): Promise<ReceivedMail>
  onMail(listener: (mail: ReceivedMail) => void): () => void
  clear(): void
  close(): Promise<void>
}

type Waiter = { fits(mail: ReceivedMail): boolean; take(mail: ReceivedMail): void; giveUp(why: string): void }

const megabyte = 1024 * 1024
const patience = 5_000

/** A mail server that accepts everything from everybody and keeps it in memory: for tests and for the development inbox. */
export async function startSmtpSink(options: { host?: string; port?: number; keep?: number } = {}): Promise<SmtpSink> {
  const { host = '127.0.0.1', port = 0, keep = 500 } = options
  const mails: ReceivedMail[] = []
  const taken = new WeakSet<ReceivedMail>()
  const waiters = new Set<Waiter>()
  const listeners = new Set<(mail: ReceivedMail) => void>()
  const sockets = new Set<Socket>()
  let lastId = 0

  function deliver(mail: ReceivedMail): void {
    mails.push(mail)
    if (mails.length > keep) mails.shift()
    for (const waiter of waiters) {
      if (!waiter.fits(mail)) continue
      taken.add(mail)
      waiter.take(mail)
      break
    }
    for (const listener of listeners) listener(mail)
  }

  async function receive(stream: SMTPServerDataStream, envelope: SMTPServerEnvelope): Promise<void> {
    const chunks: Buffer[] = []
    // A message that is too long is read to its end, but not kept.
    for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk)
    if (stream.sizeExceeded) throw refusal(552, 'The message is larger than 10 MB')
    const parsed = await parseMail(Buffer.concat(chunks), envelope)
    deliver({ id: ++lastId, receivedAt: new Date(), ...parsed })
  }

  const server = new SMTPServer({
    size: 10 * megabyte,
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN', 'CRAM-MD5'],
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onAuth: ({ username }, _session, done) => done(null, { user: username || 'anybody' }),
    onData: (stream, { envelope }, done) => {
      receive(stream, envelope).then(() => done(null, 'Kept'), done)
    },
  })
  server.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A sender who hangs up is an error to the library, and no concern of ours.
  server.on('error', () => {})
  server.listen(port, host)
  // Rejects with the listener's own error: a taken port keeps its code EADDRINUSE.
  await once(server.server, 'listening')

  return {
    port: (server.server.address() as AddressInfo).port,
    mails: () => [...mails],
    next(fits = () => true) {
      const here = mails.find((mail) => !taken.has(mail) && fits(mail))
      if (here) {
        taken.add(here)
        return Promise.resolve(here)
      }
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          fits,
          take: (mail) => leave(() => resolve(mail)),
          giveUp: (why) => leave(() => reject(new Error(why))),
        }
        const timer = setTimeout(() => waiter.giveUp(`No mail that fits arrived within 5 s; ${listed(mails)}`), patience)
        waiters.add(waiter)
        function leave(settle: () => void): void {
          clearTimeout(timer)
          waiters.delete(waiter)
          settle()
        }
      })
    },
    onMail(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    clear: () => void mails.splice(0),
    async close() {
      for (const waiter of waiters) waiter.giveUp('The mail server was closed while a mail was waited for')
      const closed = once(server, 'close')
      server.close()
      // Senders keep their connections open for the next mail, and would keep us waiting.
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function listed(mails: ReceivedMail[]): string {
  if (mails.length === 0) return 'none was received at all'
  const newest = mails.slice(-5).map(({ subject, to }) => `"${subject}" to ${to.join(', ')}`)
  return `received were ${mails.length}, the newest: ${newest.join('; ')}`
}

async function parseMail(raw: Buffer, envelope: SMTPServerEnvelope): Promise<Omit<ReceivedMail, 'id' | 'receivedAt'>> {
  const mail = await PostalMime.parse(raw).catch((problem: Error) => {
    throw refusal(554, `The message cannot be read: ${problem.message}`)
  })
  const text = mail.text ?? ''
  const headers = Map.groupBy(mail.headers, ({ key }) => key)
  return {
    from: mail.from?.address ?? (envelope.mailFrom ? envelope.mailFrom.address : ''),
    to: envelope.rcptTo.map(({ address }) => address),
    subject: mail.subject ?? '',
    text,
    html: mail.html,
    headers: Object.fromEntries([...headers].map(([key, same]) => [key, same.map(({ value }) => decodeWords(value)).join(', ')])),
    links: findLinks(mail.html ?? '', text),
    raw,
  }
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

const anchor = /<a\s[^<>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/gi
// The last character is none that usually ends the sentence around the address.
const address = /https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi

function findLinks(html: string, text: string): string[] {
  const anchors = [...html.matchAll(anchor)].map(([, double, single, bare]) =>
    resolveEntities(double ?? single ?? bare ?? '').trim(),
  )
  const found = [...anchors, ...(text.match(address) ?? [])]
  return [...new Set(found)].filter((link) => /^https?:\/\//i.test(link) && URL.canParse(link))
}

const entities: Record<string, string> = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' }

/** Template engines write `&`, `=`, `+` and `/` of an address as entities; nothing more exotic belongs into one. */
function resolveEntities(value: string): string {
  return value.replace(/&(?:#x([0-9a-f]{1,5})|#([0-9]{1,6})|(amp|quot|apos|lt|gt));/gi, (_, hex, decimal, name) => {
    if (name) return entities[name.toLowerCase()] ?? ''
    return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal))
  })
}
