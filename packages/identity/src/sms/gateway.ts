/** `to` is digits alone, as phone numbers are kept. */
export type Message = {
  to: string
  text: string
  /** Where not as an SMS. */
  channel?: 'whatsapp'
  /** The code inside of the text, for channels that want it apart. */
  code?: string
}

export type SmsRequest = { path: string; headers?: Record<string, string>; form: Record<string, string> }

/** What a gateway made of a message, in its own words and codes. Without a `refused` it took the message. */
export type Outcome =
  | { id: unknown; refused?: never }
  | { refused: { code?: unknown; reason?: unknown; temporary?: boolean }; id?: never }

type Wire = {
  /** Where its requests go when nothing else is said. */
  base: string
  request(credentials: Readonly<Record<string, string>>, message: Message): SmsRequest
  /** Reads the JSON of an answer. It is an object, and nothing else is sure about it. */
  outcome(reply: object): Outcome
}

/** A way to deliver messages. */
export type Gateway = {
  name: string
  /** What it cannot do without: setting → sentence. */
  credentials: Readonly<Record<string, string>>
  /** What it may be told besides, likewise. */
  options: Readonly<Record<string, string>>
  wire: Wire
}

/** A declared gateway, whose requests may name the credentials and options that it declares and no others. */
export function gateway<
  const Name extends string,
  const Credentials extends Record<string, string>,
  const Options extends Record<string, string>,
>(declaration: {
  name: Name
  credentials: Credentials
  options?: Options
  wire: {
    base: string
    request(
      credentials: Readonly<Record<keyof Credentials, string> & Partial<Record<keyof Options, string>>>,
      message: Message,
    ): SmsRequest
    outcome(reply: object): Outcome
  }
}) {
  return { options: {}, ...declaration } as unknown as Gateway & { name: Name; credentials: Credentials }
}
