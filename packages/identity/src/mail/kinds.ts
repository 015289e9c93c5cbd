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
  /** The user's own metadata. */
  data?: Readonly<Record<string, unknown>> | undefined
}

export type TemplateValues = Readonly<Record<string, unknown>>

/** What templates and subjects can name as `{{ .Email }}`. */
const variables = {
  SiteURL: (_, siteUrl) => siteUrl,
  Email: ({ email }) => email,
  Data: ({ data }) => data ?? {},
  ConfirmationURL: ({ link }) => link,
  Token: ({ code }) => code,
  TokenHash: ({ tokenHash }) => tokenHash,
  RedirectTo: ({ redirectTo }) => redirectTo,
  NewEmail: ({ newEmail }) => newEmail,
  SendingTo: ({ sendingTo }) => sendingTo,
} as const satisfies Record<string, (facts: MailFacts, siteUrl: string) => unknown>

type Variable = keyof typeof variables

type Kind = {
  subject: string
  /** Which of `smtp.mailer.subjects` and `smtp.mailer.templates` belongs to it; a kind without one cannot be changed. */
  settings?: 'invite' | 'confirmation' | 'recovery' | 'magicLink' | 'emailChange'
  /** Which of `smtp.mailer.urlPaths` its link leads to, and the `type` that the link names there. */
  link?: { path: 'invite' | 'confirmation' | 'recovery' | 'emailChange'; type: string }
  variables: readonly Variable[]
}

const always = ['SiteURL', 'Email', 'Data'] as const
const withLink = [...always, 'ConfirmationURL', 'Token', 'TokenHash', 'RedirectTo'] as const

const table = {
  invite: {
    subject: 'You have been invited',
    settings: 'invite',
    link: { path: 'invite', type: 'invite' },
    variables: withLink,
  },
  confirmation: {
    subject: 'Confirm Your Signup',
    settings: 'confirmation',
    link: { path: 'confirmation', type: 'signup' },
    variables: withLink,
  },
  recovery: {
    subject: 'Reset Your Password',
    settings: 'recovery',
    link: { path: 'recovery', type: 'recovery' },
    variables: withLink,
  },
  magic_link: {
    subject: 'Your Magic Link',
    settings: 'magicLink',
    // Magic links have no path setting of their own and share that of recovery.
    link: { path: 'recovery', type: 'magiclink' },
    variables: withLink,
  },
  email_change: {
    subject: 'Confirm Email Change',
    settings: 'emailChange',
    link: { path: 'emailChange', type: 'email_change' },
    variables: [...withLink, 'NewEmail', 'SendingTo'],
  },
  reauthentication: { subject: '{{ .Token }} is your verification code', variables: [...always, 'Token'] },
  account_exists: { subject: 'You already have an account', variables: always },
} as const satisfies Record<string, Kind>

export type MailKind = keyof typeof table

export const mailKinds: Readonly<Record<MailKind, Kind>> = table

/** The variables that a kind has, so that a template cannot show what is not meant for it. */
export function templateValues(kind: MailKind, facts: MailFacts, siteUrl: string): TemplateValues {
  return Object.fromEntries(mailKinds[kind].variables.map((name) => [name, variables[name](facts, siteUrl)]))
}
