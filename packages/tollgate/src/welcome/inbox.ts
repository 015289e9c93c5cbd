import type { SmtpSink } from '@tollgate/kit/smtp-sink'

export type Message = {
  kind: 'mail'
  /** Stands in the address of its page. */
  id: string
  receivedAt: Date
  from: string
  to: string[]
  subject: string
  text: string
  links: string[]
  html: string | undefined
  /** As it came over the wire. */
  raw: Buffer
}

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
  return {
    messages: () =>
      sink.mails().map(({ id, receivedAt, from, to, subject, text, links, html, raw, headers }) => ({
        kind: 'mail',
        id: String(id),
        receivedAt,
        from: headers.from || from,
        to,
        subject,
        text,
        links,
        html,
        raw,
      })),
    onMessage: (listener) => sink.onMail(listener),
    clear: () => sink.clear(),
  }
}
