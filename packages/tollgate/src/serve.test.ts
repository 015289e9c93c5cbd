import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { caller, type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort, message, type Program, runTollgate, settingsOf } from './testing.ts'

let databases: Record<'identity' | 'payments', ScratchDatabase>
beforeAll(async () => {
  databases = {
    identity: await scratchDatabase('template_identity'),
    payments: await scratchDatabase('template_payments'),
  }
})
afterAll(async () => {
  for (const database of Object.values(databases)) await database.drop()
})

async function serve(service: 'identity' | 'payments', workers: number) {
  const port = await freePort()
  const program = runTollgate([service, 'serve'], settingsOf(databases[service], port, workers))
  await program.line(message('listening'))
  return { program, port, origin: `http://127.0.0.1:${port}` }
}

const pidsOf = (program: Program) => program.lines.filter(message('a worker listens')).map(({ pid }) => Number(pid))

type Asked = { answered: number; lost: string[] }

/** Callers who keep their connection and ask every few milliseconds, until they are stopped or, if that is the end, refused. */
function load(origin: string, callers: number, { refusalIsTheEnd }: { refusalIsTheEnd: boolean }) {
  let stopped = false
  const asked: Asked[] = Array.from({ length: callers }, () => ({ answered: 0, lost: [] }))
  const loops = asked.map(async (own) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!stopped) {
      const outcome = await ask(origin, agent)
      if (outcome === 'refused' && refusalIsTheEnd) break
      if (outcome === 'answered') own.answered++
      else own.lost.push(outcome)
      await setTimeout(4)
    }
    agent.destroy()
  })
  const ended = Promise.all(loops)
  return {
    asked,
    ended,
    async everyoneIsAnswered(times: number) {
      const before = asked.map(({ answered }) => answered)
      const enough = () => asked.every(({ answered }, index) => answered >= (before[index] ?? 0) + times)
      await expect.poll(enough, { timeout: 10_000, interval: 10 }).toBe(true)
    },
    stop() {
      stopped = true
      return ended
    },
  }
}

/** A connection that ends before its first answer was taken by the system and never by a worker: that is a refusal, not a loss. */
async function ask(origin: string, agent: Agent): Promise<string> {
  const sent = request(`${origin}/settings`, { agent }).end()
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const text = String(Buffer.concat(await response.toArray()))
    return response.statusCode === 200 && text.endsWith('}') ? 'answered' : `${response.statusCode} ${text}`
  } catch (problem) {
    return sent.reusedSocket ? String((problem as { code?: string }).code) : 'refused'
  }
}

test('a worker that is killed under load loses at most what was in flight on it, and is back within two seconds', async () => {
  const { program, origin } = await serve('identity', 2)
  const [victim, other] = pidsOf(program)
  const callers = load(origin, 16, { refusalIsTheEnd: false })
  await callers.everyoneIsAnswered(20)

  const killed = performance.now()
  process.kill(Number(victim), 'SIGKILL')
  const heir = await program.line((line) => line.message === 'a worker listens' && ![victim, other].includes(Number(line.pid)))
  const seconds = (performance.now() - killed) / 1000
  await callers.everyoneIsAnswered(20)
  await callers.stop()

  expect(seconds).toBeLessThan(2)
  expect(callers.asked.flatMap(({ lost }) => lost).length).toBeLessThanOrEqual(16)
  expect(callers.asked.some(({ lost }) => lost.length === 0)).toBe(true)
  expect(pidsOf(program)).toEqual([victim, other, heir.pid])
  for (const pid of [other, heir.pid]) expect(process.kill(Number(pid), 0)).toBe(true)
})

test('asked to stop under load, every request that was taken is answered and the program ends well', async () => {
  const { program, origin } = await serve('identity', 2)
  const callers = load(origin, 16, { refusalIsTheEnd: true })
  await callers.everyoneIsAnswered(20)
  program.signal('SIGTERM')
  const { code } = await program.ended
  await callers.ended
  expect(code).toBe(0)
  expect(callers.asked.flatMap(({ lost }) => lost)).toEqual([])
})

test.each([1, 2])('asked to stop, %i workers still take in a request that is half sent, and answer it', async (workers) => {
  const { program, port, origin } = await serve('payments', workers)
  const body = '{"name":"Shop"}'
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  const head = `POST /apps HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
  socket.write(head)
  expect((await once(socket, 'data'))[0]).toContain('100 Continue')
  program.signal('SIGTERM')
  await program.line(message('stopping'))
  await expect.poll(() => caller(origin)('GET /health').catch(({ code }) => code), { interval: 10 }).toBe('ECONNREFUSED')
  socket.write(body)
  const [answer] = await once(socket, 'data')
  expect(answer).toMatch(/^HTTP\/1\.1 201 Created\r\n/)
  expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n')
  expect((await program.ended).code).toBe(0)
})

test('workers whose supervisor is killed end by themselves', async () => {
  const { program, origin } = await serve('identity', 2)
  program.signal('SIGKILL')
  // They write to the same pipe, so it is closed when the last of them is gone.
  await program.ended
  await expect(caller(origin)('GET /health')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test.each([1, 2])('a port that is taken is one sentence, with %i workers', async (workers) => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  onTestFinished(() => void holder.close())
  const { port } = holder.address() as { port: number }
  const { code, complaints, out } = await runTollgate(['identity', 'serve'], settingsOf(databases.identity, port, workers)).ended
  const sentence = `Port ${port} is taken by another program. Stop that program, or set AUTH_API_PORT to a free port.\n`
  expect({ code, complaints, out }).toEqual({ code: 1, complaints: sentence, out: '' })
})
