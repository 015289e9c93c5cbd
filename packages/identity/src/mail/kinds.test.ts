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
    ['account_exists', 'You already have an account'],
  ])
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
const full = { ...facts, redirectTo: 'https://r.test', data: { name: 'Ann' } }

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
  })
})

test('a kind has no variable that is not meant for it', () => {
  expect(Object.keys(templateValues('account_exists', full, 'https://site.test'))).toEqual(['SiteURL', 'Email', 'Data'])
  expect(Object.keys(templateValues('reauthentication', full, 'https://site.test'))).toEqual([
    'SiteURL',
    'Email',
    'Data',
    'Token',
  ])
  expect(Object.keys(templateValues('recovery', full, 'https://site.test'))).not.toContain('NewEmail')
})
