import { createFetch } from '@tollgate/kit/fetch'
import { startHttpFake } from '@tollgate/kit/http-fake'
import { keptLog, stillClock } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createCompose } from './compose.ts'
import { type MailKind, mailKinds } from './kinds.ts'

let site: Awaited<ReturnType<typeof startHttpFake>>
beforeAll(async () => {
  site = await startHttpFake({})
})
const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'tollgate/test' })
afterAll(async () => {
  await fetch.close()
  await site.close()
})
beforeEach(() => site.answer({ 'GET /invite.html': { text: '<a href="{{ .ConfirmationURL }}">{{ .Data.name }}</a>' } }))

const facts = {
  email: 'ann@people.test',
  link: 'https://auth.test/verify?token=a&type=b',
  code: '123456',
  data: { name: '<Ann>' },
}

const kinds = Object.keys(mailKinds) as MailKind[]

function start(subjects: Partial<Record<MailKind, string>> = {}) {
  const { log, lines } = keptLog()
  const usual = Object.fromEntries(kinds.map((kind) => [kind, mailKinds[kind].subject])) as Record<MailKind, string>
  const none = Object.fromEntries(kinds.map((kind) => [kind, undefined])) as Record<MailKind, undefined>
  const compose = createCompose({
    siteUrl: site.origin,
    mailer: {
      otpLifetime: 3600,
      subjects: { ...usual, ...subjects },
      templates: {
        ...none,
        invite: '/invite.html?key=secret',
        recovery: '/missing.html',
        phone_changed_notification: '/phone.html',
        magic_link: '/mail/{locale}/magic.html',
      },
      templateCache: { maxSize: 1000, maxAge: 600, retryInterval: 10 },
    },
    now: stillClock(),
    log,
    fetch,
  })
  return { compose, lines }
}

test("an operator's template takes the place of ours", async () => {
  const { compose } = start({ invite: 'Come in, {{ .Data.name }}' })
  expect(await compose('invite', facts)).toEqual({
    subject: 'Come in, <Ann>',
    html: '<a href="https://auth.test/verify?token=a&amp;type=b">&lt;Ann&gt;</a>',
    text: undefined,
  })
})

test('a notice can be in words of the operator, subject and all', async () => {
  site.answer({ 'GET /phone.html': { text: '<p>{{ .OldPhone }} → {{ .Phone }}, {{ .Token }}' } })
  const { compose } = start({ phone_changed_notification: 'Now {{ .Phone }}' })
  const { subject, html } = await compose('phone_changed_notification', { ...facts, oldPhone: '15550100', phone: '15550101' })
  expect({ subject, html }).toEqual({ subject: 'Now 15550101', html: '<p>15550100 → 15550101, ' })
})

test.each(kinds)('%s without a template is in our own words', async (kind) => {
  site.answer({})
  const { compose } = start()
  const { subject, html, text } = await compose(kind, facts)
  expect(subject).toBe(kind === 'reauthentication' ? '123456 is your verification code' : mailKinds[kind].subject)
  expect(html).toMatch(/^<!doctype html>/)
  expect(text).toContain(new URL(site.origin).host)
})

test('a template that cannot be used is told once, and ours is sent', async () => {
  site.answer({ 'GET /invite.html': { text: '<script>{{ .Email }}</script>' } })
  const { compose, lines } = start()
  for (let times = 0; times < 3; times++) expect((await compose('invite', facts)).text).toContain('Accept the invitation')
  expect(JSON.stringify(lines)).not.toContain('secret')
  expect(lines).toMatchObject([
    {
      level: 'warn',
      template: '/invite.html',
      message: 'The template cannot be used, the built-in one is: A value cannot stand inside of <script>',
    },
  ])
})

test.each(['{{ .Oops', '{{ .Missing }}', ' '])('a subject %j gives way to the usual one', async (subject) => {
  const { compose } = start({ invite: subject })
  expect((await compose('invite', facts)).subject).toBe('You have been invited')
})

test.each([
  ['pt-br', 'Olá', '<p lang="pt-br">pt'],
  ['de-at', 'Servus', '<p lang="de-at">de'],
  ['de', 'Hallo', '<p lang="de">de'],
  ['fr', 'Hello', '<p lang="fr">en'],
  [undefined, 'Hello', '<p lang="">en'],
])('a reader of %s is greeted with %s', async (locale, subject, html) => {
  const page = (language: string) => ({ text: `<p lang="{{ .Locale }}">${language}` })
  site.answer({
    'GET /mail/pt/magic.html': page('pt'),
    'GET /mail/de/magic.html': page('de'),
    'GET /mail/en/magic.html': page('en'),
  })
  const greeting =
    '{{ if eq .Locale "de-at" }}Servus{{ else if eq .Language "de" }}Hallo{{ else if eq .Language "pt" "gl" }}Olá{{ else }}Hello{{ end }}'
  const { compose, lines } = start({ magic_link: greeting })
  expect(await compose('magic_link', { ...facts, locale })).toEqual({ subject, html, text: undefined })
  expect(lines).toEqual([])
})
