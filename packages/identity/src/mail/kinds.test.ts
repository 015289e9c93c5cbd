import { expect, test } from 'vitest'
import { mailKinds, templateValues } from './kinds.ts'

test('the subjects are the specified ones to the letter', () => {
  expect(Object.entries(mailKinds).map(([kind, { subject }]) => [kind, subject])).toEqual([
    ['invite', 'You have been invited'],
    ['confirmation', 'Confirm Your Signup'],
    ['recovery', 'Reset Your Password'],
    ['magic_link', 'Your Magic Link'],
    ['email_change', 'Confirm Email Change'],
    ['reauthentication', '{{ .Token }} is your verification code'],
    ['password_changed_notification', 'Your password was changed'],
    ['email_changed_notification', 'Your email address was changed'],
    ['phone_changed_notification', 'Your phone number was changed'],
    ['identity_linked_notification', 'A new sign-in method was linked to your account'],
    ['identity_unlinked_notification', 'A sign-in method was removed from your account'],
  ])
})

test('the settings of a kind are called like the kind', () => {
  expect(Object.values(mailKinds).map(({ setting }) => setting)).toEqual(Object.keys(mailKinds).map((kind) => kind.toUpperCase()))
})

test('a magic link leads where recovery links lead', () => {
  expect(mailKinds.magic_link.link).toEqual({ path: 'recovery', type: 'magiclink' })
})

const facts = {
  email: 'a@b.test',
  newEmail: 'c@b.test',
  sendingTo: 'c@b.test',
  link: 'https://l.test',
  code: '123456',
  tokenHash: 'hash',
}
const full = {
  ...facts,
  redirectTo: 'https://r.test',
  data: { name: 'Ann' },
  locale: 'pt-br',
  oldEmail: 'z@b.test',
  oldPhone: '15550100',
  phone: '15550101',
  provider: 'github',
}

test('an email change has every variable', () => {
  expect(templateValues('email_change', full, 'https://site.test')).toEqual({
    SiteURL: 'https://site.test',
    Email: 'a@b.test',
    NewEmail: 'c@b.test',
    SendingTo: 'c@b.test',
    ConfirmationURL: 'https://l.test',
    Token: '123456',
    TokenHash: 'hash',
    RedirectTo: 'https://r.test',
    Data: { name: 'Ann' },
    Locale: 'pt-br',
    Language: 'pt',
  })
})

test.each([
  ['reauthentication', { Token: '123456' }],
  ['password_changed_notification', {}],
  ['email_changed_notification', { OldEmail: 'z@b.test' }],
  ['phone_changed_notification', { OldPhone: '15550100', Phone: '15550101' }],
  ['identity_linked_notification', { Provider: 'github' }],
  ['identity_unlinked_notification', { Provider: 'github' }],
] as const)('%s has the variables that are meant for it and no other', (kind, own) => {
  const everybody = { SiteURL: 'https://site.test', Email: 'a@b.test', Data: { name: 'Ann' }, Locale: 'pt-br', Language: 'pt' }
  expect(templateValues(kind, full, 'https://site.test')).toEqual({ ...everybody, ...own })
})

test('only an email change tells of a new address', () => {
  expect(Object.keys(templateValues('recovery', full, 'https://site.test'))).not.toContain('NewEmail')
})
