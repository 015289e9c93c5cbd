import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { caller, scratchDatabase } from '@tollgate/kit/testing'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, message, runTollgate, settingsOf } from '../packages/tollgate/src/testing.ts'

// What becomes of a mail when the service is killed while the mail is on its way. Up to the end of the mail, the single dot, a server throws
// away what it was told, and the mail is sent again. From the dot on nobody but the server knows whether it took the mail: whoever was
// killed without having read the answer cannot tell it from one who read it and was killed before writing that down. Such a mail is not
// sent again, so that nobody gets it twice; whether it arrived depends on the server, the operator is told, and the person can ask anew.

/** A conversation with a sender comes to these points, and can be kept there. */
type Point = 'greeting' | 'DATA' | '.'

type PostOffice = {
  /** Whose mail arrived to the last byte, whether that was acknowledged or not. */
  arrived: string[]
  acknowledged: string[]
  open(): Promise<void>
  /** From now on nothing is answered at this point. Resolves when so many senders have come to it. */
  hold(point: Point, senders?: number): Promise<void>
  letGo(): void
  /** What is done at the moment at which a mail is there, before its acknowledgement. */
  beforeAcknowledging(what: () => Promise<void>): void
}

/** A mail server of which every answer can be held back. */
function postOffice(port: number): PostOffice {
  const arrived: string[] = []
  const acknowledged: string[] = []
  const sockets = new Set<Socket>()
  const arrivals = new EventEmitter().setMaxListeners(0)
  let heldAt: Point | undefined
  let held = 0
  let before = async () => {}

  function reach(point: Point, answer: () => void) {
    if (heldAt !== point) return answer()
    held++
    arrivals.emit('held')
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let recipient = ''
    let content: string | undefined
    const say = (line: string) => void (socket.destroyed || socket.write(`${line}\r\n`))

    function command(line: string) {
      const [word] = line.split(/\s/)
      if (word === 'RCPT') recipient = /<(.*)>/.exec(line)?.[1] ?? ''
      if (word === 'DATA') reach('DATA', takeContent)
      else say('250 fine')
    }

    function takeContent() {
      content = ''
      say('354 go on')
    }

    async function take() {
      content = undefined
      arrived.push(recipient)
      await before()
      reach('.', () => {
        acknowledged.push(recipient)
        say('250 taken')
      })
    }

    socket.setEncoding('utf8').on('data', (text: string) => {
      if (content === undefined) command(text)
      else content += text
      if (content?.endsWith('\r\n.\r\n')) void take()
    })
    reach('greeting', () => say('220 post.office ESMTP'))
  })
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    arrived,
    acknowledged,
    async open() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    async hold(point, senders = 1) {
      heldAt = point
      while (held < senders) await once(arrivals, 'held')
    },
    letGo() {
      heldAt = undefined
    },
    beforeAcknowledging(what) {
      before = what
    },
  }
}

type Row = {
  sealed: Buffer | null
  handed_over_at: Date | null
  sent_at: Date | null
  given_up_at: Date | null
  error: string | null
}

/** The real program with a database and a post office of its own. */
async function begin() {
  const database = await scratchDatabase('template_identity')
  const [port, smtpPort] = [await freePort(), await freePort()]
  const client = new pg.Client(database.url)
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await database.drop()
  })
  const settings = {
    ...settingsOf(database, port, 1),
    AUTH_SMTP_PORT: String(smtpPort),
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
    AUTH_SMTP_MAX_FREQUENCY: '0',
  }
  const call = caller(`http://127.0.0.1:${port}`)
  const rows = async <T extends pg.QueryResultRow>(text: string) => (await client.query<T>(text)).rows

  async function start() {
    const program = runTollgate(['identity', 'serve'], settings)
    await program.line(message('listening'))
    return {
      lines: program.lines,
      line: program.line,
      async kill() {
        program.signal('SIGKILL')
        await program.ended
      },
    }
  }

  return {
    database,
    office: postOffice(smtpPort),
    rows,
    start,
    /** The service again, after as long as it takes for what the dead one had taken on to be anybody's. */
    async startLater() {
      await rows(`update auth.messages set handed_over_at = handed_over_at - interval '5 minutes'`)
      await rows('update auth.jobs set run_at = now()')
      const program = await start()
      await expect.poll(() => rows('select * from auth.jobs'), { timeout: 15_000, interval: 20 }).toEqual([])
      return program
    },
    async signUp(): Promise<string> {
      const email = `${randomUUID()}@people.test`
      const { status } = await call('POST /signup', { json: { email, password: 'correct horse' } })
      expect(status).toBe(200)
      return email
    },
    resend: (email: string) => call('POST /resend', { json: { type: 'signup', email } }),
    messages: () =>
      rows<Row>('select sealed, handed_over_at, sent_at, given_up_at, error from auth.messages order by created_at'),
  }
}

const mayHaveBeenSent = { sealed: null, sent_at: null, error: expect.stringContaining('it may have been sent') }

test('killed before it reached the mail server, the mail arrives, once', async () => {
  const { office, start, startLater, signUp, messages } = await begin()
  const first = await start()
  const email = await signUp()
  await first.line(message('job failed'))
  await first.kill()
  await office.open()
  await startLater()
  expect([office.arrived, office.acknowledged]).toEqual([[email], [email]])
  expect(await messages()).toMatchObject([{ sealed: null, sent_at: expect.any(Date), given_up_at: null }])
})

