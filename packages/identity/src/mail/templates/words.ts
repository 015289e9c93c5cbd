import type { MailFacts, MailKind } from '../kinds.ts'

/** What a mail says, without any form: the HTML and the plain text are both made from it. */
export type Words = {
  /** Shown beside the subject in lists of mails. */
  preview: string
  heading: string
  paragraphs: readonly string[]
  button?: { label: string; link: string } | undefined
  code?: { introduction: string; digits: string } | undefined
  /** Below the line: why it was sent and what to do if it was not asked for. */
  notes: readonly string[]
}

type Setting = { site: string; siteUrl: string; validFor: string }

export const wordsOf: Record<MailKind, (facts: MailFacts, setting: Setting) => Words> = {
  invite: (facts, { site, validFor }) => ({
    preview: `Accept the invitation to join ${site}.`,
    heading: 'You have been invited',
    paragraphs: [`You have been invited to join ${site} as ${facts.email}. Accept the invitation to create your account.`],
    ...action(facts, 'Accept the invitation'),
    notes: [once(facts, validFor), 'If you did not expect an invitation, you can ignore this mail.'],
  }),
  confirmation: (facts, { site, validFor }) => ({
    preview: `One more step, and your account at ${site} is ready.`,
    heading: 'Confirm your email address',
    paragraphs: [`Thank you for signing up at ${site}. Please confirm that ${facts.email} is your address.`],
    ...action(facts, 'Confirm my address'),
    notes: [once(facts, validFor), 'If you did not sign up, you can ignore this mail: without a confirmation, nothing happens.'],
  }),
  recovery: (facts, { site, validFor }) => ({
    preview: `Choose a new password for ${site}.`,
    heading: 'Reset your password',
    paragraphs: [`Somebody, hopefully you, asked to reset the password of ${facts.email} at ${site}.`],
    ...action(facts, 'Reset my password'),
    notes: [once(facts, validFor), 'If it was not you, you can ignore this mail: your password stays as it is.'],
  }),
  magic_link: (facts, { site, validFor }) => ({
    preview: `Sign in to ${site}, no password needed.`,
    heading: facts.link ? 'Your sign-in link' : 'Your sign-in code',
    paragraphs: [`Here is your way into ${site} as ${facts.email}, no password needed.`],
    ...action(facts, 'Sign in'),
    notes: [once(facts, validFor), 'If you did not ask to sign in, you can ignore this mail. Do not pass it on to anybody.'],
  }),
  email_change: (facts, { site, validFor }) => ({
    preview: `Confirm the new email address of your account at ${site}.`,
    heading: 'Confirm your new email address',
    paragraphs: [
      `The address of your account at ${site} is about to change from ${facts.email} to ${facts.newEmail ?? 'a new one'}.`,
    ],
    ...action(facts, 'Confirm the change'),
    notes: [once(facts, validFor), 'If you did not ask for this, do not confirm it, and change your password.'],
  }),
  reauthentication: (facts, { site, validFor }) => ({
    preview: `Your verification code for ${site}.`,
    heading: 'Is it you?',
    paragraphs: [`You are about to change something important about your account at ${site}.`],
    code: facts.code ? { introduction: 'Enter this code to go on:', digits: facts.code } : undefined,
    notes: [
      `The code is valid once, for ${validFor}. Do not pass it on to anybody.`,
      'If it was not you, change your password: somebody is using your account.',
    ],
  }),
  account_exists: (facts, { site, siteUrl }) => ({
    preview: `Somebody tried to sign up at ${site} with your address.`,
    heading: 'You already have an account',
    paragraphs: [
      `Somebody, perhaps you, tried to sign up at ${site} with ${facts.email}. There is an account with this address already, so no other was made.`,
      'If it was you, sign in as usual. If you do not remember your password, you can ask there for a new one.',
    ],
    button: { label: 'Open the site', link: siteUrl },
    notes: ['If it was not you, there is nothing to do: your account has not been touched.'],
  }),
}

function action({ link, code }: MailFacts, label: string): Pick<Words, 'button' | 'code'> {
  const introduction = link ? 'Or enter this code where you were asked for it:' : 'Enter this code where you were asked for it:'
  return { button: link ? { label, link } : undefined, code: code ? { introduction, digits: code } : undefined }
}

function once({ link, code }: MailFacts, validFor: string): string {
  const what = link && code ? 'The link and the code are' : code ? 'The code is' : 'The link is'
  return `${what} valid once, for ${validFor}.`
}

const units = [
  { seconds: 86_400, name: 'day' },
  { seconds: 3_600, name: 'hour' },
  { seconds: 60, name: 'minute' },
]

/** The largest unit that still tells a number of two or more, rounded down: a promise that is kept. */
export function spokenDuration(seconds: number): string {
  const unit =
    units.find((candidate) => seconds >= 2 * candidate.seconds) ?? units.find((candidate) => seconds >= candidate.seconds)
  if (!unit) return count(Math.floor(seconds), 'second')
  return count(Math.floor(seconds / unit.seconds), unit.name)
}

function count(number: number, name: string): string {
  return number === 1 ? `1 ${name}` : `${number} ${name}s`
}
