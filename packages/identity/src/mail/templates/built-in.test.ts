import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type MailKind, mailKinds } from '../kinds.ts'
import { builtInMail } from './built-in.ts'
import { spokenDuration, wordsOf } from './words.ts'

const kinds = Object.keys(mailKinds) as MailKind[]
const setting = { siteUrl: 'https://site.test/shop', lifetime: 86_400, subject: 'Subject' }
const facts = {
  email: 'ann@people.test',
  newEmail: 'ann@new.test',
  link: 'https://auth.test/verify?token=abc&type=signup',
  code: '123456',
  oldEmail: 'ann@old.test',
  oldPhone: '15550100',
  phone: '15550101',
  provider: 'github',
  data: { secret: 'metadata' },
}

/** What a reader sees, tags and hidden text taken away. */
function visible(html: string): string {
  return html
    .replace(/^[\s\S]*<\/head>/, '')
    .replace(/<div style="display:none[\s\S]*?<\/div>/, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)))
}

test.each(kinds)('the two parts of %s say the same', (kind) => {
  const { html, text } = builtInMail(kind, facts, setting)
  const words = wordsOf[kind](facts, { site: 'site.test', siteUrl: setting.siteUrl, validFor: '24 hours' })
  const said = [
    words.heading,
    ...words.paragraphs,
    ...words.notes,
    words.button?.label,
    words.button?.link,
    words.code?.introduction,
  ]
  for (const sentence of [...said, words.code?.digits, 'site.test']) {
    if (sentence === undefined) continue
    expect(visible(html)).toContain(sentence)
    expect(text).toContain(sentence)
  }
  expect(text).not.toMatch(/<[a-z]|&#?\w+;/i)
})

test.each(kinds)('%s loads nothing from outside and keeps metadata to itself', (kind) => {
  const { html, text } = builtInMail(kind, facts, setting)
  expect(html).not.toMatch(/<(img|link|script|iframe)|url\(|@import|src=/i)
  expect(html + text).not.toContain('metadata')
})

test.each(kinds.filter((kind) => mailKinds[kind].link))('%s has a button, the bare link and the code', (kind) => {
  const { html, text } = builtInMail(kind, facts, setting)
  const escaped = 'https://auth.test/verify?token=abc&#38;type=signup'
  expect(html.split(`href="${escaped}"`)).toHaveLength(3)
  expect(html).toContain(`>${escaped}</a>`)
  expect(html).toContain('>123456</p>')
  expect(text).toContain(`:\n${facts.link}\n\n`)
  expect(text).toContain(':\n123456\n\n')
})

test('a mail without a link has no button, one without a code no code', () => {
  const { link: _link, ...linkless } = facts
  const { code: _code, ...codeless } = facts
  expect(builtInMail('magic_link', linkless, setting).html).not.toContain('<a ')
  expect(builtInMail('magic_link', linkless, setting).text).toContain('The code is valid once, for 24 hours.')
  expect(builtInMail('magic_link', codeless, setting).text).not.toContain('code')
})

const { oldEmail: _oldEmail, ...withoutOldEmail } = facts
const { oldPhone: _oldPhone, ...withoutOldPhone } = facts
const { phone: _phone, ...withoutPhone } = facts
const { provider: _provider, ...withoutProvider } = facts

test.each([
  ['password_changed_notification', facts, 'The password of ann@people.test at site.test was changed.'],
  ['email_changed_notification', facts, 'was changed from ann@old.test to ann@people.test.'],
  ['email_changed_notification', withoutOldEmail, 'The address of your account at site.test is ann@people.test now.'],
  ['phone_changed_notification', facts, 'was changed from +15550100 to +15550101.'],
  ['phone_changed_notification', withoutOldPhone, 'The phone number of your account at site.test is +15550101 now.'],
  ['phone_changed_notification', withoutPhone, 'was removed: it was +15550100.'],
  ['identity_linked_notification', facts, 'Your account at github can be used to sign in'],
  ['identity_unlinked_notification', facts, 'Your account at github can no longer be used to sign in'],
  ['identity_linked_notification', withoutProvider, 'A further account can be used to sign in'],
] as const)('%s says what happened, and what to do if it was not the reader', (kind, known, sentence) => {
  const { html, text } = builtInMail(kind, known, setting)
  for (const said of [visible(html), text]) {
    expect(said).toContain(sentence)
    expect(said).toMatch(/If it was not you, somebody is using your account: \w+/)
    expect(said).not.toMatch(/undefined|123456|verify/)
  }
})

test('no value can add an element or an attribute', () => {
  const plain = builtInMail('email_change', { email: 'a', newEmail: 'b', link: 'c', code: 'd' }, setting).html
  const skeleton = (html: string) => html.match(/<[^>]*>/g)?.map((tag) => tag.replace(/href="[^"]*"/, 'href'))
  const text = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom('"><script>', "' onload='x", '<b>', '-->', '</td>', '&lt;', '" x="'),
  )
  fc.assert(
    fc.property(text, text, text, text, (email, newEmail, link, code) => {
      expect(skeleton(builtInMail('email_change', { email, newEmail, link, code }, setting).html)).toEqual(skeleton(plain))
    }),
  )
})

test.each([
  [86_400, '24 hours'],
  [172_800, '2 days'],
  [3600, '60 minutes'],
  [7199, '119 minutes'],
  [7200, '2 hours'],
  [60, '1 minute'],
  [119, '1 minute'],
  [1, '1 second'],
  [59.5, '59 seconds'],
])('%d seconds are %s', (seconds, spoken) => {
  expect(spokenDuration(seconds)).toBe(spoken)
})
