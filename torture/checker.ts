import { type Exchange, hashOf, outcomeOf } from './history.ts'

type Kind = 'authorize' | 'capture' | 'refund' | 'void'

/** An authorization or a movement as it stands in the tables. */
export type Row = {
  id: string
  kind: string
  state: 'done' | 'failed' | 'pending'
  amount: number
  transactionId: string
  keyHash: string | null
}

export type Sums = { captured: number; refunded: number; voided: number }

/** What is in the database when all is over. */
export type Books = {
  /** Of the merchant that programs deal with. */
  rows: readonly Row[]
  totals: readonly ({ id: string; amount: number } & Sums)[]
  /** What the acquirer has done, by its own record. */
  acquirer: readonly ({ id: string } & Sums)[]
  /** What customers have paid to the merchant that they deal with. */
  payments: readonly { id: string; amount: number; state: 'done' | 'failed' | 'pending' }[]
  /** Security codes that could still be opened. */
  securityCodes: number
  /** What `tollgate payments verify` had to say, where it was not content. */
  complaint: string | undefined
}

/** Something that a client wanted done once, by its key. */
type Deed = { key: string; kind: Kind; amount: number; on: string | undefined; exchanges: Exchange[] }

/** An order of a customer, however often it was sent. */
type Order = { amount: number; exchanges: Exchange[] }

type Case = { history: readonly Exchange[]; deeds: Deed[]; orders: Order[]; books: Books; rowsByKey: Map<string | null, Row[]> }

