import { randomUUID } from 'node:crypto'
import { startHttpFake } from '@tollgate/kit/http-fake'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminAuthorization, createAccount, startWithInbox } from '../testing.ts'

let site: Awaited<ReturnType<typeof startHttpFake>>
let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  const said = (language: string) => ({ text: `<p>${language} <a href="{{ .ConfirmationURL }}">go</a>` })
  site = await startHttpFake({
    'GET /mail/de/confirmation.html': said('Deutsch'),
    'GET /mail/en/confirmation.html': said('English'),
    'GET /mail/de/invite.html': said('Deutsch'),
  })
  service = await startWithInbox({
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_MAILER_TEMPLATES_CONFIRMATION: `${site.origin}/mail/{locale}/confirmation.html`,
    AUTH_MAILER_TEMPLATES_INVITE: `${site.origin}/mail/{locale}/invite.html`,
    AUTH_MAILER_SUBJECTS_CONFIRMATION: '{{ if eq .Language "de" }}Willkommen{{ else }}Welcome{{ end }} ({{ .Locale }})',
    AUTH_MAILER_SUBJECTS_PASSWORD_CHANGED_NOTIFICATION: '{{ if eq .Locale "de" }}Neues Passwort{{ else }}New password{{ end }}',
    AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
  })
})
afterAll(async () => {
  await service.stop()
  await site.close()
})

const newEmail = () => `${randomUUID()}@site.test`

async function signUp(data: object, language?: string) {
  const email = newEmail()
  const headers = language === undefined ? {} : { 'accept-language': language }
  await service.call('POST /signup', { json: { email, password: 'correct horse', data }, headers })
  const { mail } = await service.mailTo(email)
  return [mail.subject, /English|Deutsch/.exec(mail.html ?? '')?.[0]]
}

test('a mail is in the language that somebody’s metadata names', async () => {
  expect(await signUp({ locale: 'de-AT' }, 'en-GB,en;q=0.9')).toEqual(['Willkommen (de-at)', 'Deutsch'])
})

test('or else in the one that the browser asks for', async () => {
  expect(await signUp({ locale: '../../secret' }, 'de-DE,de;q=0.9,en;q=0.8')).toEqual(['Willkommen (de-de)', 'Deutsch'])
})

test('or else in English', async () => {
  expect(await signUp({})).toEqual(['Welcome ()', 'English'])
  expect(await signUp({}, 'is')).toEqual(['Welcome (is)', 'English'])
})

test('an invitation is in the language of the invited, and in our own words where the operator has none for it', async () => {
  const invite = async (data: object) => {
    const email = newEmail()
    const headers = { authorization: adminAuthorization(service) }
    await service.call('POST /invite', { json: { email, data }, headers })
    return (await service.mailTo(email)).mail.html
  }
  expect(await invite({ language: 'de' })).toContain('Deutsch')
  expect(await invite({ language: 'fr' })).toContain('Accept the invitation')
})

test('a notice is in the language of the account', async () => {
  const { userId, authorization } = await createAccount(service, { userMetadata: { lang: 'de' } })
  await service.call('PUT /user', { json: { password: 'battery staple' }, headers: { authorization } })
  expect((await service.mailTo(`${userId}@site.test`)).mail.subject).toBe('Neues Passwort')
})
