import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Secret } from '@tollgate/kit/secret'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, expect, test } from 'vitest'
import { createTransport, type Mail, protection, type SmtpSettings, type Transport } from './smtp.ts'
import { MailFailure } from './smtp-failure.ts'

const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

const settings: SmtpSettings = {
  host: '127.0.0.1',
  port: 0,
  user: undefined,
  pass: undefined,
  adminEmail: 'no-reply@site.test',
  senderName: 'Gärtnerei, "Shop"',
}

const mail: Mail = {
  id: '0197-abc',
  to: 'ann@people.test',
  subject: 'Grüße 🌱',
  html: '<p>Hallo</p>',
  text: 'Hallo\n',
  date: new Date('2030-01-02T03:04:05Z'),
}

type Options = Parameters<typeof createTransport>[1]

function connectTo(port: number, more: Partial<SmtpSettings> = {}, options: Partial<Options> = {}): Transport {
  const transport = createTransport({ ...settings, port, ...more }, { clientName: 'auth.site.test', ...options })
  ending.push(() => transport.close())
  return transport
}

async function startSink() {
  const sink = await startSmtpSink()
  ending.push(() => sink.close())
  return sink
}

/** A mail server with a mind of its own. */
async function startServer(options: SMTPServerOptions): Promise<number> {
  const server = new SMTPServer({ authOptional: true, disableReverseLookup: true, logger: false, hideSTARTTLS: true, ...options })
  server.on('error', () => {})
  server.listen(0, '0.0.0.0')
  await once(server.server, 'listening')
  ending.push(() => new Promise<void>((resolve) => server.close(resolve)))
  return (server.server.address() as AddressInfo).port
}

/** Something that listens, and speaks as told. */
async function startTalker(talk: (socket: Socket, line: string) => void, greeting = '220 talker ESMTP\r\n'): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => talk(socket, data.toString()))
    if (greeting) socket.write(greeting)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ending.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

async function failureOf(sending: Promise<unknown>): Promise<MailFailure> {
  const problem = await sending.then(
    () => 'it was sent',
    (reason: unknown) => reason,
  )
  expect(problem).toBeInstanceOf(MailFailure)
  return problem as MailFailure
}

function refuse(code: number, words: string): Error {
  return Object.assign(new Error(words), { responseCode: code })
}

test('a mail arrives whole', async () => {
  const sink = await startSink()
  await expect(connectTo(sink.port).send(mail)).resolves.toEqual({ id: '<0197-abc@site.test>' })
  const received = await sink.next()
  expect(received).toMatchObject({ from: 'no-reply@site.test', to: ['ann@people.test'], subject: 'Grüße 🌱' })
  expect(received.text.trim()).toBe('Hallo')
  expect(received.html).toContain('<p>Hallo</p>')
  expect(received.headers).toMatchObject({
    'message-id': '<0197-abc@site.test>',
    date: 'Wed, 02 Jan 2030 03:04:05 +0000',
    'auto-submitted': 'auto-generated',
  })
  expect(received.headers.from).toContain('Gärtnerei')
})

test("an operator's own template is sent as HTML alone", async () => {
  const sink = await startSink()
  await connectTo(sink.port).send({ ...mail, text: undefined })
  const { headers } = await sink.next()
  expect(headers['content-type']).toMatch(/^text\/html/)
})

test('a subject cannot add a header, nor an id or a sender', async () => {
  const sink = await startSink()
  const inject = '\r\nBcc: evil@people.test\r\nX-Evil: yes'
  await connectTo(sink.port, { senderName: `Shop${inject}` }).send({ ...mail, id: `1${inject}`, subject: `Hello${inject}` })
  const { to, headers } = await sink.next()
  expect(to).toEqual(['ann@people.test'])
  expect(Object.keys(headers)).not.toContain('x-evil')
  expect(Object.keys(headers)).not.toContain('bcc')
})

test.each(['ann@people.test>\r\nRCPT TO:<evil@people.test', 'ann@people.test\r\nX: y', '<ann@people.test>', ''])(
  'a recipient %j is refused for good',
  async (to) => {
    const sink = await startSink()
    expect(await failureOf(connectTo(sink.port).send({ ...mail, to }))).toMatchObject({ kind: 'permanent', status: undefined })
    expect(sink.mails()).toEqual([])
  },
)

