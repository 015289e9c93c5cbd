import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, expect, test } from 'vitest'
import { Secret } from './secret.ts'
import { createTransport, type Mail, MailFailure, protection, type SmtpSettings, type Transport } from './smtp.ts'
import { startSmtpSink } from './smtp-sink.ts'
import { gate } from './testing.ts'

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
  const own = { clientName: 'auth.site.test', hostSetting: 'AUTH_SMTP_HOST', ...options }
  const transport = createTransport({ ...settings, port, ...more }, own)
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

const polite: Record<string, string> = {
  EHLO: '250 talker',
  MAIL: '250 fine',
  RCPT: '250 fine',
  DATA: '354 go on',
  '.': '250 taken',
  RSET: '250 fine',
  QUIT: '221 bye',
}

type Talker = { port: number; sockets: Socket[]; heard: string[]; hears(what: string): Promise<void> }

/** A mail server of which every word can be chosen: a command, or `.` for the end of a mail, and what is answered. */
async function startTalker(
  answer: (command: string, socket: Socket) => string | undefined,
  greeting = '220 talker ESMTP',
): Promise<Talker> {
  const sockets: Socket[] = []
  const heard: string[] = []
  const news = new EventEmitter()

  function hear(what: string) {
    heard.push(what)
    news.emit('heard')
  }

  const server = createServer((socket) => {
    sockets.push(socket)
    let content: string | undefined
    const say = (line: string | undefined) => void (line && !socket.destroyed && socket.write(`${line}\r\n`))
    function respond(command: string) {
      known = true
      hear(command)
      const reply = answer(command, socket)
      if (command === 'DATA' && reply?.startsWith('354')) content = ''
      say(reply)
    }
    socket.on('error', () => {})
    let known = false
    socket.on('close', () => known && hear('closed'))
    socket.on('data', (data) => {
      if (content === undefined) return respond(data.toString().slice(0, 4).trim())
      content += data
      if (content.endsWith('--\r\n')) hear('content')
      if (!content.endsWith('\r\n.\r\n')) return
      content = undefined
      respond('.')
    })
    say(greeting)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ending.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    sockets,
    heard,
    async hears(what) {
      while (!heard.includes(what)) await once(news, 'heard')
    },
  }
}

/** What was sent before has arrived when somebody who comes only now has been greeted. */
async function comeAfter(port: number) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'data')
  socket.destroy()
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
  const { port } = await startTalker(() => undefined, '')
  const failure = await failureOf(connectTo(port, {}, { timeouts: { greeting: 30 } }).send(mail))
  expect(failure).toMatchObject({ kind: 'temporary', message: `127.0.0.1:${port}: no greeting within the time allowed` })
})

test('a server that falls silent is given up', async () => {
  const { port } = await startTalker((command) => (command === 'EHLO' ? polite.EHLO : undefined))
  const failure = await failureOf(connectTo(port, {}, { timeouts: { silence: 30 } }).send(mail))
  expect(failure).toMatchObject({ kind: 'temporary', message: `127.0.0.1:${port}: no answer within the time allowed` })
})

