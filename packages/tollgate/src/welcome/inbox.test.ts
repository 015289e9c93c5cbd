import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Visit, visitWelcome } from './testing.ts'

let here: Visit
beforeEach(async () => {
  here = await visitWelcome()
})
afterEach(() => here.close())

test('an empty inbox tells how to send to it', async () => {
  const { status, body } = await here.ask('/inbox')
  expect(status).toBe(200)
  expect(body).toContain(`smtp://127.0.0.1:${here.sink.port}`)
  expect(body).toContain('curl http://localhost:8080/sms -d &#39;to=4520304050')
})

test('mails are listed newest first', async () => {
  await here.sendMail({ subject: 'The older', to: 'ada@example.com' })
  await here.sendMail({ subject: 'The newer', to: 'grace@example.com' })
  const { body } = await here.ask('/inbox')
  expect(body).toContain('ada@example.com')
  expect(body.indexOf('The newer')).toBeLessThan(body.indexOf('The older'))
  expect(body.indexOf('The newer')).toBeGreaterThan(0)
})

test('a mail has a page with its envelope, its links, its text and its source', async () => {
  await here.sendMail({
    subject: 'Confirm',
    text: 'Go to http://localhost:8081/verify?token=a&type=signup now',
    html: '<a href="http://localhost:8081/verify?token=a&amp;type=signup">Confirm</a> <a href="https://example.com/help">Help</a>',
  })
  const { status, body } = await here.ask('/inbox/1')
  expect(status).toBe(200)
  expect(body).toContain('Tollgate &#60;no-reply@example.com&#62;')
  expect(body).toContain('ada@example.com')
  const links = [...body.matchAll(/href="([^"]*)" target="_blank" rel="noopener noreferrer"/g)].map(([, link]) => link)
  expect(links).toEqual(['http://localhost:8081/verify?token=a&#38;type=signup', 'https://example.com/help'])
  expect(body).toContain('<iframe src="/inbox/1/html" title="The message as a mail program shows it" sandbox>')
  expect(body).toContain('Go to http://localhost:8081/verify')
  expect(body).toContain('MIME-Version: 1.0')
  const raw = await here.ask('/inbox/1/raw')
  expect(raw.headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(raw.body).toContain('Subject: Confirm')
})

test.each([
  ['text', { text: 'Follow http://localhost/verify?token=111111 or enter 222222' }],
  ['HTML alone', { text: '', html: '<style>p { order: 111111 }</style><p>Enter <b>222222</b></p>' }],
  ['subject', { subject: '222222 is your code', text: 'Hi' }],
])('a mail that brings a code in its %s shows it, to be copied', async (_, mail) => {
  await here.sendMail(mail)
  for (const path of ['/inbox', '/inbox/1']) {
    const { body } = await here.ask(path)
    expect(body).toContain('<code>222222</code>')
    expect(body).toContain('data-copy="222222"')
  }
  expect(JSON.parse((await here.ask('/inbox.json')).body).messages[0].code).toBe('222222')
})

test('a mail without a code shows none', async () => {
  await here.sendMail({ text: 'Call +4520304050 or see http://localhost/123456' })
  for (const path of ['/inbox', '/inbox/1']) expect((await here.ask(path)).body).not.toContain('class="code"')
})

test('the HTML of a mail is served where it can do nothing', async () => {
  await here.sendMail({ html: '<p>Rich</p><script>alert(1)</script>' })
  const { status, headers, body } = await here.ask('/inbox/1/html')
  expect(status).toBe(200)
  expect(body).toContain('<p>Rich</p>')
  const policy = String(headers['content-security-policy']).split('; ')
  expect(policy).toEqual(expect.arrayContaining(['sandbox', "default-src 'none'", 'img-src data:', "style-src 'unsafe-inline'"]))
  expect(policy).toContain("frame-ancestors 'self'")
  expect(headers['x-content-type-options']).toBe('nosniff')
})

test('a mail without HTML has no frame and no such address', async () => {
  await here.sendMail({ text: 'only words' })
  expect((await here.ask('/inbox/1')).body).not.toContain('<iframe')
  expect((await here.ask('/inbox/1/html')).status).toBe(404)
})

test('whatever a mail contains, the pages around it stay ours', async () => {
  const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`
  await here.sendMail({
    subject: hostile,
    text: `${hostile} http://example.com/"onmouseover="alert(1)`,
    html: `<a href="javascript:alert(1)">x</a><a href='http://example.com/"onclick="alert(1)'>y</a>${hostile}`,
  })
  for (const path of ['/inbox', '/inbox/1']) {
    const { body } = await here.ask(path)
    expect(body.match(/<script>/g)).toHaveLength(1)
    expect(body).toContain('&#60;script&#62;alert(1)')
    expect(body).not.toMatch(/<img src=x/)
    expect(body).not.toMatch(/<[^>]* on(click|error|mouseover)=/)
    expect(body).not.toMatch(/href="?javascript:/)
  }
})