test('mails one after another share a connection', async () => {
  let connections = 0
  const port = await startServer({
    onConnect({ hostNameAppearsAs: _ }, done) {
      connections++
      done()
    },
  })
  const transport = connectTo(port)
  for (const id of ['1', '2', '3']) await transport.send({ ...mail, id })
  expect(connections).toBe(1)
})

test('twenty mails at once go over two connections, each mail once', async () => {
  const sink = await startSink()
  const transport = connectTo(sink.port, {}, { connections: 2 })
  await Promise.all(Array.from({ length: 20 }, (_, id) => transport.send({ ...mail, id: String(id) })))
  expect(new Set(sink.mails().map(({ headers }) => headers['message-id'])).size).toBe(20)
  expect(sink.mails()).toHaveLength(20)
})

test('we say who we are, by name and by login', async () => {
  const seen: unknown[] = []
  const port = await startServer({
    allowInsecureAuth: true,
    onAuth({ username, password }, { clientHostname: _, hostNameAppearsAs }, done) {
      seen.push([hostNameAppearsAs, username, password])
      done(null, { user: username })
    },
  })
  await connectTo(port, { user: 'post', pass: new Secret('very secret') }).send(mail)
  expect(seen).toEqual([['auth.site.test', 'post', 'very secret']])
})

test('a refused login is temporary, and the password is not repeated', async () => {
  const port = await startServer({
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) => done(refuse(535, `5.7.8 Not known here: ${password}`)),
  })
  const failure = await failureOf(connectTo(port, { user: 'post', pass: new Secret('very secret') }).send(mail))
  expect(failure).toMatchObject({
    kind: 'temporary',
    status: 535,
    message: `127.0.0.1:${port}: the login was answered 535 5.7.8`,
  })
  expect(JSON.stringify(failure) + failure.stack).not.toContain('secret')
})

test.each([
  { at: 'onRcptTo', status: 550, kind: 'permanent', words: 'RCPT TO was answered 550 No such [address] here' },
  { at: 'onRcptTo', status: 450, kind: 'temporary', words: 'RCPT TO was answered 450 No such [address] here' },
  { at: 'onRcptTo', status: 530, kind: 'temporary', words: 'RCPT TO was answered 530 No such [address] here' },
  { at: 'onMailFrom', status: 550, kind: 'temporary', words: 'MAIL FROM was answered 550 No such [address] here' },
  { at: 'onData', status: 554, kind: 'permanent', words: 'DATA was answered 554 No such [address] here' },
  { at: 'onData', status: 451, kind: 'temporary', words: 'DATA was answered 451 No such [address] here' },
  { at: 'onConnect', status: 421, kind: 'temporary', words: undefined },
  { at: 'onConnect', status: 554, kind: 'temporary', words: undefined },
])('$status $at is $kind', async ({ at, status, kind, words }) => {
  const refusal = refuse(status, 'No such ann@people.test here')
  const port = await startServer({
    onConnect: (_session, done) => done(at === 'onConnect' ? refusal : null),
    onMailFrom: (_address, _session, done) => done(at === 'onMailFrom' ? refusal : null),
    onRcptTo: (_address, _session, done) => done(at === 'onRcptTo' ? refusal : null),
    onData(stream, _session, done) {
      stream.resume()
      stream.on('end', () => done(at === 'onData' ? refusal : null))
    },
  })
  const failure = await failureOf(connectTo(port).send(mail))
  expect(failure.kind).toBe(kind)
  if (words === undefined) return
  expect(failure).toMatchObject({ status, message: `127.0.0.1:${port}: ${words}` })
})

test('after a refusal the next mail goes through', async () => {
  const port = await startServer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('bad') ? refuse(550, 'No') : null),
  })
  const transport = connectTo(port, {}, { connections: 1 })
  await failureOf(transport.send({ ...mail, to: 'bad@people.test' }))
  await transport.send(mail)
})

test('nobody at the other end is temporary', async () => {
  const sink = await startSmtpSink()
  await sink.close()
  const failure = await failureOf(connectTo(sink.port).send(mail))
  expect(failure).toMatchObject({ kind: 'temporary', message: expect.stringContaining('ECONNREFUSED') })
})

