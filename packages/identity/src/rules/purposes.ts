import type { MailKind } from '../mail/kinds.ts'

export type TokenType =
  | 'confirmation_token'
  | 'recovery_token'
  | 'email_change_token_new'
  | 'email_change_token_current'
  | 'phone_change_token'
  | 'reauthentication_token'

type Mailed = { tokenType: TokenType; mail: MailKind; method: string }
type Texted = { tokenType: TokenType; mail?: never }

/** What a code can be for: which kind of token it is, the mail it goes out by, and how a session is entered that was proved by its link. */
export const purposes = {
  signup: { tokenType: 'confirmation_token', mail: 'confirmation', method: 'email/signup' },
  invite: { tokenType: 'confirmation_token', mail: 'invite', method: 'invite' },
  recovery: { tokenType: 'recovery_token', mail: 'recovery', method: 'recovery' },
  magiclink: { tokenType: 'recovery_token', mail: 'magic_link', method: 'magiclink' },
  email_change_new: { tokenType: 'email_change_token_new', mail: 'email_change', method: 'email_change' },
  email_change_current: { tokenType: 'email_change_token_current', mail: 'email_change', method: 'email_change' },
  reauthentication: { tokenType: 'reauthentication_token', mail: 'reauthentication', method: 'otp' },
  sms: { tokenType: 'confirmation_token' },
  phone_change: { tokenType: 'phone_change_token' },
  sms_reauthentication: { tokenType: 'reauthentication_token' },
} as const satisfies Record<string, Mailed | Texted>

export type Purpose = keyof typeof purposes
export type MailPurpose = { [P in Purpose]: (typeof purposes)[P] extends { mail: MailKind } ? P : never }[Purpose]
export type SmsPurpose = Exclude<Purpose, MailPurpose>

/** Which tokens a `type` of POST and GET /verify means; undefined for a word that means none. */
export function verifiedTokens(type: string): readonly TokenType[] | undefined {
  return Object.hasOwn(verified, type) ? verified[type] : undefined
}

const verified: Readonly<Record<string, readonly TokenType[]>> = {
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  recovery: ['recovery_token'],
  magiclink: ['recovery_token'],
  email: ['confirmation_token', 'recovery_token'],
  email_change: ['email_change_token_new', 'email_change_token_current'],
  sms: ['confirmation_token'],
  phone_change: ['phone_change_token'],
}