test('programs read the inbox as JSON', async () => {
  await here.sendMail({ subject: 'Confirm', text: 'http://localhost/x', to: 'grace@example.com' })
  const { messages } = JSON.parse((await here.ask('/inbox.json')).body)
  expect(messages).toHaveLength(1)
  expect(messages[0]).toMatchObject({
    kind: 'mail',
    id: '1',
    url: '/inbox/1',
    from: 'Tollgate <no-reply@example.com>',
    to: ['grace@example.com'],
    subject: 'Confirm',
    links: ['http://localhost/x'],
  })
  expect(messages[0].text.trim()).toBe('http://localhost/x')
  expect(new Date(messages[0].receivedAt).getTime()).not.toBeNaN()
})

test('an open event stream hears of every change at once', async () => {
  const events = await listen()
  expect(await events.next()).toEqual({ count: 0 })
  await here.sendMail({ subject: 'Just in', to: 'ada@example.com' })
  expect(await events.next()).toEqual({
    count: 1,
    latest: { kind: 'mail', id: '1', subject: 'Just in', to: ['ada@example.com'] },
  })
  await here.ask('/inbox', { method: 'DELETE' })
  expect(await events.next()).toEqual({ count: 0 })
  await here.sendSms('4520304050', 'Your code\nis 123456')
  expect(await events.next()).toEqual({
    count: 1,
    latest: { kind: 'sms', id: 'sms-1', subject: 'Your code is 123456', to: ['+4520304050'] },
  })
})

test('the button and DELETE both clear the inbox', async () => {
  await here.sendMail({})
  const button = await here.ask('/inbox/clear', { method: 'POST', headers: { origin: 'null', 'sec-fetch-site': 'same-origin' } })
  expect(button).toMatchObject({ status: 303, headers: { location: '/inbox' } })
  expect(here.sink.mails()).toEqual([])
  await here.sendMail({})
  expect(await here.ask('/inbox', { method: 'DELETE' })).toMatchObject({ status: 204 })
  expect(here.sink.mails()).toEqual([])
})

test.each([
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
  { origin: 'http://evil.example' },
])('a page of another origin cannot clear the inbox: %o', async (headers: Record<string, string>) => {
  await here.sendMail({})
  expect((await here.ask('/inbox/clear', { method: 'POST', headers })).status).toBe(403)
  expect((await here.ask('/inbox', { method: 'DELETE', headers })).status).toBe(403)
  expect(here.sink.mails()).toHaveLength(1)
})

/** What the events of the stream say, one after the other. */
async function listen(): Promise<{ next(): Promise<unknown> }> {
  const { body } = await fetch(`http://127.0.0.1:${here.port}/inbox/events`)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let received = ''
  return {
    async next() {
      for (;;) {
        const [, data] = /data: (.*)\n\n/.exec(received) ?? []
        if (data !== undefined) {
          received = received.slice(received.indexOf('\n\n') + 2)
          return JSON.parse(data)
        }
        const chunk = await reader?.read()
        if (!chunk || chunk.done) throw new Error('the stream ended')
        received += chunk.value
      }
    },
  }
}