/** What must hold, and how to find where it does not. */
const rules = {
  'an answer was a 500': ({ history }) => history.filter(({ answer }) => answer?.status === 500).map(tellExchange),

  'nobody got an answer': ({ deeds, orders }) => [
    ...deeds.filter((deed) => outcomeOf(lastOf(deed)) === 'unknown').map(tellDeed),
    ...orders.filter((order) => outcomeOf(lastOf(order)) === 'unknown').map(tellOrder),
  ],

  'something was acknowledged and is lost': ({ deeds, rowsByKey }) =>
    deeds
      .filter((deed) => {
        const done = deed.exchanges.find((exchange) => outcomeOf(exchange) === 'done')
        return done !== undefined && !rowsByKey.get(hashOf(deed.key))?.some((row) => isOf(row, deed, done))
      })
      .map(tellDeed),

  'something was declined and is done': ({ deeds, rowsByKey }) =>
    deeds
      .filter(({ exchanges }) => exchanges.some((exchange) => outcomeOf(exchange) === 'declined'))
      .filter(({ key }) => rowsByKey.get(hashOf(key))?.some(({ state }) => state === 'done'))
      .map(tellDeed),

  'something was refused and is done': ({ deeds, rowsByKey }) =>
    deeds.filter((deed) => outcomeOf(lastOf(deed)) === 'refused' && rowsByKey.has(hashOf(deed.key))).map(tellDeed),

  'something was refused without a reason': ({ deeds, books }) => {
    const totals = new Map(books.totals.map((each) => [each.id, each]))
    return deeds
      .filter((deed) => outcomeOf(lastOf(deed)) === 'refused')
      .filter(({ kind, amount, on }) => amount <= mostOf(kind, totals.get(on ?? '')))
      .map(tellDeed)
  },

  'one key is in the books twice': ({ rowsByKey }) =>
    [...rowsByKey].filter(([hash, rows]) => hash !== null && rows.length > 1).map(([, rows]) => JSON.stringify(rows)),

  'something is in the books that nobody asked for': ({ deeds, rowsByKey }) => {
    const asked = new Set(deeds.map(({ key }) => hashOf(key)))
    return [...rowsByKey].filter(([hash]) => hash === null || !asked.has(hash)).map(([, rows]) => JSON.stringify(rows))
  },

  'one key was answered in two ways': ({ deeds }) => deeds.filter(({ exchanges }) => wordsOf(exchanges).size > 1).map(tellDeed),

  'what was settled was unsettled': ({ deeds }) => deeds.filter(({ exchanges }) => isTakenBack(exchanges)).map(tellDeed),

  'something is still open': ({ books }) =>
    [...books.rows, ...books.payments].filter(({ state }) => state === 'pending').map((row) => JSON.stringify(row)),

  'the sums of a transaction do not fit': ({ deeds, books }) => {
    const acquirer = new Map(books.acquirer.map((each) => [each.id, each]))
    const moves = Map.groupBy(
      deeds.filter(({ exchanges }) => exchanges.some((exchange) => outcomeOf(exchange) === 'done')),
      ({ on }) => on,
    )
    const entries = Map.groupBy(
      books.rows.filter(({ state }) => state === 'done'),
      ({ transactionId }) => transactionId,
    )
    return books.totals.flatMap((total) => {
      const { id, amount } = total
      const ours = tellSums(total)
      const others = {
        entries: tellSums(sumsOf(entries.get(id) ?? [])),
        acquirer: tellSums(acquirer.get(id) ?? sumsOf([])),
        told: tellSums(sumsOf(moves.get(id) ?? [])),
      }
      const fits = Object.values(others).every((each) => each === ours)
      const tooMuch = total.captured + total.voided > amount || total.refunded > total.captured
      return fits && !tooMuch ? [] : [`${id} of ${amount}: ours ${ours}, ${JSON.stringify(others)}`]
    })
  },

  // Customers of these runs have cards that work.
  'an order was refused': ({ orders }) =>
    orders
      .filter(({ exchanges }) => exchanges.some((exchange) => ['declined', 'refused'].includes(outcomeOf(exchange))))
      .map(tellOrder),

  'an order was answered in two ways': ({ orders }) =>
    orders.filter(({ exchanges }) => paidIn(exchanges).size > 1).map(tellOrder),

  'an order was acknowledged and is lost': ({ orders, books }) =>
    orders
      .filter(({ amount, exchanges }) =>
        [...paidIn(exchanges)].some(
          (paid) => !books.payments.some(({ id, amount: own, state }) => id === paid && own === amount && state === 'done'),
        ),
      )
      .map(tellOrder),

  'an order was paid twice': ({ orders, books }) =>
    orders
      .filter(({ amount }) => books.payments.filter((each) => each.amount === amount && each.state === 'done').length > 1)
      .map(tellOrder),

  'something was paid that nobody ordered': ({ orders, books }) => {
    const ordered = new Set(orders.map(({ amount }) => amount))
    return books.payments.filter(({ amount }) => !ordered.has(amount)).map((payment) => JSON.stringify(payment))
  },

  'a security code outlived its payment': ({ history, books }) => {
    const made = history.filter(({ path, body }) => path === '/vault' && body.type === 'pcsc').length
    const spent = books.payments.length
    return books.securityCodes <= made - spent
      ? []
      : [`${books.securityCodes} are left of ${made}, though ${spent} were paid with`]
  },

  'the books are not clean': ({ books }) => (books.complaint === undefined ? [] : [books.complaint]),
} as const satisfies Record<string, (given: Case) => string[]>

export type Rule = keyof typeof rules

export type Finding = { rule: Rule; what: string }

/** Reads all that clients said and heard, and the database in the end; whatever is in the list should not be. */
export function check(history: readonly Exchange[], books: Books): Finding[] {
  const rowsByKey = Map.groupBy(books.rows, ({ keyHash }) => keyHash)
  const given = { history, deeds: deedsOf(history), orders: ordersOf(history), books, rowsByKey }
  return Object.entries(rules).flatMap(([rule, find]) => find(given).map((what) => ({ rule: rule as Rule, what })))
}

function kindOf(path: string): Kind | undefined {
  const [, on, word = ''] =
    /^\/(transactions|merchants)\/[^/]+\/(captures|refunds|voids|transactions|simulator\/payments)$/.exec(path) ?? []
  return on === 'merchants' ? 'authorize' : kinds[word]
}

const kinds: Record<string, Kind> = { captures: 'capture', refunds: 'refund', voids: 'void' }

