import { createHash, randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
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

export type Shop = {
  appId: string
  authorization: string
  merchantId: string
  sources: string[]
  /** Where customers pay by themselves: another merchant. */
  website: { id: string; key: string }
}

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
  const about = { email: 'shop@shop.test', website: 'shop.test', descriptor: 'Shop', company: { country: 'DK' } }
  const found = async () =>
    (
      await make<{ merchant: { id: string; key: string } }>(
        '/merchants',
        { currency: 'EUR', test: true, ...about },
        { authorization },
      )
    ).merchant
  const [merchant, website] = [await found(), await found()]
  const sources = []
  for (const test of [{}, { acquirer: { latency: 15 } }]) {
    const payment = { amount: 100, currency: 'EUR', test }
    const made = await make<{ transaction: { id: string } }>(`/merchants/${merchant.id}/simulator/payments`, payment, {
      authorization,
    })
    sources.push(made.transaction.id)
  }
  return { appId: app.id, authorization, merchantId: merchant.id, sources, website }
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

/** Everything that so many assistants did until the shop closed; `history` has it as soon as it is done. */
export async function load(
  client: Client,
  shop: Shop,
  { assistants, isOpen, history = [] }: { assistants: number; isOpen(): boolean; history?: Wish[] },
) {
  await Promise.all(Array.from({ length: assistants }, () => serveCustomers(client, shop, history, isOpen)))
  return history
}

/** An order of a customer, whose amount nobody else's is. */
export type Purchase = { amount: number; order: Record<string, unknown>; tries: number; answer: { status: number; text: string } }

/** As the clients for browsers have it: an error in JSON is the last word, and everything else is tried again. */
async function insistOnDevice({ post }: Client, path: string, body: object) {
  for (let tries = 1; ; tries++) {
    const answer = await post(path, body, { 'accept-version': '1' })
    if (answer && answer.status < 500 && answer.status !== 429) return { tries, answer }
    await sleep(randomInt(20, 200))
  }
}

let nextAmount = 1000

/** A customer, who enters a card, goes through all that is asked, and begins anew until they are told that they have paid. */
async function buy(client: Client, { website }: Shop): Promise<Purchase> {
  const amount = nextAmount++
  const token = async (type: string, value: string) =>
    JSON.parse((await insistOnDevice(client, '/vault', { type, value })).answer.text)
  const order: Record<string, unknown> = {
    integration: { key: website.key },
    test: {
      tds: { challenge: false, fingerprint: 'unavailable' },
      ...(amount % 3 === 0 && { acquirer: { latency: 15 } }),
    },
    amount: { currency: 'EUR', exponent: 2, value: amount },
    card: { number: await token('pcn', '4100000000000000'), code: await token('pcsc', '123'), expiry: { month: 8, year: 2066 } },
    ...(amount % 2 === 0 && { plan }),
  }
  return { amount, order, ...(await walk(client, order)) }
}

const plan = [
  {
    amount: { currency: 'EUR', exponent: 2, value: 995 },
    repeat: { first: '2099-01-02T03:04:05Z', interval: { unit: 'month' } },
  },
]

/** The steps of a payment; what it is answered with in the end. */
async function walk(client: Client, order: object): Promise<Pick<Purchase, 'tries' | 'answer'>> {
  const hints: string[] = []
  let tries = 0
  for (;;) {
    const asked = await insistOnDevice(client, '/payments', { ...order, hints })
    tries += asked.tries - 1
    const [challenge] = asked.answer.status === 200 ? (JSON.parse(asked.answer.text).challenges ?? []) : []
    if (!challenge) return { tries: tries + 1, answer: asked.answer }
    const step = await insistOnDevice(client, challenge.path, { ...order, hints })
    tries += step.tries - 1
    if (step.answer.status !== 200) return { tries: tries + 1, answer: step.answer }
    hints.push(...JSON.parse(step.answer.text).hints)
  }
}

/** Everything that so many customers bought until the shop closed; `purchases` has it as soon as it is bought. */
export async function shopping(
  client: Client,
  shop: Shop,
  { customers, isOpen, purchases = [] }: { customers: number; isOpen(): boolean; purchases?: Purchase[] },
) {
  const customer = async () => {
    while (isOpen()) purchases.push(await buy(client, shop))
  }
  await Promise.all(Array.from({ length: customers }, customer))
  return purchases
}

/** Holds what customers were told against what is in the tables; whatever is in a list is wrong. */
export async function judgePurchases(sql: Sql, client: Client, { website }: Shop, purchases: readonly Purchase[]) {
  const rows = await sql<{ id: string; amount: number; state: string; agreed: boolean; planned: boolean }>`
    select id, amount, state,
      exists (select from pay.agreements where agreements.merchant_id = ${website.id} and agreements.transaction_id = id) as agreed,
      exists (select from pay.plans where plans.merchant_id = ${website.id} and plans.transaction_id = id) as planned
    from pay.transactions where merchant_id = ${website.id} and not recurring`
  const byAmount = Map.groupBy(rows, ({ amount }) => amount)
  const wrong: string[] = []
  for (const { amount, order, answer } of purchases) {
    const [row, ...more] = byAmount.get(amount) ?? []
    const expected = { id: row?.id, state: 'approved', agreed: 'plan' in order, planned: 'plan' in order, more: 0 }
    const found = { id: idIn(answer), state: row?.state, agreed: row?.agreed, planned: row?.planned, more: more.length }
    if (!isDeepStrictEqual(found, expected)) wrong.push(`${amount}: ${answer.text} ${JSON.stringify({ found, expected })}`)
  }
  const asked = new Set(purchases.map(({ amount }) => amount))
  return {
    purchases: purchases.length,
    triedAgain: purchases.filter(({ tries }) => tries > 1).length,
    wrong,
    unasked: rows.filter(({ amount }) => !asked.has(amount)).map((row) => JSON.stringify(row)),
    changed: await buyOnceMore(client, purchases),
  }
}

function idIn({ text }: Purchase['answer']): string | undefined {
  return JSON.parse(text).authorizationId
}

/** The same order is the same payment; what its code was spent on cannot be something else as well. */
async function buyOnceMore(client: Client, purchases: readonly Purchase[]): Promise<string[]> {
  const changed: string[] = []
  const asked = purchases.values()
  const ask = async () => {
    for (const { amount, order, answer } of asked) {
      const again = await walk(client, order)
      if (idIn(again.answer) !== idIn(answer)) changed.push(`${amount}: ${answer.text} then ${again.answer.text}`)
      const other = await walk(client, { ...order, text: 'Something else' })
      if (JSON.parse(other.answer.text).code !== 'TOKEN_INVALID')
        changed.push(`${amount}: its code opened again: ${other.answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, ask))
  return changed
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
