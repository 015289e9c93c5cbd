import { createTransport, type MailHeader } from '@tollgate/kit/smtp'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { expect, onTestFinished, test } from 'vitest'
import { customHeaders } from './custom-headers.ts'

const mail = {
  id: '0197-abc',
  to: 'ann@people.test',
  subject: 'Grüße 🌱',
  html: '<p>Hallo</p>',
  text: 'Hallo\n',
  date: new Date('2030-01-02T03:04:05Z'),
}

async function startTransport() {
  const sink = await startSmtpSink()
  const settings = { host: '127.0.0.1', port: sink.port, user: undefined, pass: undefined }
  const transport = createTransport(
    { ...settings, adminEmail: 'no-reply@site.test', senderName: 'Site' },
    { clientName: 'auth.site.test', hostSetting: 'AUTH_SMTP_HOST' },
  )
  onTestFinished(async () => {
    await transport.close()
    await sink.close()
  })
  return async (headers: readonly MailHeader[]) => {
    await transport.send({ ...mail, headers })
    return sink.next()
  }
}

test("the operator's headers are in every mail, and know its kind", async () => {
  const send = await startTransport()
  const headers = {
    'X-Tag': ['$messageType', 'mail, $messageType'],
    'X-Tür': ['x'],
    'auto-submitted': ['no'],
    'X-Ü': [],
    'X-Empty': [' '],
  }
  const { headers: received } = await send(customHeaders({ ...headers, 'X-Name': ['Gärtnerei'] }, 'magic_link'))
  expect(received).toMatchObject({ 'x-tag': 'magic_link, mail, magic_link', 'auto-submitted': 'no', 'x-name': 'Gärtnerei' })
  expect(received).toMatchObject({ 'x-auto-response-suppress': 'All' })
  expect(Object.keys(received).filter((name) => /^x-(t[^a]|ü|empty)/.test(name))).toEqual([])
})

test('the headers of the operator cannot change what a mail is, nor add a header that is not named', async () => {
  const send = await startTransport()
  const inject = 'x\r\nX-Evil: yes\nX-Evil: yes\rX-Evil: yes\u2028X-Evil: yes\r\n\r\nbody'
  const names = [
    'Message-ID',
    'from',
    'TO',
    'Cc',
    'Bcc',
    'Date',
    'Subject',
    'MIME-Version',
    'Content-Type',
    'content-transfer-encoding',
  ]
  const headers = Object.fromEntries([...names, 'X-A', 'X-B: y\r\nX-Evil'].map((name) => [name, [inject]]))
  const [usual, changed] = [await send([]), await send(customHeaders(headers, 'invite'))]
  const boundary = /boundary="[^"]*"/
  const { 'x-a': added, 'content-type': type, ...others } = changed.headers
  expect(added).toContain('x X-Evil: yes')
  expect(type?.replace(boundary, '')).toBe(usual.headers['content-type']?.replace(boundary, ''))
  expect({ ...others, 'content-type': usual.headers['content-type'] }).toEqual(usual.headers)
  expect(changed).toMatchObject({ to: usual.to, from: usual.from, text: usual.text, html: usual.html })
})
