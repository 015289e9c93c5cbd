import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDoorway } from '../doorway.ts'
import type { Random } from '../random.ts'
import type { Outsider } from '../stage.ts'
import { createTemper } from '../temper.ts'
import type { Handing, Postbox } from './postbox.ts'

/** As those of the mail server. `late` answers after everybody has stopped waiting. */
const moods = ['slow', 'late', 'dead', 'silent', 'dropping', 'refusing', 'lying'] as const

type Fate = Pick<Handing, 'kept' | 'told'> & { answer: { status: number; json: unknown } | 'cut' | 'cut in the middle' | 'hang' }

export type SmsGateway = Outsider & { origin: string; close(): Promise<void> }

/** The wire of Twilio, over real HTTP, with moods. `patience` is how long its callers wait, in milliseconds. */
export async function startSmsGateway(postbox: Postbox, random: Random, patience: number): Promise<SmsGateway> {
  const temper = createTemper(moods)

  async function serve(message: IncomingMessage, response: ServerResponse) {
    const form = new URLSearchParams(await text(message))
    const now = temper.mood
    if (now !== 'well') temper.felt++
    const { answer, ...told } = fateOf(now)
    postbox.put({ channel: 'sms', to: (form.get('To') ?? '').slice(1), id: undefined, text: form.get('Body') ?? '', ...told })
    if (now === 'slow') await sleep(random.between(20, 400))
    if (now === 'late') await sleep(patience * 1.5)
    if (answer === 'hang') return
    if (answer === 'cut') return void response.destroy()
    if (answer === 'cut in the middle') {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': 1000 })
      return void response.write('{"sid":', () => response.destroy())
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.json))
  }

  function fateOf(now: typeof temper.mood): Fate {
    const taken = { status: 201, json: { sid: `SM${randomUUID().replaceAll('-', '')}`, status: 'queued' } }
    const busy = { status: 429, json: { code: 20429, message: 'Too Many Requests' } }
    if (now === 'silent') return { kept: random.chance(0.5), told: 'nothing', answer: 'hang' }
    if (now === 'late') return { kept: true, told: 'nothing', answer: taken }
    if (now === 'dropping')
      return { kept: random.chance(0.5), told: 'nothing', answer: random.pick(['cut', 'cut in the middle'] as const) }
    if (now === 'refusing') return { kept: false, told: 'no', answer: busy }
    if (now !== 'lying') return { kept: true, told: 'yes', answer: taken }
    return random.pick<Fate>([
      { kept: true, told: 'no', answer: busy },
      { kept: false, told: 'yes', answer: taken },
      { kept: true, told: 'nothing', answer: { status: 200, json: 'fine' } },
      { kept: true, told: 'nothing', answer: { status: 500, json: {} } },
    ])
  }

  const server = createServer((message, response) => void serve(message, response).catch(() => response.destroy()))
  const doorway = await openDoorway(server, random)
  return {
    origin: `http://127.0.0.1:${doorway.port}`,
    felt: () => temper.felt,
    sulk: (lot) => temper.sulk(doorway, lot),
    behave: () => temper.behave(doorway),
    close: () => doorway.close(),
  }
}
