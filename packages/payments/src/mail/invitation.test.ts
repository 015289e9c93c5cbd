import { expect, test } from 'vitest'
import { composeInvitation, nameInMail } from './invitation.ts'

const facts = {
  merchant: 'Gärtnerei',
  inviter: 'Ann (ann@example.com)',
  link: 'https://pay.test/sign-in',
  email: 'bob@example.com',
}

test('both parts tell who invited to what, and where to go', () => {
  const { subject, text, html } = composeInvitation(facts)
  expect(subject).toBe('You have been invited to Gärtnerei')
  for (const part of [text, html]) {
    expect(part).toContain('Ann (ann@example.com) has invited you to')
    expect(part).toContain('bob@example.com')
    expect(part).toContain('https://pay.test/sign-in')
  }
  expect(html).toContain('href="https://pay.test/sign-in"')
})

test('a name is never more than text', () => {
  const { html } = composeInvitation({ ...facts, merchant: '<script>', inviter: '"><a href="https://evil.test">' })
  expect(html).not.toContain('<script>')
  expect(html.match(/<a /g)).toHaveLength(1)
})

test.each([
  ['Shop\r\nBcc: eve@example.com', 'Shop Bcc: eve@example.com'],
  ['  a\u2028\u202Eb\0 ', 'a b'],
  ['x'.repeat(150), `${'x'.repeat(100)}…`],
  ['🦊'.repeat(101), `${'🦊'.repeat(100)}…`],
  ['\ud800', '\ufffd'],
])('%j stands there as %j', (name, told) => {
  expect(nameInMail(name)).toBe(told)
})
