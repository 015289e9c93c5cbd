import { expect, test } from 'vitest'
import { mailKinds } from '../mail/kinds.ts'
import { type Purpose, purposes, verifiedTokens } from './purposes.ts'

test.each([
  ['signup', 'confirmation_token', 'confirmation', 'email/signup'],
  ['invite', 'confirmation_token', 'invite', 'invite'],
  ['recovery', 'recovery_token', 'recovery', 'recovery'],
  ['magiclink', 'recovery_token', 'magic_link', 'magiclink'],
  ['email_change_new', 'email_change_token_new', 'email_change', 'email_change'],
  ['email_change_current', 'email_change_token_current', 'email_change', 'email_change'],
  ['reauthentication', 'reauthentication_token', 'reauthentication', 'otp'],
] as const)('a code for %s is a %s, by the mail %s, and enters as %s', (purpose, tokenType, mail, method) => {
  expect(purposes[purpose]).toEqual({ tokenType, mail, method })
  expect(Object.hasOwn(mailKinds, mail)).toBe(true)
})

test.each([
  ['sms', 'confirmation_token'],
  ['phone_change', 'phone_change_token'],
  ['sms_reauthentication', 'reauthentication_token'],
] as const)('a code for %s is a %s, by no mail', (purpose, tokenType) => {
  expect(purposes[purpose]).toEqual({ tokenType })
})

test.each([
  ['signup', ['confirmation_token']],
  ['invite', ['confirmation_token']],
  ['recovery', ['recovery_token']],
  ['magiclink', ['recovery_token']],
  ['email', ['confirmation_token', 'recovery_token']],
  ['email_change', ['email_change_token_new', 'email_change_token_current']],
  ['sms', ['confirmation_token']],
  ['phone_change', ['phone_change_token']],
])('the type %s means %j', (type, tokens) => {
  expect(verifiedTokens(type)).toEqual(tokens)
})

test.each(['', 'SIGNUP', 'reauthentication', 'sms_reauthentication', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'the type %j means nothing',
  (type) => {
    expect(verifiedTokens(type)).toBeUndefined()
  },
)

test('a link of every mail that has one means, by the type in it, the code that the mail is for', () => {
  for (const purpose of Object.keys(purposes) as Purpose[]) {
    const { tokenType, ...sent } = purposes[purpose]
    const link = 'mail' in sent ? mailKinds[sent.mail].link : undefined
    if (link) expect([purpose, verifiedTokens(link.type)]).toEqual([purpose, expect.arrayContaining([tokenType])])
  }
})

test('whoever proves to be themselves again cannot enter with that', () => {
  const entered = ['signup', 'invite', 'recovery', 'magiclink', 'email', 'email_change', 'sms', 'phone_change']
  expect(entered.flatMap((type) => verifiedTokens(type) ?? [])).not.toContain('reauthentication_token')
})
