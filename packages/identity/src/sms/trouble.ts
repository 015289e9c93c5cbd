import type { OutsideTrouble } from '@tollgate/kit/fetch'

type Details = { temporary: boolean; maybeSent: boolean; code?: string | undefined }

/** A gateway did not take a message. The message of the error names the gateway, its code and its words, never a credential. */
export class SmsTrouble extends Error {
  readonly gateway: string
  /** Whether the same may work later. */
  readonly temporary: boolean
  /** Whether the message may be on its way all the same, so that sending it again may double it. */
  readonly maybeSent: boolean
  /** The gateway's own code. */
  readonly code: string | undefined

  constructor(gateway: string, what: string, { temporary, maybeSent, code }: Details) {
    super(`${gateway}: ${what}`)
    this.gateway = gateway
    this.temporary = temporary
    this.maybeSent = maybeSent
    this.code = code
  }
}

export function outsiderTrouble(gateway: string, { kind, what }: OutsideTrouble): SmsTrouble {
  const neverSent = kind === 'unreachable' || kind === 'forbidden'
  return new SmsTrouble(gateway, what, { temporary: kind !== 'forbidden', maybeSent: !neverSent })
}

type Refusal = { status: number; code: string | undefined; reason: string | undefined; temporary: boolean }

export function refusal(gateway: string, { status, temporary, ...told }: Refusal): SmsTrouble {
  const code = told.code && /^[\w.-]{1,40}$/.test(told.code) ? told.code : undefined
  const reason = told.reason?.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
  const what = `answered ${status}${code ? ` with code ${code}` : ''}${reason ? ` (${reason})` : ''}`
  // Where something broke and the gateway itself does not say what, the message may have passed before.
  return new SmsTrouble(gateway, what, { temporary, maybeSent: status >= 500 && !code, code })
}

export function statusIsTemporary(status: number): boolean {
  return status >= 500 || status === 429 || status === 408
}
