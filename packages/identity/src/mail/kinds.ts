import { plainLanguage } from './locale.ts'

/** What a mail can be about, besides the site and the recipient. */
export type MailFacts = {
  /** The address of the account. */
  email: string
  /** The address that the account is to have. */
  newEmail?: string | undefined
  /** The one of the two that this mail goes to. */
  sendingTo?: string | undefined
  link?: string | undefined
  code?: string | undefined
  tokenHash?: string | undefined
  redirectTo?: string | undefined
  /** What the account had before the change that is told of. */
  oldEmail?: string | undefined
  oldPhone?: string | undefined
  phone?: string | undefined
  /** The way to sign in that was added or removed. */
  provider?: string | undefined
  /** The reader's language as a tag in lower case, such as `pt-br`, where it is known. */
  locale?: string | undefined
  /** The user's own metadata. */
  data?: Readonly<Record<string, unknown>> | undefined
}

export type TemplateValues = Readonly<Record<string, unknown>>

/** What templates and subjects can name as `{{ .Email }}`. */
const variables = {
  SiteURL: (_, siteUrl) => siteUrl,
  Email: ({ email }) => email,
  Data: ({ data }) => data ?? {},
  Locale: ({ locale }) => locale,
  Language: ({ locale }) => locale && plainLanguage(locale),
  ConfirmationURL: ({ link }) => link,
  Token: ({ code }) => code,
  TokenHash: ({ tokenHash }) => tokenHash,
  RedirectTo: ({ redirectTo }) => redirectTo,
  NewEmail: ({ newEmail }) => newEmail,
  SendingTo: ({ sendingTo }) => sendingTo,
  OldEmail: ({ oldEmail }) => oldEmail,
  OldPhone: ({ oldPhone }) => oldPhone,
  Phone: ({ phone }) => phone,
  Provider: ({ provider }) => provider,
} as const satisfies Record<string, (facts: MailFacts, siteUrl: string) => unknown>

type Variable = keyof typeof variables

type Kind = {
  /** Its subject is MAILER_SUBJECTS_<setting>, its template MAILER_TEMPLATES_<setting>. */
  setting: string
  /** What the documents call such mails: the subject of *invitations*. */
  about: string
  subject: string
  /** Which of `smtp.mailer.urlPaths` its link leads to, and the `type` that the link names there. */
  link?: { path: 'invite' | 'confirmation' | 'recovery' | 'emailChange'; type: string }
  variables: readonly Variable[]
}

const always = ['SiteURL', 'Email', 'Data', 'Locale', 'Language'] as const
const withLink = [...always, 'ConfirmationURL', 'Token', 'TokenHash', 'RedirectTo'] as const

const table = {
  invite: {
    setting: 'INVITE',
    about: 'invitations',
    subject: 'You have been invited',
    link: { path: 'invite', type: 'invite' },
    variables: withLink,
  },
  confirmation: {
    setting: 'CONFIRMATION',
    about: 'sign-up confirmations',
    subject: 'Confirm Your Signup',
    link: { path: 'confirmation', type: 'signup' },
    variables: withLink,
  },
  recovery: {
    setting: 'RECOVERY',
    about: 'recovery mails',
    subject: 'Reset Your Password',
    link: { path: 'recovery', type: 'recovery' },
    variables: withLink,
  },
  magic_link: {
    setting: 'MAGIC_LINK',
    about: 'magic links',
    subject: 'Your Magic Link',
    // Magic links have no path setting of their own and share that of recovery.
    link: { path: 'recovery', type: 'magiclink' },
    variables: withLink,
  },
  email_change: {
    setting: 'EMAIL_CHANGE',
    about: 'email change confirmations',
    subject: 'Confirm Email Change',
    link: { path: 'emailChange', type: 'email_change' },
    variables: [...withLink, 'NewEmail', 'SendingTo'],
  },
  reauthentication: {
    setting: 'REAUTHENTICATION',
    about: 'reauthentication codes',
    subject: '{{ .Token }} is your verification code',
    variables: [...always, 'Token'],
  },
  password_changed_notification: {
    setting: 'PASSWORD_CHANGED_NOTIFICATION',
    about: 'notices of a changed password',
    subject: 'Your password was changed',
    variables: always,
  },
  email_changed_notification: {
    setting: 'EMAIL_CHANGED_NOTIFICATION',
    about: 'notices of a changed email address',
    subject: 'Your email address was changed',
    variables: [...always, 'OldEmail'],
  },
  phone_changed_notification: {
    setting: 'PHONE_CHANGED_NOTIFICATION',
    about: 'notices of a changed phone number',
    subject: 'Your phone number was changed',
    variables: [...always, 'OldPhone', 'Phone'],
  },
  identity_linked_notification: {
    setting: 'IDENTITY_LINKED_NOTIFICATION',
    about: 'notices of an added way to sign in',
    subject: 'A new sign-in method was linked to your account',
    variables: [...always, 'Provider'],
  },
  identity_unlinked_notification: {
    setting: 'IDENTITY_UNLINKED_NOTIFICATION',
    about: 'notices of a removed way to sign in',
    subject: 'A sign-in method was removed from your account',
    variables: [...always, 'Provider'],
  },
} as const satisfies Record<string, Kind>

export type MailKind = keyof typeof table

type Settings = (typeof table)[MailKind]['setting']

export const mailKinds: Readonly<Record<MailKind, Kind & { setting: Settings }>> = table

/** The variables that a kind has, so that a template cannot show what is not meant for it. */
export function templateValues(kind: MailKind, facts: MailFacts, siteUrl: string): TemplateValues {
  return Object.fromEntries(mailKinds[kind].variables.map((name) => [name, variables[name](facts, siteUrl)]))
}
