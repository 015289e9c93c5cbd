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
