import cluster from 'node:cluster'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { systemClock } from '@tollgate/kit/clock'
import { createIds } from '@tollgate/kit/id'
import pg from 'pg'
import type { Form, Script, ScriptValue } from './script.ts'

/**
 * The yardstick for a service that needs its database: the statements of the service and nothing else. It says to the database what the
 * service said for the same request, with the driver as it comes, and answers the rows as JSON. It asks nobody who they are, checks nothing,
 * signs nothing and leaves nothing out.
 *
 * Scripts are told apart by the path. A body `{"given":"…"}` has what changes from request to request; the answer has `"made":"…"`, which is
 * what the next request may give.
 */
const { BARE_PORT: port, BARE_SCRIPTS: file = '', DATABASE_URL: url, WORKERS: workers } = process.env

/** As many connections as a worker of a service shares among the requests that look, and among those that change something. */
const connections = { look: 2, change: 6 }

type Prepared = Pick<Script, 'made'> & {
  statements: readonly { text: string; values: readonly (ScriptValue | { kind: 'same'; value: Buffer })[] }[]
  names: readonly string[]
  clients: readonly pg.Client[]
}

const mintId = createIds(systemClock)

const makers: Readonly<Record<Form, () => string>> = {
  id: () => mintId('ffff'),
  token: () => randomBytes(32).toString('base64url'),
  uuid: randomUUID,
}

/** What was sent as bytes is sent as bytes. */
function withBytes({ statements }: Script): Prepared['statements'] {
  return statements.map(({ text, values }) => ({
    text,
    values: values.map((each) =>
      each.kind === 'same' && each.value !== null && typeof each.value === 'object'
        ? { kind: 'same', value: Buffer.from(each.value.base64, 'base64') }
        : each,
    ),
  }))
}

async function serve() {
  const scripts = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Script>
  const open = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const client = new pg.Client({ connectionString: url, pipeline: true })
        client.on('error', () => {})
        await client.connect()
        return client
      }),
    )
  const looking = await open(connections.look)
  const changing = await open(connections.change)
  const prepared = new Map<string, Prepared>()
  for (const [name, script] of Object.entries(scripts)) {
    const changes = script.statements.some(({ text }) => /\b(insert|update|delete)\b/i.test(text))
    const names = script.statements.map((_, at) => `${name}-${at}`)
    prepared.set(`/${name}`, { ...script, statements: withBytes(script), names, clients: changes ? changing : looking })
  }
  let turn = 0

  async function play({ statements, names, clients, made }: Prepared, given: string): Promise<string> {
    const client = clients[turn++ % clients.length] as pg.Client
    const fresh: string[] = []
    const now = new Date().toISOString()
    const fill = (value: Prepared['statements'][number]['values'][number]): unknown => {
      if (value.kind === 'same') return value.value
      const plain = value.kind === 'given' ? given : value.kind === 'now' ? now : freshOne(value)
      return value.listed ? `{"${plain}"}` : plain
    }
    const freshOne = ({ form, number }: ScriptValue & { kind: 'fresh' }): string => {
      const one = fresh[number] ?? makers[form]()
      fresh[number] = one
      return one
    }
    let rows: unknown[] = []
    let changed = true
    for (const [at, { text, values }] of statements.entries()) {
      const result = await client.query({ name: names[at] as string, text, values: values.map(fill) })
      rows = result.rows
      changed &&= (result.rowCount ?? 0) > 0
    }
    // A statement that finds nothing is quick, and proves nothing.
    if (!changed) throw new Error('a statement found nothing')
    return JSON.stringify({ made: made === undefined ? null : fresh[made], rows })
  }

  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const write = (status: number, body: string) => {
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        response.end(body)
      }
      const script = prepared.get(request.url ?? '')
      if (!script) return write(request.url === '/health' ? 200 : 404, '{}')
      const { given = '' } = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
      play(script, given).then(
        (body) => write(200, body),
        (problem: Error) => write(500, JSON.stringify({ message: problem.message })),
      )
    })
  }).listen(Number(port), '127.0.0.1')
}

// One worker stands alone, like the services do it.
if (cluster.isPrimary && Number(workers) > 1) {
  for (let count = 0; count < Number(workers); count++) cluster.fork()
} else await serve()
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
