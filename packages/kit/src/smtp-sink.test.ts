import { once } from 'node:events'
import { connect } from 'node:net'
import { createTransport } from 'nodemailer'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type SmtpSink, startSmtpSink } from './smtp-sink.ts'

let sink: SmtpSink
let mailer: ReturnType<typeof sender>
beforeEach(async () => {
  sink = await startSmtpSink()
  mailer = sender({ pool: true })
})
afterEach(async () => {
  vi.useRealTimers()
  mailer.close()
  await sink.close()
})

type Sending = { to?: string | string[]; bcc?: string; subject?: string; text?: string; html?: string; from?: string }

function sender(extra: object = {}) {
  return createTransport({ host: '127.0.0.1', port: sink.port, ignoreTLS: true, ...extra })
}

async function send(mail: Sending, transport = mailer) {
  await transport.sendMail({ from: 'tollgate@example.com', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...mail })
}

test('a mail comes out with its envelope, its decoded headers, both of its parts and its bytes', async () => {
  await send({
    from: '"Zoë" <zoe@example.com>',
    to: 'ada@example.com',
    bcc: 'grace@example.com',
    subject: 'Grüße ✓',
    text: 'plain',
    html: '<p>rich</p>',
  })
  const mail = await sink.next()
  expect(mail).toMatchObject({ id: 1, from: 'zoe@example.com', to: ['ada@example.com', 'grace@example.com'], subject: 'Grüße ✓' })
  expect(mail.text.trim()).toBe('plain')
  expect(mail.html?.trim()).toBe('<p>rich</p>')
  expect(mail.headers.from).toContain('Zoë')
  expect(mail.headers['content-type']).toContain('multipart/alternative')
  expect(mail.raw.toString()).toContain('MIME-Version: 1.0')
  expect(mail.receivedAt).toBeInstanceOf(Date)
})

test('a mail without an HTML part has none', async () => {
  await send({ text: 'only words' })
  expect((await sink.next()).html).toBeUndefined()
})

test('once a sender was told that its mail was accepted, it is there', async () => {
  await send({ subject: 'one' })
  expect(sink.mails().map(({ subject }) => subject)).toEqual(['one'])
})

test('links are found in both parts, once each, http and https only, with entities resolved', async () => {
  await send({
    html: `<a href="http://localhost:8081/verify?token=a&amp;type=signup&#x3D;1">x</a> <a href='javascript:alert(1)'>y</a>
      <A class=b HREF=https://example.com/bare>z</A> <a href="mailto:a@example.com">m</a> <a href="data:text/html,x">d</a>`,
    text: 'Open http://localhost:8081/verify?token=a&type=signup=1 or (https://example.com/other). Not ftp://example.com nor https://.',
  })
  expect((await sink.next()).links).toEqual([
    'http://localhost:8081/verify?token=a&type=signup=1',
    'https://example.com/bare',
    'https://example.com/other',
  ])
})

test('a mail that is made to be slow to search is searched quickly', async () => {
  const started = performance.now()
  await send({ html: '<a '.repeat(300_000), text: `http://${'.'.repeat(900)} `.repeat(500) })
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('next hands every mail out once, oldest first, and waits for those to come', async () => {
  await send({ subject: 'one' })
  await send({ subject: 'two' })
  expect((await sink.next()).subject).toBe('one')
  expect((await sink.next()).subject).toBe('two')
  const third = sink.next()
  const fourth = sink.next()
  await send({ subject: 'three' })
  await send({ subject: 'four' })
  expect((await third).subject).toBe('three')
  expect((await fourth).subject).toBe('four')
  expect(sink.mails()).toHaveLength(4)
})

test('next leaves the mails that do not fit to others', async () => {
  const forGrace = sink.next(({ to }) => to.includes('grace@example.com'))
  await send({ to: 'ada@example.com' })
  await send({ to: 'grace@example.com' })
  expect((await forGrace).to).toEqual(['grace@example.com'])
  expect((await sink.next()).to).toEqual(['ada@example.com'])
})

test('next gives up after five seconds and tells what came instead', async () => {
  await send({ subject: 'Something else' })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const waiting = expect(sink.next(({ subject }) => subject === 'Confirm')).rejects.toThrow(
    'No mail that fits arrived within 5 s; received were 1, the newest: "Something else" to ada@example.com',
  )
  vi.advanceTimersByTime(5_000)
  await waiting
})

test('a listener hears of every mail until it leaves', async () => {
  const heard: string[] = []
  const leave = sink.onMail(({ subject }) => heard.push(subject))
  await send({ subject: 'one' })
  leave()
  await send({ subject: 'two' })
  expect(heard).toEqual(['one'])
})

test('after clearing nothing is left to take, and numbers are not given out again', async () => {
  await send({ subject: 'old' })
  sink.clear()
  expect(sink.mails()).toEqual([])
  await send({ subject: 'new' })
  expect(await sink.next()).toMatchObject({ id: 2, subject: 'new' })
})

test('only the newest are kept', async () => {
  const small = await startSmtpSink({ keep: 2 })
  const transport = sender({ port: small.port })
  for (const subject of ['one', 'two', 'three']) await send({ subject }, transport)
  expect(small.mails().map(({ subject }) => subject)).toEqual(['two', 'three'])
  await small.close()
})

test('any credentials are accepted, and none are needed', async () => {
  for (const method of ['PLAIN', 'LOGIN', 'CRAM-MD5']) {
    const auth = { user: 'whoever', pass: 'whatever' }
    await send({ subject: method }, sender({ auth, authMethod: method }))
    expect((await sink.next()).subject).toBe(method)
  }
})

test('a mail of more than 10 MB is refused', async () => {
  await expect(send({ text: 'x'.repeat(11 * 1024 * 1024) })).rejects.toThrow(/552/)
  expect(sink.mails()).toEqual([])
})

test('a mail that is nested beyond reading is refused with a reason, and the next one is taken', async () => {
  const deep = Array.from({ length: 400 }, (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}`)
  const envelope = { from: 'a@example.com', to: ['b@example.com'] }
  await expect(sender().sendMail({ envelope, raw: deep.join('\r\n') })).rejects.toThrow(/554.*cannot be read/)
  await send({ subject: 'fine' })
  expect((await sink.next()).subject).toBe('fine')
})

test('a port that is taken is told by its code', async () => {
  await expect(startSmtpSink({ port: sink.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('closing ends idle connections and those who wait', async () => {
  const other = await startSmtpSink()
  const idle = connect(other.port, '127.0.0.1')
  await once(idle, 'data')
  idle.on('error', () => {})
  const gone = once(idle, 'close')
  const waiting = expect(other.next()).rejects.toThrow('The mail server was closed while a mail was waited for')
  await other.close()
  await Promise.all([gone, waiting])
})

test('a sender who hangs up in the middle of a mail leaves nothing behind', async () => {
  const socket = connect(sink.port, '127.0.0.1')
  await once(socket, 'data')
  for (const line of ['EHLO x', 'MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.com>', 'DATA']) {
    socket.write(`${line}\r\n`)
    await once(socket, 'data')
  }
  socket.write('Subject: half')
  socket.resetAndDestroy()
  await send({ subject: 'whole' })
  expect(sink.mails().map(({ subject }) => subject)).toEqual(['whole'])
})
