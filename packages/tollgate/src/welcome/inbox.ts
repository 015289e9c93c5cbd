import type { ReceivedMail, SmtpSink } from '@tollgate/kit/smtp-sink'
import { findCode, visibleText } from './code.ts'

type Received = {
  /** Stands in the address of its page. */
  id: string
  receivedAt: Date
  /** Mail addresses, or phone numbers with a plus. */
  to: string[]
  text: string
  links: string[]
  /** What the reader is to type in somewhere. */
  code: string | undefined
}

export type Mail = Received & {
  kind: 'mail'
  from: string
  subject: string
  html: string | undefined
  /** As it came over the wire. */
  raw: Buffer
}

export type Sms = Received & { kind: 'sms' }

export type Message = Mail | Sms

/** Something that receives messages of one kind. */
export type Source = {
  messages(): Message[]
  onMessage(listener: () => void): () => void
  clear(): void
}

export type Inbox = {
  /** Newest first. */
  messages(): Message[]
  find(id: string): Message | undefined
  /** Calls back when a message came in or all were cleared. */
  onChange(listener: () => void): () => void
  clear(): void
  close(): void
}

/** Another kind of message is one more source. */
export function openInbox(sources: readonly Source[]): Inbox {
  const listeners = new Set<() => void>()
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const leave = sources.map((source) => source.onMessage(tell))
  const messages = () =>
    sources.flatMap((source) => source.messages().reverse()).sort((one, other) => +other.receivedAt - +one.receivedAt)
  return {
    messages,
    find: (id) => messages().find((message) => message.id === id),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    clear() {
      for (const source of sources) source.clear()
      tell()
    },
    close() {
      for (const stop of leave) stop()
    },
  }
}

export function mailSource(sink: SmtpSink): Source {
  // The inbox is looked at again and again; a long mail is searched for its code only once.
  const read = new WeakMap<ReceivedMail, Mail>()
  const readOnce = (received: ReceivedMail) => {
    const mail = read.get(received) ?? readMail(received)
    read.set(received, mail)
    return mail
  }
  return {
    messages: () => sink.mails().map(readOnce),
    onMessage: (listener) => sink.onMail(listener),
    clear: () => sink.clear(),
  }
}

function readMail({ id, receivedAt, from, to, subject, text, links, html, raw, headers }: ReceivedMail): Mail {
  const code = findCode(text) ?? findCode(visibleText(html ?? '')) ?? findCode(subject)
  return { kind: 'mail', id: String(id), receivedAt, from: headers.from || from, to, subject, text, links, code, html, raw }
}
