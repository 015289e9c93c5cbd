import type { History } from './history.ts'
import { askFor } from './http.ts'
import { bareWaitingPrefix, merchantCount, merchantId, price, sourceId, waitingPrefix } from './merchants.ts'
import { recordedCount } from './recordings.ts'
import { basic, inPairs, inTurns, numbered, numberHere, type Requests, requestText } from './requests.ts'
import { type Size, sizes, tenMillion } from './sizes.ts'
import { firstPage, type Shop, type Stage, usualHistory } from './stage.ts'
import type { Ready, Workload } from './workload.ts'

/** As in a shop's back office: more than that do not look at one list at once. */
const operators = 8

type Headers = Readonly<Record<string, string>>

const historySizes: readonly Size[] = [...sizes, tenMillion]

/** In the order of a round: what is compared stands side by side. */
export const paymentsWorkloads: readonly Workload[] = [
  {
    name: 'me',
    title: 'payments GET /me',
    pace: 2_000,
    bars: { statements: 0 },
    async prepare({ payments }) {
      const server = await payments()
      const { app } = await askFor<{ app: { key: string } }>(server.port, 'POST', '/apps', { json: { name: 'bench' } })
      return { server, requests: inTurns(requestText('GET', '/me', { headers: basic(app.key) })) }
    },
  },
  {
    name: 'pairs',
    title: 'payments authorise + capture, 1,000 merchants',
    pace: 300,
    bare: 'bare-pairs',
    bars: { statements: { most: 5 } },
    prepare: async ({ shops }) => pairs(await shops(), everyMerchant),
  },
  {
    name: 'bare-pairs',
    title: 'bare statements of authorise + capture',
    pace: 300,
    async prepare({ bareShops }) {
      const write = (given: string) => requestText('POST', '/capture', { json: { given } })
      return { server: await bareShops(), requests: inPairs([requestText('POST', '/authorize')], 24, write, '"made":"') }
    },
  },
  {
    name: 'pairs-one',
    title: 'payments authorise + capture, one merchant',
    pace: 300,
    compared: [{ with: 'pairs' }, { with: 'textbook', ratio: 3 }, { with: 'textbook-late' }],
    prepare: async ({ shops }) => pairs(await shops(), [0]),
  },
  {
    name: 'textbook',
    title: 'textbook authorise + capture, one merchant',
    pace: 300,
    prepare: async ({ textbook }) => pairs(await textbook(), [0]),
  },
  {
    name: 'textbook-late',
    title: 'textbook with a late lock, one merchant',
    pace: 300,
    prepare: async ({ lateTextbook }) => pairs(await lateTextbook(), [0]),
  },
  {
    name: 'capture',
    title: 'payments capture',
    pace: 300,
    bare: 'bare-capture',
    bars: { statements: { most: 2 } },
    async prepare({ shops }) {
      const { server, headers } = await shops()
      return { server, requests: numbered(captureText(`${waitingPrefix}${numberHere}`, headers)) }
    },
  },
  {
    name: 'bare-capture',
    title: 'bare statements of a capture',
    pace: 300,
    async prepare({ bareShops }) {
      const text = requestText('POST', '/capture', { json: { given: `${bareWaitingPrefix}${numberHere}` } })
      return { server: await bareShops(), requests: numbered(text, recordedCount + 1) }
    },
  },
  {
    name: 'replay',
    title: 'payments capture, repeated with its key',
    pace: 500,
    prepare: async ({ shops }) => {
      const shop = await shops()
      return { server: shop.server, requests: await repetitions(shop, 'bench') }
    },
  },
]

/** The same with few transactions and with many, and what goes through them. */
export const paymentsSizes: readonly Workload[] = [
  ...forSizes('pairs', 'payments authorise + capture', {
    pace: 300,
    prepare: async ({ history }, { rows }) => pairs(await history(rows), everyMerchant),
  }),
  ...forSizes('list-first', 'payments list of transactions, first page', {
    pace: 50,
    mostConnections: operators,
    bare: ({ rows }) => (rows === usualHistory ? 'bare-list' : undefined),
    prepare: (stage, { rows }) => list(stage, rows, () => ['']),
  }),
  {
    name: 'bare-list',
    title: 'bare statements of a list, first page',
    pace: 50,
    mostConnections: operators,
    prepare: async ({ bareHistory }) => ({ server: await bareHistory(), requests: inTurns(requestText('GET', '/list')) }),
  },
  ...forSizes('list-deep', 'payments list of transactions, 90 % down', {
    pace: 50,
    mostConnections: operators,
    // To take at most 1.2 times as long.
    compared: ({ name }) => [{ with: `list-first-${name}`, ratio: 1 / 1.2 }],
    prepare: (stage, { rows }) => list(stage, rows, ({ deep }) => deep.map((id) => `&before=${id}`)),
  }),
  ...forSizes('balance', 'payments balance, now', {
    pace: 100,
    mostConnections: operators,
    prepare: (stage, { rows }) => balance(stage, rows, ({ balance }) => ({ query: '', amount: balance })),
  }),
  {
    name: 'balance-past',
    title: 'payments balance, in the middle of 100,000 transactions',
    pace: 100,
    mostConnections: operators,
    prepare: (stage) =>
      balance(stage, usualHistory, ({ past }) => ({
        query: `?at=${encodeURIComponent(past.at.toISOString())}`,
        amount: past.balance,
      })),
  },
]