function deedsOf(history: readonly Exchange[]): Deed[] {
  const byKey = Map.groupBy(
    history.filter(({ key, path }) => key !== undefined && kindOf(path) !== undefined),
    ({ key }) => key as string,
  )
  return [...byKey].map(([key, exchanges]) => {
    const { path, body } = exchanges[0] as Exchange
    const kind = kindOf(path) as Kind
    const on = kind === 'authorize' ? undefined : path.split('/')[2]
    return { key, kind, amount: Number(body.amount), on, exchanges }
  })
}

/** Orders have amounts of their own, so that they can be told apart in the tables. */
function ordersOf(history: readonly Exchange[]): Order[] {
  const amountOf = ({ body }: Exchange) => (body.amount as { value: number }).value
  // What is ordered with somebody else's security code is meant to fail.
  const ordered = history.filter(({ path, body }) => path.startsWith('/payments') && body.text === undefined)
  return [...Map.groupBy(ordered, amountOf)].map(([amount, exchanges]) => ({ amount, exchanges }))
}

function paidIn(exchanges: readonly Exchange[]): Set<string> {
  const ids = exchanges
    .filter((exchange) => outcomeOf(exchange) === 'done')
    .map(({ answer }) => JSON.parse(answer?.text ?? '{}').authorizationId as string | undefined)
  return new Set(ids.filter((id) => id !== undefined))
}

const lastOf = ({ exchanges }: { exchanges: Exchange[] }) => exchanges.at(-1) as Exchange

function isOf(row: Row, { kind, amount, on }: Deed, { answer }: Exchange): boolean {
  const id = on ?? JSON.parse(answer?.text ?? '{}').transaction?.id
  return row.kind === kind && row.state === 'done' && row.amount === amount && row.transactionId === id
}

const isSettled = (exchange: Exchange) => ['done', 'declined'].includes(outcomeOf(exchange))

/** What was said where something was settled: to the letter the same, however often. */
function wordsOf(exchanges: readonly Exchange[]): Set<string> {
  return new Set(exchanges.filter(isSettled).map(({ answer }) => `${answer?.status} ${answer?.text}`))
}

/** Whether somebody who asked after it was settled was told that it is under way, or cannot be. */
function isTakenBack(exchanges: readonly Exchange[]): boolean {
  const settled = Math.min(...exchanges.filter(isSettled).map(({ heard }) => heard))
  const isDenial = (exchange: Exchange) => exchange.answer !== undefined && exchange.answer.status < 500 && !isSettled(exchange)
  return exchanges.some((exchange) => exchange.sent > settled && isDenial(exchange))
}

/** What can still be taken of a transaction. */
function mostOf(kind: Kind, total: Books['totals'][number] | undefined): number {
  if (kind === 'authorize' || !total) return Number.POSITIVE_INFINITY
  return kind === 'refund' ? total.captured - total.refunded : total.amount - total.captured - total.voided
}

function sumsOf(moves: readonly { kind: string; amount: number }[]): Sums {
  const sum = (wanted: Kind) => moves.filter(({ kind }) => kind === wanted).reduce((total, { amount }) => total + amount, 0)
  return { captured: sum('capture'), refunded: sum('refund'), voided: sum('void') }
}

const tellSums = ({ captured, refunded, voided }: Sums) => `${captured} ${refunded} ${voided}`

const tellExchange = ({ path, key, body, sent, heard, answer }: Exchange) =>
  `${sent.toFixed(0)}–${heard.toFixed(0)} ms ${path} ${key ?? ''} ${JSON.stringify(body)}: ${answer ? `${answer.status} ${answer.text}` : 'no answer'}`

const tellAll = (title: string, exchanges: readonly Exchange[]) => [title, ...exchanges.map(tellExchange)].join('\n    ')

const tellDeed = ({ key, kind, amount, exchanges }: Deed) => tellAll(`${kind} ${amount} by ${key}`, exchanges)

const tellOrder = ({ amount, exchanges }: Order) => tellAll(`order of ${amount}`, exchanges)
