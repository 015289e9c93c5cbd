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
  password_changed_notification: (facts, { site, siteUrl }) => ({
    preview: `The password of your account at ${site} is a new one.`,
    heading: 'Your password was changed',
    paragraphs: [`The password of ${facts.email} at ${site} was changed.`],
    button: visit(siteUrl),
    notes: [
      nothingToDo,
      `If it was not you, somebody is using your account: ask for a new password at ${site} now, and tell those who run it.`,
    ],
  }),
  email_changed_notification: (facts, { site, siteUrl }) => ({
    preview: `Your account at ${site} has another email address now.`,
    heading: 'Your email address was changed',
    paragraphs: [
      facts.oldEmail
        ? `The address of your account at ${site} was changed from ${facts.oldEmail} to ${facts.email}.`
        : `The address of your account at ${site} is ${facts.email} now.`,
      'Links and codes go there from now on.',
    ],
    button: visit(siteUrl),
    notes: [
      nothingToDo,
      // A new password could not be asked for any more: the link to it would go to the new address.
      `If it was not you, somebody is using your account: write to those who run ${site} at once, so that they can give it back to you.`,
    ],
  }),
  phone_changed_notification: (facts, { site, siteUrl }) => ({
    preview: `Your account at ${site} has another phone number now.`,
    heading: 'Your phone number was changed',
    paragraphs: [phoneChange(facts, site)],
    button: visit(siteUrl),
    notes: [nothingToDo, takeBack(site)],
  }),
  identity_linked_notification: (facts, { site, siteUrl }) => ({
    preview: `There is one more way to sign in to your account at ${site}.`,
    heading: 'A way to sign in was added',
    paragraphs: [`${method(facts)} can be used to sign in to your account at ${site}, ${facts.email}, from now on.`],
    button: visit(siteUrl),
    notes: [nothingToDo, takeBack(site)],
  }),
  identity_unlinked_notification: (facts, { site, siteUrl }) => ({
    preview: `There is one way less to sign in to your account at ${site}.`,
    heading: 'A way to sign in was removed',
    paragraphs: [`${method(facts)} can no longer be used to sign in to your account at ${site}, ${facts.email}.`],
    button: visit(siteUrl),
    notes: [nothingToDo, takeBack(site)],
  }),
}

const nothingToDo = 'If it was you, there is nothing to do.'

function takeBack(site: string): string {
  return `If it was not you, somebody is using your account: sign in to ${site}, take the change back and choose a new password.`
}

function visit(siteUrl: string): { label: string; link: string } {
  return { label: 'Open the site', link: siteUrl }
}

function method({ provider }: MailFacts): string {
  return provider ? `Your account at ${provider}` : 'A further account'
}

function phoneChange({ oldPhone, phone }: MailFacts, site: string): string {
  const number = `The phone number of your account at ${site}`
  if (!phone) return `${number} was removed${oldPhone ? `: it was ${dialled(oldPhone)}` : ''}.`
  return oldPhone
    ? `${number} was changed from ${dialled(oldPhone)} to ${dialled(phone)}.`
    : `${number} is ${dialled(phone)} now.`
}

/** Numbers are kept as digits alone, and read like any other digits without their plus sign. */
function dialled(phone: string): string {
  return /^\d+$/.test(phone) ? `+${phone}` : phone
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