test.each(['greeting', 'DATA'] as const)('killed at the %s, the mail arrives, once', async (point) => {
  const { office, start, startLater, signUp, messages } = await begin()
  await office.open()
  const first = await start()
  const held = office.hold(point)
  const email = await signUp()
  await held
  expect(await messages()).toMatchObject([{ handed_over_at: null, sealed: expect.any(Buffer) }])
  await first.kill()
  office.letGo()
  await startLater()
  expect([office.arrived, office.acknowledged]).toEqual([[email], [email]])
  expect(await messages()).toMatchObject([{ sealed: null, sent_at: expect.any(Date), given_up_at: null }])
})

test('killed after the last dot, before any answer: not sent again, the operator is told, and the person can ask anew', async () => {
  const { office, start, startLater, signUp, resend, messages } = await begin()
  await office.open()
  const first = await start()
  const held = office.hold('.')
  const email = await signUp()
  await held
  expect(await messages()).toMatchObject([{ handed_over_at: expect.any(Date), sent_at: null }])
  await first.kill()
  office.letGo()
  const second = await startLater()
  expect([office.arrived, office.acknowledged]).toEqual([[email], []])
  expect(await messages()).toMatchObject([mayHaveBeenSent])
  const told = await second.line(message('message given up'))
  expect(told).toMatchObject({ level: 'error', error: expect.stringContaining('it may have been sent') })
  expect(JSON.stringify(second.lines)).not.toContain(email)

  expect((await resend(email)).status).toBe(200)
  await expect.poll(() => office.acknowledged, { timeout: 5000, interval: 20 }).toEqual([email])
})

test('killed after the mail was acknowledged, before that was written down: not sent again', async () => {
  const { database, office, start, startLater, signUp, rows, messages } = await begin()
  await office.open()
  const first = await start()
  const writer = new pg.Client(database.url)
  await writer.connect()
  onTestFinished(() => writer.end())
  // Whoever wants to write that it was sent has to wait for us.
  office.beforeAcknowledging(async () => void (await writer.query('begin; select 1 from auth.messages for update')))
  const email = await signUp()
  // The server is shared with other tests, whose writers wait as well now and then.
  const waiting = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%set sent_at%'`
  await expect.poll(() => rows(waiting), { timeout: 5000, interval: 5 }).toHaveLength(1)
  expect(office.acknowledged).toEqual([email])
  await first.kill()
  await rows(`select pg_terminate_backend(pid) from (${waiting}) as writers`)
  await expect.poll(() => rows(waiting), { timeout: 5000, interval: 5 }).toEqual([])
  await writer.query('rollback')
  office.beforeAcknowledging(async () => {})
  expect(await messages()).toMatchObject([{ handed_over_at: expect.any(Date), sent_at: null }])

  await startLater()
  expect([office.arrived, office.acknowledged]).toEqual([[email], [email]])
  expect(await messages()).toMatchObject([mayHaveBeenSent])
})

test('killed with a crowd of mails at every point of the way: none is lost, none that was acknowledged is doubled', async () => {
  const { office, start, startLater, signUp, messages } = await begin()
  await office.open()
  const first = await start()
  const before = await Promise.all(Array.from({ length: 4 }, signUp))
  await expect.poll(() => office.acknowledged.length, { timeout: 5000, interval: 5 }).toBe(4)
  // As many as are sent at once.
  const held = office.hold('.', 5)
  const after = await Promise.all(Array.from({ length: 12 }, signUp))
  await held
  await first.kill()
  office.letGo()
  const unsure = office.arrived.slice(4)
  expect(unsure).toHaveLength(5)

  await startLater()
  const sure = [...before, ...after].filter((email) => !unsure.includes(email))
  expect(office.acknowledged.toSorted()).toEqual(sure.toSorted())
  expect(office.arrived.toSorted()).toEqual([...before, ...after].toSorted())
  const kept = await messages()
  expect(kept.filter(({ sent_at }) => sent_at)).toHaveLength(11)
  expect(kept.filter(({ given_up_at }) => given_up_at)).toHaveLength(5)
})

test('killed at any moment at all, nobody gets a mail twice, and every mail that may be missing is marked so', async () => {
  const { office, start, startLater, signUp, messages } = await begin()
  await office.open()
  const people: string[] = []
  for (const milliseconds of [0, 2, 4, 8]) {
    const program = await start()
    // Whoever has sent one already is quick with the next.
    const warm = await signUp()
    await expect.poll(() => office.acknowledged, { timeout: 5000, interval: 5 }).toContain(warm)
    people.push(warm, ...(await Promise.all(Array.from({ length: 3 }, signUp))))
    await setTimeout(milliseconds)
    await program.kill()
  }
  await startLater()
  expect(new Set(office.arrived).size).toBe(office.arrived.length)
  const kept = await messages()
  expect(kept).toHaveLength(people.length)
  for (const row of kept) expect(row.sent_at !== null || row.error?.includes('may have been sent')).toBe(true)
  const sent = kept.filter(({ sent_at }) => sent_at !== null)
  expect(office.acknowledged.length).toBeGreaterThanOrEqual(sent.length)
})
