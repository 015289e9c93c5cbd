import type { History } from './history.ts'
import { askFor } from './http.ts'
import { merchantCount, merchantId, price, sourceId, waitingPrefix } from './merchants.ts'
import { basic, inPairs, inTurns, numbered, numberHere, type Requests, requestText } from './requests.ts'
import type { Stage } from './stage.ts'
import type { Ready, Workload } from './workload.ts'

/** As in a shop's back office: more than that do not look at one list at once. */
const operators = 8

type Headers = Readonly<Record<string, string>>

/** In the order of a round: what is compared stands side by side. */
export const paymentsWorkloads: readonly Workload[] = [
  {
    name: 'me',
    title: 'payments GET /me',
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
    bars: { statements: { most: 5 } },
    prepare: ({ shops }) => pairs(shops, range(1, merchantCount)),
  },
  {
    name: 'pairs-one',
    title: 'payments authorise + capture, one merchant',
    compared: [{ with: 'pairs', ratio: 0.9 }, { with: 'textbook', ratio: 3 }, { with: 'textbook-late' }],
    prepare: ({ shops }) => pairs(shops, [0]),
  },
  {
    name: 'textbook',
    title: 'textbook authorise + capture, one merchant',
    prepare: ({ textbook }) => pairs(textbook, [0]),
  },
  {
    name: 'textbook-late',
    title: 'textbook with a late lock, one merchant',
    prepare: ({ lateTextbook }) => pairs(lateTextbook, [0]),
  },
  {
    name: 'pairs-rate',
    title: 'payments authorise + capture, 300 pairs/s',
    rate: 300,
    // Beyond that it is a queue that is measured, not a service.
    within: { share: 0.6, of: 'pairs' },
    prepare: ({ shops }) => pairs(shops, range(1, merchantCount)),
  },
  {
    name: 'capture',
    title: 'payments capture',
    bars: { statements: { most: 2 } },
    async prepare({ shops }) {
      const { server, headers } = await shops()
      return { server, requests: numbered(captureText(`${waitingPrefix}${numberHere}`, headers)) }
    },
  },
  {
    name: 'replay',
    title: 'payments capture, repeated with its key',
    async prepare({ shops }) {
      const { server, headers } = await shops()
      const { port } = server
      const repeated: Buffer[] = []
      for (const number of range(1, 50)) {
        const { path, json } = authorization(number)
        const { transaction } = await askFor<{ transaction: { id: string } }>(port, 'POST', path, { headers, json })
        const keyed = { ...headers, 'Idempotency-Key': `bench-${number}` }
        await askFor(port, 'POST', `/transactions/${transaction.id}/captures`, { headers: keyed, json: captured })
        repeated.push(captureText(transaction.id, keyed))
      }
      return { server, requests: inTurns(...repeated) }
    },
  },
  {
    name: 'list-first',
    title: 'payments list of transactions, first page',
    mostConnections: operators,
    prepare: (stage) => list(stage, () => ['']),
  },
  {
    name: 'list-deep',
    title: 'payments list of transactions, 90 % down',
    mostConnections: operators,
    // To take at most 1.2 times as long.
    compared: [{ with: 'list-first', ratio: 1 / 1.2 }],
    prepare: (stage) => list(stage, ({ deep }) => deep.map((id) => `&before=${id}`)),
  },
  {
    name: 'balance',
    title: 'payments balance, now',
    mostConnections: operators,
    prepare: (stage) => balance(stage, ({ balance }) => ({ query: '', amount: balance })),
  },
  {
    name: 'balance-past',
    title: 'payments balance, in the middle',
    mostConnections: operators,
    prepare: (stage) =>
      balance(stage, ({ past }) => ({ query: `?at=${encodeURIComponent(past.at.toISOString())}`, amount: past.balance })),
  },
]

function range(from: number, through: number): number[] {
  return Array.from({ length: through - from + 1 }, (_, index) => from + index)
}

const captured = { amount: price.amount }

function authorization(number: number) {
  return { path: `/merchants/${merchantId(number)}/transactions`, json: { transactionId: sourceId(number), ...price } }
}

function captureText(id: string, headers: Headers): Buffer {
  return requestText('POST', `/transactions/${id}/captures`, { headers, json: captured })
}

/** Every pair is of another merchant, in turns: an authorization and, when that is answered, its capture. */
async function pairs(start: Stage['shops'], merchants: readonly number[]): Promise<Ready> {
  const { server, headers } = await start()
  const firsts = merchants.map((number) => {
    const { path, json } = authorization(number)
    return requestText('POST', path, { headers, json })
  })
  const requests: Requests = inPairs(firsts, 24, (id) => captureText(id, headers), '"id":"')
  return { server, requests }
}

async function list({ history }: Stage, queries: (history: History) => readonly string[]): Promise<Ready> {
  const { server, headers, facts } = await history()
  const path = `/merchants/${facts.merchantId}/transactions?limit=50`
  const paths = queries(facts).map((query) => `${path}${query}`)
  for (const each of paths) {
    const { length } = await askFor<unknown[]>(server.port, 'GET', each, { headers })
    if (length !== 50) throw new Error(`GET ${each} answered ${length} transactions instead of 50`)
  }
  return { server, requests: inTurns(...paths.map((each) => requestText('GET', each, { headers }))) }
}

type Balance = { balance: { amount: number } }

async function balance({ history }: Stage, what: (history: History) => { query: string; amount: number }): Promise<Ready> {
  const { server, headers, facts } = await history()
  const { query, amount } = what(facts)
  const path = `/merchants/${facts.merchantId}/balance${query}`
  const told = await askFor<Balance>(server.port, 'GET', path, { headers })
  if (told.balance.amount !== amount) throw new Error(`GET ${path} answered ${told.balance.amount} instead of ${amount}`)
  return { server, requests: inTurns(requestText('GET', path, { headers })) }
}
