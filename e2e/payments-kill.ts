import { createHash, randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@tollgate/kit/db'

/** Something that a client wants done once, and keeps asking for until it is told what became of it. */
export type Wish = {
  kind: 'authorize' | 'capture' | 'refund' | 'void'
  key: string
  path: string
  body: { amount: number; [field: string]: unknown }
  /** Not for an authorization. */
  transactionId: string | undefined
  tries: number
  answer: { status: number; text: string }
}

export type Shop = { appId: string; authorization: string; merchantId: string; sources: string[] }

type Heard = { status: number; text: string } | undefined

export type Client = {
  /** Undefined where nobody answered. */
  post(path: string, body: object, headers?: Record<string, string>): Promise<Heard>
  close(): void
}

/** Over connections that are kept, as shops do: a process that dies takes many of them along. */
export function createClient(origin: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  return {
    async post(path, body, headers = {}) {
      const sent = request(`${origin}${path}`, {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        signal: AbortSignal.timeout(10_000),
      })
      try {
        sent.end(JSON.stringify(body))
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        const text = String(Buffer.concat(await response.toArray()))
        return { status: response.statusCode ?? 0, text }
      } catch {
        return undefined
      }
    },
    close: () => agent.destroy(),
  }
}

/** A test merchant and the payments that its customers made when they signed up: decided at once, and after a while. */
export async function openShop({ post }: Client): Promise<Shop> {
  const make = async <T>(path: string, body: object, headers?: Record<string, string>): Promise<T> => {
    const answer = await post(path, body, headers)
    if (answer?.status !== 201) throw new Error(`${path} was answered with ${answer?.status} ${answer?.text}`)
    return JSON.parse(answer.text)
  }
  const { app } = await make<{ app: { id: string; key: string } }>('/apps', {})
  const authorization = `Basic ${Buffer.from(`:${app.key}`).toString('base64')}`
  const { merchant } = await make<{ merchant: { id: string } }>(
    '/merchants',
    {
      currency: 'EUR',
      test: true,
      email: 'shop@shop.test',
      website: 'shop.test',
      descriptor: 'Shop',
      company: { country: 'DK' },
    },
    { authorization },
  )
  const sources = []
  for (const test of [{}, { acquirer: { latency: 15 } }]) {
    const payment = { amount: 100, currency: 'EUR', test }
    const made = await make<{ transaction: { id: string } }>(`/merchants/${merchant.id}/simulator/payments`, payment, {
      authorization,
    })
    sources.push(made.transaction.id)
  }
  return { appId: app.id, authorization, merchantId: merchant.id, sources }
}

/** Asks with the same key until there is an answer that is one: a lost connection, a 5xx and a 409 are none. */
async function insist(client: Client, shop: Shop, wish: Omit<Wish, 'tries' | 'answer'>): Promise<Wish> {
  const headers = { authorization: shop.authorization, 'idempotency-key': wish.key }
  for (let tries = 1; ; tries++) {
    const answer = await client.post(wish.path, wish.body, headers)
    if (answer && answer.status < 500 && answer.status !== 409) return { ...wish, tries, answer }
    await sleep(randomInt(20, 200))
  }
}

/** A shop assistant, who pays, captures, refunds and voids one payment after the other. */
async function serveCustomers(client: Client, shop: Shop, history: Wish[], isOpen: () => boolean): Promise<void> {
  const want = async (wish: Pick<Wish, 'kind' | 'path' | 'body' | 'transactionId'>) => {
    const granted = await insist(client, shop, { ...wish, key: randomUUID() })
    history.push(granted)
    return granted
  }
  while (isOpen()) {
    const transactionId = shop.sources[randomInt(shop.sources.length)] as string
    const paid = await want({
      kind: 'authorize',
      path: `/merchants/${shop.merchantId}/transactions`,
      body: { transactionId, currency: 'EUR', amount: 1000 },
      transactionId: undefined,
    })
    if (paid.answer.status !== 201) continue
    const id: string = JSON.parse(paid.answer.text).transaction.id
    const move = (kind: 'capture' | 'refund' | 'void', amount: number) =>
      want({ kind, path: `/transactions/${id}/${kind}s`, body: { amount }, transactionId: id })
    for (const amount of [300, 300, 300]) if (isOpen()) await move('capture', amount)
    for (const amount of [250, 250]) if (isOpen()) await move('refund', amount)
    if (isOpen()) await move('void', 100)
  }
}

/** Everything that so many assistants did until the shop closed. */
export async function load(client: Client, shop: Shop, { assistants, isOpen }: { assistants: number; isOpen(): boolean }) {
  const history: Wish[] = []
  await Promise.all(Array.from({ length: assistants }, () => serveCustomers(client, shop, history, isOpen)))
  return history
}

export type Judgement = {
  requests: number
  tries: number
  retried: number
  acknowledged: number
  captures: number
  /** Told to be done, and not there. */
  lost: string[]
  /** There, and nobody was told; or there twice. */
  doubled: string[]
  /** Answered in another way than with a success, though nothing stood against it. */
  refused: string[]
  /** Told otherwise when asked once more with the same key. */
  changed: string[]
}

type Entry = { id: string; kind: string; state: string; amount: number; transactionId: string; keyHash: string | null }

/** Holds what clients were told against what is in the tables. */
export async function judge(sql: Sql, client: Client, shop: Shop, history: readonly Wish[]): Promise<Judgement> {
  const entries = await sql<Entry>`
    select trail.id, kind, state, amount, trail.transaction_id as "transactionId", key_hash as "keyHash" from pay.trail
    left join pay.idempotency on owner_id = ${shop.appId} and entry_id = trail.id where trail.merchant_id = ${shop.merchantId}
    union all
    select id, 'authorize', case state when 'approved' then 'done' else state end, amount, id, key_hash from pay.transactions
    left join pay.idempotency on owner_id = ${shop.appId} and idempotency.transaction_id = transactions.id and entry_id is null
    where transactions.merchant_id = ${shop.merchantId} and not transactions.id = any(${shop.sources})`
  const byKey = Map.groupBy(entries, ({ keyHash }) => keyHash)
  const done = history.filter(({ answer }) => answer.status === 201)
  const lost = done.filter((wish) => !byKey.get(hashOf(wish))?.some((entry) => isOf(entry, wish)))
  const told = new Set(done.map(hashOf))
  const doubled = entries.filter(({ keyHash }) => keyHash === null || !told.has(keyHash) || byKey.get(keyHash)?.length !== 1)
  return {
    requests: history.length,
    tries: history.reduce((sum, { tries }) => sum + tries, 0),
    retried: history.filter(({ tries }) => tries > 1).length,
    acknowledged: done.length,
    captures: done.filter(({ kind }) => kind === 'capture').length,
    lost: lost.map(tell),
    doubled: doubled.map((entry) => JSON.stringify(entry)),
    refused: history.filter(({ answer }) => answer.status !== 201).map(tell),
    changed: await askOnceMore(client, shop, history),
  }
}

function hashOf({ key }: Wish): string {
  return createHash('sha256').update(key).digest('hex')
}

function isOf({ kind, state, amount, transactionId }: Entry, wish: Wish): boolean {
  const id = wish.transactionId ?? JSON.parse(wish.answer.text).transaction.id
  return kind === wish.kind && state === 'done' && amount === wish.body.amount && transactionId === id
}

/** One assistant at a time has had a payment, so that what it was told then is what it is told now, to the letter. */
async function askOnceMore(client: Client, shop: Shop, history: readonly Wish[]): Promise<string[]> {
  const changed: string[] = []
  const asked = history.values()
  const ask = async () => {
    for (const wish of asked) {
      const { answer } = await insist(client, shop, wish)
      if (answer.status !== wish.answer.status || answer.text !== wish.answer.text)
        changed.push(`${tell(wish)}\n  then ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, ask))
  return changed
}

const tell = ({ kind, key, path, tries, answer }: Wish) =>
  `${kind} ${key} ${path}, ${tries} tries: ${answer.status} ${answer.text}`

/** Transactions of which we and the simulator do not say the same, or of which a client would not. */
export async function findDifferences(sql: Sql, shop: Shop, history: readonly Wish[]): Promise<string[]> {
  type Sums = { id: string; ours: string; theirs: string }
  const rows = await sql<Sums>`
    select id, captured || ' ' || refunded || ' ' || voided as ours,
      coalesce((select
        coalesce(sum(amount) filter (where kind = 'capture'), 0) || ' ' || coalesce(sum(amount) filter (where kind = 'refund'), 0) || ' ' ||
        coalesce(sum(amount) filter (where kind = 'void'), 0)
       from pay.simulator_operations
       where merchant_id = transactions.merchant_id and authorization_reference = transactions.id and approved), '0 0 0') as theirs
    from pay.transactions where merchant_id = ${shop.merchantId}`
  const moved = Map.groupBy(
    history.filter(({ answer }) => answer.status === 201),
    ({ transactionId }) => transactionId,
  )
  return rows.flatMap(({ id, ours, theirs }) => {
    const wishes = moved.get(id) ?? []
    const sum = (kind: Wish['kind']) =>
      wishes.filter((wish) => wish.kind === kind).reduce((total, { body }) => total + body.amount, 0)
    const told = `${sum('capture')} ${sum('refund')} ${sum('void')}`
    return ours === theirs && ours === told ? [] : [`${id}: we have ${ours}, the simulator ${theirs}, clients were told ${told}`]
  })
}