type Sized = Pick<Workload, 'pace' | 'mostConnections'> & {
  compared?(size: Size): Workload['compared']
  bare?(size: Size): string | undefined
  prepare(stage: Stage, size: Size): Promise<Ready>
}

/** The same on histories of every size; the largest is measured when it is asked for. */
function forSizes(family: string, title: string, { compared, bare, prepare, ...plain }: Sized): Workload[] {
  return historySizes.map((size) => {
    const [others, own] = [compared?.(size), bare?.(size)]
    return {
      ...plain,
      ...(others ? { compared: others } : {}),
      ...(own === undefined ? {} : { bare: own }),
      name: `${family}-${size.name}`,
      title: `${title}, ${size.title} transactions`,
      growth: { family, rows: size.rows },
      large: size === tenMillion,
      prepare: (stage: Stage) => prepare(stage, size),
    }
  })
}

function range(from: number, through: number): number[] {
  return Array.from({ length: through - from + 1 }, (_, index) => from + index)
}

const everyMerchant = range(1, merchantCount)

const captured = { amount: price.amount }

function authorization(number: number) {
  return { path: `/merchants/${merchantId(number)}/transactions`, json: { transactionId: sourceId(number), ...price } }
}

function captureText(id: string, headers: Headers): Buffer {
  return requestText('POST', `/transactions/${id}/captures`, { headers, json: captured })
}

function pairs({ server, headers }: Shop, merchants: readonly number[]): Ready {
  return { server, requests: pairRequests(headers, merchants) }
}

/** Every pair is of another merchant, in turns: an authorization and, when that is answered, its capture. */
export function pairRequests(headers: Headers, merchants: readonly number[] = everyMerchant): Requests {
  const firsts = merchants.map((number) => {
    const { path, json } = authorization(number)
    return requestText('POST', path, { headers, json })
  })
  return inPairs(firsts, 24, (id) => captureText(id, headers), '"id":"')
}

/** Captures that were made with a key, asked for again. */
export async function repetitions({ server: { port }, headers }: Shop, name: string): Promise<Requests> {
  const repeated: Buffer[] = []
  for (const number of range(1, 50)) {
    const { path, json } = authorization(number)
    const { transaction } = await askFor<{ transaction: { id: string } }>(port, 'POST', path, { headers, json })
    const keyed = { ...headers, 'Idempotency-Key': `${name}-${number}` }
    await askFor(port, 'POST', `/transactions/${transaction.id}/captures`, { headers: keyed, json: captured })
    repeated.push(captureText(transaction.id, keyed))
  }
  return inTurns(...repeated)
}

async function list({ history }: Stage, size: number, queries: (history: History) => readonly string[]): Promise<Ready> {
  const { server, headers, facts } = await history(size)
  const paths = queries(facts).map((query) => `${firstPage(facts)}${query}`)
  for (const each of paths) {
    const { length } = await askFor<unknown[]>(server.port, 'GET', each, { headers })
    if (length !== 50) throw new Error(`GET ${each} answered ${length} transactions instead of 50`)
  }
  return { server, requests: inTurns(...paths.map((each) => requestText('GET', each, { headers }))) }
}

type Balance = { balance: { amount: number } }

async function balance(
  { history }: Stage,
  size: number,
  what: (history: History) => { query: string; amount: number },
): Promise<Ready> {
  const { server, headers, facts } = await history(size)
  const { query, amount } = what(facts)
  const path = `/merchants/${facts.merchantId}/balance${query}`
  const told = await askFor<Balance>(server.port, 'GET', path, { headers })
  if (told.balance.amount !== amount) throw new Error(`GET ${path} answered ${told.balance.amount} instead of ${amount}`)
  return { server, requests: inTurns(requestText('GET', path, { headers })) }
}