test('a server that never greets is given up', async () => {
  const port = await startTalker(() => {}, '')
  const failure = await failureOf(connectTo(port, {}, { timeouts: { greeting: 30 } }).send(mail))
  expect(failure).toMatchObject({ kind: 'temporary', message: `127.0.0.1:${port}: no greeting within the time allowed` })
})

test('a server that falls silent is given up', async () => {
  const port = await startTalker((socket, line) => void (line.startsWith('EHLO') && socket.write('250 talker\r\n')))
  const failure = await failureOf(connectTo(port, {}, { timeouts: { silence: 30 } }).send(mail))
  expect(failure).toMatchObject({ kind: 'temporary', message: `127.0.0.1:${port}: no answer within the time allowed` })
})

test('a server that trickles its answer for ever is given up, and the next mail has a connection again', async () => {
  let stalling = true
  const port = await startTalker((socket, line) => {
    if (line.startsWith('EHLO')) socket.write('250 talker\r\n')
    else if (stalling) {
      const dripping = setInterval(() => socket.write('250-drip\r\n'), 5)
      socket.on('close', () => clearInterval(dripping))
    } else if (line.startsWith('DATA')) socket.write('354 go on\r\n')
    else if (/^(MAIL|RCPT|RSET)/.test(line) || line.endsWith('\r\n.\r\n')) socket.write('250 fine\r\n')
  })
  const transport = connectTo(port, {}, { connections: 1, timeouts: { whole: 100 } })
  const failure = await failureOf(transport.send(mail))
  expect(failure).toMatchObject({
    kind: 'temporary',
    message: `127.0.0.1:${port}: the mail was not taken within the time allowed`,
  })
  stalling = false
  await transport.send(mail)
})

test('a server that hangs up instead of acknowledging gets the mail once, and it counts as temporary', async () => {
  let bodies = 0
  const port = await startTalker((socket, line) => {
    if (line.startsWith('EHLO')) socket.write('250 talker\r\n')
    else if (line.startsWith('DATA')) socket.write('354 go on\r\n')
    else if (/^(MAIL|RCPT)/.test(line)) socket.write('250 fine\r\n')
    else if (line.endsWith('\r\n.\r\n')) {
      bodies++
      socket.destroy()
    }
  })
  expect(await failureOf(connectTo(port).send(mail))).toMatchObject({ kind: 'temporary' })
  expect(bodies).toBe(1)
})

test('a kept connection that the server has tired of is replaced without a failure', async () => {
  const senders: Socket[] = []
  const port = await startTalker((socket, line) => {
    if (line.startsWith('EHLO')) socket.write('250 talker\r\n')
    else if (line.startsWith('MAIL') && senders.includes(socket)) socket.destroy()
    else if (line.startsWith('DATA')) socket.write('354 go on\r\n')
    else if (/^(MAIL|RCPT)/.test(line) || line.endsWith('\r\n.\r\n')) socket.write('250 fine\r\n')
    if (line.startsWith('MAIL')) senders.push(socket)
  })
  const transport = connectTo(port, {}, { connections: 1 })
  await transport.send(mail)
  await transport.send({ ...mail, id: '2' })
  expect(new Set(senders).size).toBe(2)
})

test('closing lets the mail under way end and turns the waiting one away', async () => {
  const arrived = Promise.withResolvers<() => void>()
  const port = await startServer({
    onData(stream, _session, done) {
      stream.resume()
      stream.on('end', () => arrived.resolve(() => done()))
    },
  })
  const transport = connectTo(port, {}, { connections: 1 })
  const first = transport.send(mail)
  const second = failureOf(transport.send({ ...mail, id: '2' }))
  const acknowledge = await arrived.promise
  const closing = transport.close()
  expect(await second).toMatchObject({ kind: 'temporary' })
  acknowledge()
  await expect(first).resolves.toEqual({ id: '<0197-abc@site.test>' })
  await closing
  expect(await failureOf(transport.send(mail))).toMatchObject({ kind: 'temporary' })
})

test('without a host nothing is tried', async () => {
  expect(await failureOf(connectTo(25, { host: '' }).send(mail))).toMatchObject({ kind: 'permanent' })
})

