import { startHttpFake } from '@tollgate/kit/http-fake'
import { keptLog, stillClock } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createCompose } from './compose.ts'
import { type MailKind, mailKinds } from './kinds.ts'

let site: Awaited<ReturnType<typeof startHttpFake>>
beforeAll(async () => {
  site = await startHttpFake({})
})
afterAll(() => site.close())
beforeEach(() => site.answer({ 'GET /invite.html': { text: '<a href="{{ .ConfirmationURL }}">{{ .Data.name }}</a>' } }))

const facts = {
  email: 'ann@people.test',
  link: 'https://auth.test/verify?token=a&type=b',
  code: '123456',
  data: { name: '<Ann>' },
}

function start(subjects: Partial<Record<'invite', string>> = {}) {
  const { log, lines } = keptLog()
  const subject = Object.fromEntries(Object.values(mailKinds).map(({ settings = '', subject }) => [settings, subject]))
  const compose = createCompose({
    siteUrl: site.origin,
    mailer: {
      otpLifetime: 3600,
      subjects: { ...subject, ...subjects } as Record<
        'invite' | 'confirmation' | 'recovery' | 'magicLink' | 'emailChange',
        string
      >,
      templates: {
        invite: '/invite.html',
        confirmation: undefined,
        recovery: '/missing.html',
        magicLink: undefined,
        emailChange: undefined,
      },
    },
    now: stillClock(),
    log,
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

test.each(Object.keys(mailKinds) as MailKind[])('%s without a template is in our own words', async (kind) => {
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
