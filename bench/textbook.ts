import cluster from 'node:cluster'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { systemClock } from '@tollgate/kit/clock'
import { createIds, tagOf } from '@tollgate/kit/id'
import pg from 'pg'

/**
 * What a payments service has to beat: the two calls as textbooks write them. Whoever changes a balance begins a transaction, locks the
 * balance, looks, writes and commits, one statement after the other. Prepared statements, a pool, and nothing that slows it down on
 * purpose; it has no acquirer, keeps no keys and checks less than a service must.
 */
const { TEXTBOOK_PORT: port, DATABASE_URL: url, POOL_SIZE: poolSize, WORKERS: workers } = process.env

type Value = string | number | Date
type Say = <Row>(name: string, text: string, ...values: Value[]) => Promise<Row | undefined>
type Reply = { status: number; body: unknown }

const mintId = createIds(systemClock)
const notFound: Reply = { status: 404, body: { message: 'Not found' } }

function serve() {
  const pool = new pg.Pool({ connectionString: url, max: Number(poolSize) })
  pool.on('error', () => {})

  async function inTransaction(story: (say: Say) => Promise<Reply>): Promise<Reply> {
    const client = await pool.connect()
    const say: Say = async (name, text, ...values) => (await client.query({ name, text, values })).rows[0]
    try {
      await client.query('begin')
      const reply = await story(say)
      await client.query('commit')
      return reply
    } catch (problem) {
      await client.query('rollback')
      throw problem
    } finally {
      client.release()
    }
  }

  async function answer(request: IncomingMessage): Promise<Reply> {
    const [, collection, id = '', action] = (request.url ?? '').split('/')
    const { authorization = '' } = request.headers
    const key = Buffer.from(authorization.slice(6), 'base64').toString().slice(1)
    if (collection === 'health') return { status: 200, body: {} }
    const body = JSON.parse(await textOf(request))
    if (collection === 'merchants' && action === 'transactions')
      return inTransaction((say) => authorize(say, { key, merchantId: id, ...body }))
    if (collection === 'transactions' && action === 'captures') return inTransaction((say) => capture(say, { key, id, ...body }))
    return notFound
  }

  createServer((request, response) => {
    answer(request).then(
      (reply) => write(response, reply),
      (problem: Error) => write(response, { status: 500, body: { message: problem.message } }),
    )
  }).listen(Number(port), '127.0.0.1')
}

function write(response: ServerResponse, { status, body }: Reply) {
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

type Authorize = { key: string; merchantId: string; transactionId: string; amount: number; currency: string }

/** Nothing of the balance changes, so that it is not locked. */
async function authorize(say: Say, { key, merchantId, transactionId, amount, currency }: Authorize): Promise<Reply> {
  const source = await say<{ card: string; descriptor: string }>(
    'source',
    `select card, descriptor from transactions join merchants on merchants.id = merchant_id
     where merchant_id = $1 and transactions.id = $2 and key = $3`,
    ...[merchantId, transactionId, key],
  )
  if (!source) return notFound
  const id = mintId(tagOf(merchantId))
  await say(
    'authorize',
    `insert into transactions (merchant_id, id, created, currency, amount, card, source_id) values ($1, $2, $3, $4, $5, $6, $7)`,
    ...[merchantId, id, new Date(), currency, amount, source.card, transactionId],
  )
  return { status: 201, body: { transaction: { id } } }
}

type Capture = { key: string; id: string; amount: number }
type Row = { merchantId: string; currency: string; amount: number; captured: number; rate: number; flat: number }

async function capture(say: Say, { key, id, amount }: Capture): Promise<Reply> {
  const found = await say<Row>(
    'transaction',
    `select merchant_id as "merchantId", currency, amount::float8 as amount, captured::float8 as captured, rate, flat
     from transactions join merchants on merchants.id = merchant_id
     where transactions.id = $1 and key = $2 for update of transactions`,
    ...[id, key],
  )
  if (!found) return notFound
  const { merchantId, currency } = found
  if (found.captured + amount > found.amount) return { status: 400, body: [{ field: 'amount', message: 'Too much' }] }
  const before = await say<{ balance: number }>(
    'lock',
    'select balance::float8 as balance from balances where merchant_id = $1 for update',
    merchantId,
  )
  const [entryId, lineId, created] = [mintId(tagOf(merchantId)), mintId(tagOf(merchantId)), new Date()]
  const fee = Math.round(amount * found.rate) + found.flat
  await say(
    'take',
    'update transactions set captured = captured + $3 where merchant_id = $1 and id = $2',
    ...[merchantId, id, amount],
  )
  await say(
    'entry',
    'insert into trail (merchant_id, transaction_id, id, created, kind, amount, fee, line_id) values ($1, $2, $3, $4, $5, $6, $7, $8)',
    ...[merchantId, id, entryId, created, 'capture', amount, fee, lineId],
  )
  await say(
    'line',
    'insert into lines (merchant_id, id, created, balance, fee, amount, currency, transaction_id) values ($1, $2, $3, $4, $5, $6, $7, $8)',
    ...[merchantId, lineId, created, amount - fee, fee, amount, currency, id],
  )
  await say(
    'postings',
    `insert into postings (merchant_id, line_id, number, debit, credit, currency, amount)
     values ($1, $2, 1, 'acquirer', 'merchant', $3, $4), ($1, $2, 2, 'merchant', 'fees', $3, $5)`,
    ...[merchantId, lineId, currency, amount, fee],
  )
  const balance = (before?.balance ?? 0) + amount - fee
  await say('balance', 'update balances set balance = $2 where merchant_id = $1', ...[merchantId, balance])
  const captured = found.captured + amount
  const trail = [{ capture: true, amount, fee, lineId, created }]
  return { status: 201, body: { transaction: { id, merchantId, currency, amount: found.amount, captured, trail } } }
}

// One worker stands alone, like the services do it.
if (cluster.isPrimary && Number(workers) > 1) {
  for (let count = 0; count < Number(workers); count++) cluster.fork()
} else serve()
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
