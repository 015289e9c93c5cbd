/** A class, because a delivery loop has to tell it from a bug. */
export class MailFailure extends Error {
  /** `temporary`: try again later. `permanent`: this recipient will not get this mail, however often it is tried. */
  readonly kind: 'temporary' | 'permanent'
  /** What the mail server answered, where it did. */
  readonly status: number | undefined

  /** Whether the server may have taken the mail all the same, so that sending it again may double it. */
  readonly maybeSent: boolean

  constructor(kind: 'temporary' | 'permanent', message: string, { status, maybeSent = false, ...why }: Details = {}) {
    super(message, why)
    this.name = 'MailFailure'
    this.kind = kind
    this.status = status
    this.maybeSent = maybeSent
  }
}

type Details = { status?: number; maybeSent?: boolean; cause?: unknown }

type Trouble = Partial<Record<'code' | 'command' | 'response' | 'message' | 'timeoutType', string>> & { responseCode?: number }

/** The library's error, which may quote credentials, in words that can be logged. `handedOver`: whether all of the mail was sent. */
export function toMailFailure(problem: unknown, { server, handedOver }: { server: string; handedOver: boolean }): MailFailure {
  const trouble = problem as Trouble
  const { responseCode: status, command = 'CONN' } = trouble
  if (command === 'API' && /^Invalid recipient|^No recipients/.test(trouble.message ?? '')) {
    return new MailFailure('permanent', `${server}: the recipient is no address that mail can be sent to`)
  }
  if (command === 'MAIL FROM' && trouble.code === 'EMESSAGE' && status === undefined) {
    return new MailFailure('permanent', `${server}: the mail is larger than the server accepts`)
  }
  if (status === undefined) {
    return new MailFailure('temporary', `${server}: ${reasonOf(trouble)}`, { maybeSent: handedOver })
  }
  // Only 4xx and 5xx say that the mail was not taken; what anything else means, nobody can tell.
  const maybeSent = handedOver && (status < 400 || status > 599)
  const kind = isPermanent(command, status) ? 'permanent' : 'temporary'
  return new MailFailure(kind, `${server}: ${nameOf(command)} was answered ${replyOf(command, trouble, status)}`, {
    status,
    maybeSent,
  })
}

/**
 * Only a refusal of the recipient or of the message is about this one mail. A refused login or sender is the operator's to mend, and
 * the mails that wait meanwhile are good; so is 503, by which a server says that it lost its thread, and 530, by which it asks for a login.
 */
function isPermanent(command: string, status: number): boolean {
  return (command === 'RCPT TO' || command === 'DATA') && status >= 500 && status < 600 && status !== 503 && status !== 530
}

function nameOf(command: string): string {
  return command.startsWith('AUTH') ? 'the login' : command === 'CONN' ? 'the connection' : command
}

/** A server may quote what it was told: of a login nothing is repeated, of other answers no address. */
function replyOf(command: string, { response = '' }: Trouble, status: number): string {
  const [, enhanced] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})/.exec(response) ?? []
  if (command.startsWith('AUTH')) return [status, enhanced].filter(Boolean).join(' ')
  const start = response.slice(0, 500).replace(/[\p{Cc}\s]+/gu, ' ')
  const text = start
    .replace(/[^\s<>:;,"']+@[^\s<>:;,"']+/g, '[address]')
    .slice(0, 200)
    .trim()
  return text === '' ? String(status) : text
}

const timeouts: Record<string, string> = {
  CONNECT_TIMEOUT: 'no connection within the time allowed',
  GREETING_TIMEOUT: 'no greeting within the time allowed',
  UPGRADE_TIMEOUT: 'no TLS handshake within the time allowed',
  SOCKET_TIMEOUT: 'no answer within the time allowed',
}

function reasonOf({ code, command, timeoutType, message }: Trouble): string {
  if (timeoutType) return timeouts[timeoutType] ?? 'no answer within the time allowed'
  if (command?.startsWith('AUTH') || code === 'EAUTH') return 'the login failed'
  if (code === 'ETLS') return 'the server does not offer a TLS that can be trusted, and the password is not sent without'
  // What the system or the TLS library says of a connection holds no credentials: none were sent yet.
  if (code === 'ESOCKET' || code === 'EDNS' || code === 'ECONNECTION') return message ?? code
  return code ?? 'the mail could not be sent'
}