test.each([
  { host: 'smtp.test', port: 465, credentials: true, secure: true, required: false, verified: true },
  { host: 'smtp.test', port: 465, credentials: false, secure: true, required: false, verified: true },
  { host: 'smtp.test', port: 587, credentials: true, secure: false, required: true, verified: true },
  { host: 'smtp.test', port: 25, credentials: false, secure: false, required: false, verified: false },
  { host: '127.0.0.1', port: 587, credentials: true, secure: false, required: false, verified: false },
  { host: 'localhost', port: 465, credentials: true, secure: true, required: false, verified: false },
  { host: '::1', port: 25, credentials: false, secure: false, required: false, verified: false },
  { host: '127.0.0.1.evil.test', port: 587, credentials: true, secure: false, required: true, verified: true },
  { host: 'notlocalhost', port: 587, credentials: true, secure: false, required: true, verified: true },
])('$host:$port with credentials $credentials', ({ secure, required, verified, ...server }) => {
  expect(protection(server)).toEqual({ secure, required, verified })
})

// Made for these tests; valid for a hundred years for 0.0.0.0, which leads to this machine but is not recognisably near.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJ1wuCSRAW8fW/FNH
+wS+WFqPY5C9vdPiq4wrNbKJAZqhRANCAATmqV9KThTxR/vADkRzSRj38Dgo2I4f
jKi7Q0YGnWGWjCWGA5uob+Uq8qdoJQXOR2+9V5bx0UgtsvfIYCf6ohp4
-----END PRIVATE KEY-----`
const cert = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUPdx74MuUwjC7uAxCkuRHkmXwNYwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbWFpbC50ZXN0MCAXDTI2MTExNTA2NDQwNloYDzIxMjYxMDIy
MDY0NDA2WjAUMRIwEAYDVQQDDAltYWlsLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATmqV9KThTxR/vADkRzSRj38Dgo2I4fjKi7Q0YGnWGWjCWGA5uob+Uq
8qdoJQXOR2+9V5bx0UgtsvfIYCf6ohp4o28wbTAdBgNVHQ4EFgQUKyCCvDanFClK
/aSfpTPn/wO7bEswHwYDVR0jBBgwFoAUKyCCvDanFClK/aSfpTPn/wO7bEswDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwQAAAAAgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDSAAwRQIhAP5YDmHj/NO/muMzccPlvqo2ZRIUbnzVv2NGBTk9cCOiAiAt
C0pPhF+m3xPNWkI6TQgo59oWMzbpMPN+xV27bkcZEQ==
-----END CERTIFICATE-----`
const far = { host: '0.0.0.0', user: 'post', pass: new Secret('very secret') }

async function startTls(options: SMTPServerOptions = {}) {
  const logins: boolean[] = []
  const port = await startServer({
    key,
    cert,
    hideSTARTTLS: false,
    onAuth({ username }, { secure }, done) {
      logins.push(secure)
      done(null, { user: username })
    },
    ...options,
  })
  return { port, logins }
}

test('with a password, a server that proves its name is spoken to by STARTTLS', async () => {
  const { port, logins } = await startTls()
  await connectTo(port, far, { authorities: cert }).send(mail)
  expect(logins).toEqual([true])
})

test('a password is not given to a server that cannot prove its name', async () => {
  const { port, logins } = await startTls()
  expect(await failureOf(connectTo(port, far).send(mail))).toMatchObject({
    kind: 'temporary',
    message: expect.stringMatching(/self-signed certificate/i),
  })
  expect(logins).toEqual([])
})

test('a password is not given to a server that offers no TLS', async () => {
  const { port, logins } = await startTls({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
  expect(await failureOf(connectTo(port, far, { authorities: cert }).send(mail))).toMatchObject({
    kind: 'temporary',
  })
  expect(logins).toEqual([])
})

test('without a password, whatever TLS is offered is taken, and plain text where there is none', async () => {
  const secured: boolean[] = []
  const onMailFrom: SMTPServerOptions['onMailFrom'] = (_address, { secure }, done) => {
    secured.push(secure)
    done()
  }
  const open = { host: '0.0.0.0' }
  await connectTo((await startTls({ onMailFrom })).port, open).send(mail)
  await connectTo((await startTls({ onMailFrom, disabledCommands: ['STARTTLS'] })).port, open).send(mail)
  expect(secured).toEqual([true, false])
})