test('a server that trickles its answer for ever is given up, and the next mail has a connection again', async () => {
  let stalling = true
  const { port } = await startTalker((command, socket) => {
    if (command === 'EHLO' || !stalling) return polite[command]
    const dripping = setInterval(() => socket.write('250-drip\r\n'), 5)
    socket.on('close', () => clearInterval(dripping))
    return undefined
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

test('a server that hangs up instead of acknowledging gets the mail once', async () => {
  const { port, heard } = await startTalker((command, socket) => {
    if (command === '.') socket.destroy()
    return polite[command]
  })
  expect(await failureOf(connectTo(port).send(mail))).toMatchObject({ kind: 'temporary', maybeSent: true })
  expect(heard.filter((command) => command === '.')).toHaveLength(1)
})

test('a kept connection that the server has tired of is replaced without a failure', async () => {
  const senders: Socket[] = []
  const { port } = await startTalker((command, socket) => {
    if (command === 'MAIL' && senders.includes(socket)) socket.destroy()
    if (command === 'MAIL') senders.push(socket)
    return polite[command]
  })
  const transport = connectTo(port, {}, { connections: 1 })
  let handedOver = 0
  const beforeHandOver = async () => void handedOver++
  await transport.send({ ...mail, beforeHandOver })
  await transport.send({ ...mail, id: '2', beforeHandOver })
  expect(new Set(senders).size).toBe(2)
  expect(handedOver).toBe(2)
})

const oneMail = ['MAIL', 'RCPT', 'DATA', 'content', 'hook', '.']

test('a mail is handed over after its content, and ends after that, on a fresh connection as on a kept one', async () => {
  const { port, sockets, heard, hears } = await startTalker((command) => polite[command])
  const transport = connectTo(port, {}, { connections: 1 })
  for (const id of ['1', '2']) {
    const seen = heard.splice(0)
    expect(seen).toEqual(id === '1' ? [] : ['EHLO', ...oneMail])
    const beforeHandOver = async () => {
      await hears('content')
      await comeAfter(port)
      heard.push('hook')
    }
    await transport.send({ ...mail, id, beforeHandOver })
  }
  expect(heard).toEqual(oneMail)
  expect(sockets).toHaveLength(3)
})

test.each([
  { command: 'EHLO', reply: '554 No' },
  { command: 'MAIL', reply: '550 No' },
  { command: 'RCPT', reply: '550 No' },
  { command: 'DATA', reply: '451 No' },
  { command: 'DATA', reply: undefined },
])('a mail that was refused at $command with $reply is not handed over', async ({ command, reply }) => {
  const { port, heard } = await startTalker((asked) => (asked === command ? reply : polite[asked]))
  const transport = connectTo(port, {}, { timeouts: { silence: 30 } })
  let handedOver = 0
  const beforeHandOver = async () => void handedOver++
  expect(await failureOf(transport.send({ ...mail, beforeHandOver }))).toMatchObject({ maybeSent: false })
  expect(handedOver).toBe(0)
  expect(heard).not.toContain('content')
})

test.each(['fresh', 'kept'])('a mail that may not be handed over never ends, on a %s connection', async (connection) => {
  const { port, sockets, heard, hears } = await startTalker((command) => polite[command])
  const transport = connectTo(port, {}, { connections: 1 })
  if (connection === 'kept') await transport.send(mail)
  heard.splice(0)

  const cause = new Error('The database is gone')
  const refuseIt = gate()
  const sending = failureOf(transport.send({ ...mail, beforeHandOver: refuseIt.enter }))
  await refuseIt.entered()
  refuseIt.fail(1, cause)
  const failure = await sending
  expect(failure).toMatchObject({ kind: 'temporary', maybeSent: false, status: undefined })
  expect(failure.cause).toBe(cause)
  expect(cause).toEqual(new Error('The database is gone'))
  await hears('closed')
  expect(heard).not.toContain('.')

  await transport.send(mail)
  expect(heard.filter((command) => command === '.')).toHaveLength(1)
  expect(refuseIt.inputs).toHaveLength(1)
  expect(sockets).toHaveLength(2)
})

test('a mail server throws away what was not handed over', async () => {
  const sink = await startSink()
  const transport = connectTo(sink.port, {}, { connections: 1 })
  await failureOf(transport.send({ ...mail, id: '1', beforeHandOver: () => Promise.reject(new Error('No')) }))
  await transport.send({ ...mail, id: '2' })
  expect(sink.mails().map(({ headers }) => headers['message-id'])).toEqual(['<2@site.test>'])
})

test.each([
  { what: 'hangs up', reply: 'hang up', maybeSent: true, kind: 'temporary', connections: 2 },
  { what: 'falls silent', reply: undefined, maybeSent: true, kind: 'temporary', connections: 2 },
  { what: 'talks nonsense', reply: 'What?', maybeSent: true, kind: 'temporary', connections: 2 },
  { what: 'answers another question', reply: '354 go on', maybeSent: true, kind: 'temporary', connections: 2 },
  { what: 'refuses for now', reply: '451 Later', maybeSent: false, kind: 'temporary', connections: 1 },
  { what: 'closes', reply: '421 Closing', maybeSent: false, kind: 'temporary', connections: 2 },
  { what: 'refuses for good', reply: '554 Spam', maybeSent: false, kind: 'permanent', connections: 1 },
])(
  'when a server $what at the end of a mail, it may have been sent: $maybeSent',
  async ({ reply, maybeSent, kind, connections }) => {
    let odd = true
    const { port, sockets } = await startTalker((command, socket) => {
      if (command !== '.' || !odd) return polite[command]
      if (reply === 'hang up') socket.destroy()
      return reply
    })
    const transport = connectTo(port, {}, { connections: 1, timeouts: { silence: 50 } })
    expect(await failureOf(transport.send(mail))).toMatchObject({ kind, maybeSent })
    odd = false
    await transport.send(mail)
    expect(sockets).toHaveLength(connections)
  },
)

test('a server that trickles its answer to the end of a mail may have taken it', async () => {
  const { port } = await startTalker((command, socket) => {
    if (command !== '.') return polite[command]
    const dripping = setInterval(() => socket.write('250-drip\r\n'), 5)
    socket.on('close', () => clearInterval(dripping))
    return undefined
  })
  const failure = await failureOf(connectTo(port, {}, { timeouts: { whole: 100 } }).send(mail))
  expect(failure).toMatchObject({ kind: 'temporary', maybeSent: true })
})

test.each(['550 Enough', '250 taken', '354 go on', '421 Closing', 'hang up', 'nothing'])(
  'a server that says %j before a mail is handed over does not get it',
  async (word) => {
    const { port, sockets, heard, hears } = await startTalker((command) => polite[command])
    const transport = connectTo(port, {}, { connections: 1, timeouts: { silence: 200 } })
    const inside = gate()
    let settled = false
    const sending = failureOf(transport.send({ ...mail, beforeHandOver: inside.enter })).finally(() => {
      settled = true
    })
    await inside.entered()
    if (word === 'hang up') sockets[0]?.resetAndDestroy()
    else if (word !== 'nothing') sockets[0]?.write(`${word}\r\n`)
    await hears('closed')
    await comeAfter(port)
    // The mail is the caller's again only when what the caller began with it has ended.
    expect(settled).toBe(false)
    inside.leave(1)
    expect(await sending).toMatchObject({ maybeSent: false })
    await transport.send(mail)
    expect(heard.filter((command) => command === '.')).toHaveLength(1)
    expect(inside.inputs).toHaveLength(1)
  },
)

test('a mail that takes too long to be handed over is not sent', async () => {
  const { port, heard, hears } = await startTalker((command) => polite[command])
  const inside = gate()
  const transport = connectTo(port, {}, { timeouts: { whole: 30 } })
  const sending = failureOf(transport.send({ ...mail, beforeHandOver: inside.enter }))
  await hears('closed')
  inside.leave(1)
  expect(await sending).toMatchObject({ kind: 'temporary', maybeSent: false })
  expect(heard).not.toContain('.')
})

test('a large mail with lines that look like its end arrives as it is', async () => {
  const sink = await startSink()
  const html = `<p>${'.\n..\n\n.x ü\n'.repeat(12_000)}</p>`
  await connectTo(sink.port).send({ ...mail, html })
  expect((await sink.next()).html?.trim()).toBe(html)
})

test('a mail is marked as sent by a machine, and further headers are beside that or instead of it', async () => {
  const sink = await startSink()
  const transport = connectTo(sink.port)
  await transport.send(mail)
  await transport.send({
    ...mail,
    headers: ['X-Tag', 'X-Tag', 'auto-submitted'].map((key, index) => ({ key, value: `no ${index}` })),
  })
  const [plain, more] = [await sink.next(), await sink.next()]
  expect(plain.headers).toMatchObject({ 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' })
  expect(more.headers).toMatchObject({ 'x-tag': 'no 0, no 1', 'auto-submitted': 'no 2', 'x-auto-response-suppress': 'All' })
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

test('without a host nothing is tried, and the setting is named', async () => {
  expect(await failureOf(connectTo(25, { host: '' }, { hostSetting: 'PAY_SMTP_HOST' }).send(mail))).toMatchObject({
    kind: 'permanent',
    message: 'PAY_SMTP_HOST is not set, so no mail can be sent',
  })
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
