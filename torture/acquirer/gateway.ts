import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClearhausFake } from '@tollgate/payments/acquirers/clearhaus-fake'
import { openDoorway } from '../doorway.ts'
import type { Random } from '../random.ts'
import type { Outsider } from '../stage.ts'
import { createTemper } from '../temper.ts'

/**
 * How an acquirer behaves: `slow` thinks about every answer; `late` answers when nobody waits any more; `dead` cannot be reached; `silent` does
 * what it is asked, or not, and says nothing; `dropping` hangs up instead; `lying` says something else than what it did, and nothing that fits
 * the question.
 */
const moods = ['slow', 'late', 'dead', 'silent', 'dropping', 'lying'] as const

type Reply = { status: number; body: string }

export type Gateway = Outsider & {
  /** What the service has to be told of it. */
  env: Record<string, string>
  /** What it has, by its own record. */
  authorizations: Awaited<ReturnType<typeof startClearhausFake>>['authorizations']
  close(): Promise<void>
}

/** The gateway of an acquirer with a memory, over real HTTP, behind somebody with moods. `patience` is how long its callers wait, in seconds. */
export async function startGateway(random: Random, patience: number): Promise<Gateway> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const [apiKey, signingKeyId] = ['torture-key', 'torture-signing-key']
  const fake = await startClearhausFake({ apiKey, signingKeyId, publicKey })
  const temper = createTemper(moods)

  /** Lets it do what it is asked. */
  async function pass({ url = '', method = 'GET', headers }: IncomingMessage, body: string): Promise<Reply> {
    const kept = ['authorization', 'signature', 'content-type'].flatMap((name) =>
      typeof headers[name] === 'string' ? [[name, headers[name]] as [string, string]] : [],
    )
    const answer = await fetch(`${fake.origin}${url}`, { method, headers: kept, ...(body !== '' && { body }) })
    return { status: answer.status, body: await answer.text() }
  }

  async function serve(message: IncomingMessage, response: ServerResponse) {
    const body = await text(message)
    const now = temper.mood
    if (now !== 'well') temper.felt++
    const isDone = !['silent', 'dropping', 'lying'].includes(now) || random.chance(0.5)
    const right = isDone ? await pass(message, body) : undefined
    if (now === 'slow') await sleep(random.between(20, 400))
    if (now === 'late') await sleep(patience * 1_500)
    if (now === 'silent') return
    if (now === 'dropping') return void response.destroy()
    const { status, body: said } = right && now !== 'lying' ? right : lie()
    response.writeHead(status, { 'content-type': 'application/json' }).end(said)
  }

  /**
   * Something that nobody who looks at it takes for an answer, whether it was done or not. Of an approval that fits the question and is
   * not true nobody can tell.
   */
  function lie(): Reply {
    const status = { code: 20000 }
    return random.pick([
      { status: 500, body: 'oops' },
      { status: 200, body: 'done, I think' },
      { status: 201, body: JSON.stringify({ status, amount: 999_999_999 }) },
      { status: 202, body: JSON.stringify({ status, id: randomUUID() }) },
      { status: 201, body: JSON.stringify({ status: { code: 77_777 }, id: randomUUID() }) },
    ])
  }

  const server = createServer((message, response) => void serve(message, response).catch(() => response.destroy()))
  const doorway = await openDoorway(server, random)
  return {
    env: {
      PAY_ACQUIRER: 'clearhaus',
      PAY_CLEARHAUS_URL: `http://127.0.0.1:${doorway.port}`,
      PAY_CLEARHAUS_API_KEY: apiKey,
      PAY_CLEARHAUS_SIGNING_KEY_ID: signingKeyId,
      PAY_CLEARHAUS_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      PAY_CLEARHAUS_TIMEOUT: String(patience),
      PAY_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'true',
    },
    authorizations: fake.authorizations,
    felt: () => temper.felt,
    sulk: (lot) => temper.sulk(doorway, lot),
    behave: () => temper.behave(doorway),
    async close() {
      await doorway.close()
      await fake.close()
    },
  }
}
