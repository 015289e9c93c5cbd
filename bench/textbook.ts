import cluster from 'node:cluster'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { systemClock } from '@tollgate/kit/clock'
import { createIds, tagOf } from '@tollgate/kit/id'
import pg from 'pg'

/**
 * What a payments service has to beat: the two calls as textbooks write them, on the tables of the service. Whoever changes a balance begins
 * a transaction, locks the balance, looks, writes the same rows as the service and commits, one statement after the other. Prepared
 * statements, a pool, and nothing that slows it down on purpose; it checks less than a service must and answers with less.
 */
const { BARE_PORT: port, DATABASE_URL: url, POOL_SIZE: poolSize, WORKERS: workers, TEXTBOOK_LOCK: lock } = process.env

/** Textbooks lock first and look then, whatever is going to change; the cleverest of them lock as late and as little as they can. */
const locksFirst = lock !== 'late'

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

const member = `exists (select from pay.members join pay.apps on apps.id = identity_id
  where members.merchant_id = merchants.id and key_hash = sha256(convert_to($1, 'UTF8')))`

/** What is reserved is a part of the balance that is kept apart. */
async function authorize(say: Say, { key, merchantId, transactionId, amount, currency }: Authorize): Promise<Reply> {
  const before = locksFirst ? await lockBalance(say, merchantId) : undefined
  const merchant = await say<{ descriptor: string }>(
    'merchant',
    `select descriptor from pay.merchants where id = $2 and ${member}`,
    ...[key, merchantId],
  )
  if (!merchant) return notFound
  const source = await say<{ bin: string; last4: string; expiry: Date; scheme: string }>(
    'source',
    `select card_bin as bin, card_last4 as last4, card_expiry as expiry, card_scheme as scheme from pay.transactions
     where merchant_id = $1 and id = $2 and state = 'approved'`,
    ...[merchantId, transactionId],
  )
  if (!source) return notFound
  const [id, created] = [mintId(tagOf(merchantId)), new Date()]
  await say(
    'authorize',
    `insert into pay.transactions (merchant_id, id, created, test, state, currency, amount, capturable, descriptor, recurring, card_bin,
       card_last4, card_expiry, card_scheme, card_code_present, source_id, acquirer, acquirer_reference)
     values ($1, $2, $3, true, 'approved', $4, $5, $5, $6, true, $7, $8, $9, $10, false, $11, 'simulator', $2)`,
    ...[merchantId, id, created, currency, amount, merchant.descriptor],
    ...[source.bin, source.last4, source.expiry, source.scheme, transactionId],
  )
  await say(
    'authorized',
    `insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
     values ($1, $2, $2, 'authorize', $3, $4, true, $5)`,
    ...[merchantId, id, amount, currency, created],
  )
  if (before)
    await say('reserve', 'update balances set reserved = $2 where merchant_id = $1', ...[merchantId, before.reserved + amount])
  return { status: 201, body: { transaction: { id } } }
}

type Balance = { balance: number; reserved: number }

function lockBalance(say: Say, merchantId: string): Promise<Balance | undefined> {
  const text = 'select balance::float8 as balance, reserved::float8 as reserved from balances where merchant_id = $1 for update'
  return say<Balance>('lock', text, merchantId)
}

type Capture = { key: string; id: string; amount: number }
type Row = { merchantId: string; currency: string; capturable: number; entries: number; descriptor: string }

async function capture(say: Say, { key, id, amount }: Capture): Promise<Reply> {
  const owner = locksFirst
    ? await say<{ id: string }>('owner', 'select merchant_id as id from pay.transactions where id = $1', id)
    : undefined
  const first = owner && (await lockBalance(say, owner.id))
  const found = await say<Row>(
    'transaction',
    `select merchant_id as "merchantId", transactions.currency, capturable::float8 as capturable, entries, transactions.descriptor
     from pay.transactions join pay.merchants on merchants.id = merchant_id
     where transactions.id = $2 and ${member} for update of transactions`,
    ...[key, id],
  )
  if (!found) return notFound
  const { merchantId, currency } = found
  if (amount > found.capturable) return { status: 400, body: [{ field: 'amount', message: 'Too much' }] }
  const price = await say<{ rate: number; flat: number }>(
    'price',
    `select rate::float8 as rate, flat_amount::float8 as flat from pay.prices where merchant_id = $1 order by since desc limit 1`,
    merchantId,
  )
  const before = first ?? (await lockBalance(say, merchantId))
  const [entryId, lineId, created] = [mintId(tagOf(merchantId)), mintId(tagOf(merchantId)), new Date()]
  const [rate, flat] = [Math.round(amount * (price?.rate ?? 0)), price?.flat ?? 0]
  const balance = amount - rate - flat
  await say(
    'take',
    `update pay.transactions set capturable = capturable - $3, captured = captured + $3, refundable = refundable + $3,
       captured_gross = captured_gross + $3, captured_rate_fee = captured_rate_fee + $4, entries = entries + 1,
       settlements = settlements + 1
     where merchant_id = $1 and id = $2`,
    ...[merchantId, id, amount, rate],
  )
  await say(
    'entry',
    `insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount, gross, fee_flat, fee_rate, balance,
       descriptor, line_id, acquirer_reference, settled, settlement)
     values ($1, $2, $3, $4, 'capture', 'done', $5, $6, $6, $7, $8, $9, $10, $11, $3, $5, $4)`,
    ...[merchantId, id, entryId, found.entries + 1, created, amount, flat, rate, balance, found.descriptor, lineId],
  )
  await say(
    'line',
    `insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
     values ($1, $2, $3, true, 'capture', $4, $5, $6, $7, $8)`,
    ...[merchantId, lineId, created, balance, rate + flat, amount, currency, id],
  )
  await say(
    'postings',
    `insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
     values ($1, $2, 1, 'acquirer', 'merchant', $3, $4), ($1, $2, 2, 'merchant', 'fees', $3, $5)`,
    ...[merchantId, lineId, currency, amount, rate + flat],
  )
  await say(
    'captured',
    `insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
     values ($1, $2, $3, 'capture', $4, $5, true, $6)`,
    ...[merchantId, entryId, id, amount, currency, created],
  )
  const reserved = (before?.reserved ?? 0) - (locksFirst ? amount : 0)
  await say(
    'balance',
    'update balances set balance = $2, reserved = $3 where merchant_id = $1',
    ...[merchantId, (before?.balance ?? 0) + balance, reserved],
  )
  const trail = [{ capture: true, amount, fee: { flat, rate }, balance, lineId, created }]
  return { status: 201, body: { transaction: { id, merchantId, currency, pendingAmount: found.capturable - amount, trail } } }
}

// One worker stands alone, like the services do it.
if (cluster.isPrimary && Number(workers) > 1) {
  for (let count = 0; count < Number(workers); count++) cluster.fork()
} else serve()
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
