import { usualAccounts } from './accounts.ts'
import { passwordGrants, people, refreshes, signups } from './identity-workloads.ts'
import { merchantId } from './merchants.ts'
import { pairRequests, repetitions } from './payments-workloads.ts'
import { inTurns, mixed, type Requests, requestText } from './requests.ts'
import type { Stage } from './stage.ts'
import type { Workload } from './workload.ts'

const identity = 0
const payments = 1

/** Of a thousand requests of an ordinary day so many are of each kind; an authorisation and its capture are one. */
export const shares = {
  user: 400,
  refresh: 200,
  settings: 50,
  password: 10,
  signup: 5,
  'admin list': 5,
  pairs: 150,
  'transactions of a merchant': 70,
  'app (GET /me)': 60,
  'balance of a merchant': 40,
  'repeated capture': 10,
} as const

/** Both services at once on one machine, as a small installation has them. */
export const mixedDay: Workload = {
  name: 'mixed',
  title: 'both services, an ordinary day',
  pace: 300,
  async prepare(stage) {
    const { accounts, shops } = stage
    const [server, shop] = [await accounts(), await shops()]
    return { server, others: [shop.server], requests: await requestsOfTheDay(stage) }
  },
}

async function requestsOfTheDay({ accounts, shops, lookers, connections, adminHeaders }: Stage): Promise<Requests> {
  const [server, shop] = [await accounts(), await shops()]
  const { headers } = shop
  const merchants = Array.from({ length: 100 }, (_, index) => merchantId(index + 1))
  const get = (paths: readonly string[], given: Readonly<Record<string, string>> = {}) =>
    inTurns(...paths.map((path) => requestText('GET', path, { headers: given })))
  const parts: Record<keyof typeof shares, { server: number; requests: Requests }> = {
    user: { server: identity, requests: await lookers(usualAccounts) },
    refresh: { server: identity, requests: refreshes(people.mixed, connections) },
    settings: { server: identity, requests: get(['/settings']) },
    password: { server: identity, requests: await passwordGrants(server, 'mixed') },
    signup: { server: identity, requests: signups('mixed-newcomer') },
    'admin list': { server: identity, requests: get(['/admin/users?page=1&per_page=50'], adminHeaders) },
    pairs: { server: payments, requests: pairRequests(headers) },
    'transactions of a merchant': {
      server: payments,
      requests: get(
        merchants.map((id) => `/merchants/${id}/transactions?limit=50`),
        headers,
      ),
    },
    'app (GET /me)': { server: payments, requests: get(['/me'], headers) },
    'balance of a merchant': {
      server: payments,
      requests: get(
        merchants.map((id) => `/merchants/${id}/balance`),
        headers,
      ),
    },
    'repeated capture': { server: payments, requests: await repetitions(shop, 'mixed') },
  }
  const named = Object.entries(shares) as [keyof typeof shares, number][]
  return mixed(named.map(([name, share]) => ({ share, ...parts[name] })))
}
