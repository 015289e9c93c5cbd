import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@tollgate/kit/db'
import type { Cleanup } from '../bench/cleanup.ts'
import { type Client, createClient, judgePurchases, openShop, shopping } from '../e2e/payments-kill.ts'
import { countOpen, readBooks } from './books.ts'
import { check } from './checker.ts'
import type { ProxyTally } from './fault-proxy.ts'
import { faults } from './faults.ts'
import { type Exchange, NobodyAnswers, outcomeOf, recorded } from './history.ts'
import { askOnceMore, type Store, serveCustomers } from './load.ts'
import { createRandom } from './random.ts'
import { type FaultName, faultNames, type Strike, schedule } from './schedule.ts'
import { type Stage, setStage } from './stage.ts'

export type Torture = {
  seed: number
  /** For how long things go wrong. */
  seconds: number
  faults: readonly FaultName[]
  /** Milliseconds that a fault lasts at most. */
  longest: number
  program: string
  workers: number
  assistants: number
  customers: number
  crowds: boolean
  /** Milliseconds that a client waits before every request. */
  pause: number
  /** Is told of every strike when it happens. */
  tell?(moment: number, strike: Strike): void
}

export type Report = {
  findings: { rule: string; what: string }[]
  strikes: Record<FaultName, number>
  proxy: ProxyTally
  service: { starts: number; failedStarts: number; killed: number }
  /** How often each complaint was in the log of the service. */
  trouble: Record<string, number>
  figures: Record<'requests' | 'unanswered' | 'keys' | 'asked again' | 'done' | 'declined' | 'refused' | 'purchases', number>
  history: readonly Exchange[]
  log: string
}

/** How long everything may take to come to rest when nothing goes wrong any more. */
const restPatience = 60_000

/** How much longer a run may become so that every fault is felt. */
const grace = 30_000

/** Load, faults, rest, and a look at what is left. */
export async function torture(options: Torture, cleanup: Cleanup): Promise<Report> {
  const stage = await setStage(options, cleanup)
  const { service, proxy } = stage
  await service.start()
  const plain = createClient(service.origin)
  cleanup.later(() => plain.close())
  const store: Store = await openShop(plain)

  const began = performance.now()
  const now = () => performance.now() - began
  const history: Exchange[] = []
  const end = options.seconds * 1000 + grace + restPatience * 2
  const client = recorded(plain, history, { now, pause: options.pause, end })
  const random = createRandom(options.seed)
  let closed = false
  const isOpen = () => !closed
  const assistants = Array.from({ length: options.assistants }, () =>
    serveCustomers({ client, store, random: random.fork(), crowds: options.crowds, isOpen }),
  )
  const buying = shopping(client, store, { customers: options.customers, isOpen })
  const loading = Promise.all([buying, ...assistants])
  // Whoever gives up is heard below; until then it is nobody's unhandled rejection.
  loading.catch(() => {})

  const strikes = await strike(stage, options, now)
  closed = true
  stage.calm()
  const sql = await stage.openSql()
  const findings: Report['findings'] = []
  let purchases = 0
  try {
    const [bought] = await loading
    purchases = bought.length
    await untilRest(sql)
    await askOnceMore(client, store, history, random)
    await untilRest(sql)
    findings.push(...(await judgeBuying(sql, client, store, bought)))
  } catch (problem) {
    if (!(problem instanceof NobodyAnswers)) throw problem
    findings.push({ rule: 'the service did not come back', what: problem.message })
  }
  const books = { ...(await readBooks(sql, store)), complaint: await stage.verify() }
  findings.push(...service.deaths.map((what) => ({ rule: 'a process ended by itself', what })))
  findings.push(...check(history, books))
  return {
    findings,
    strikes,
    proxy: proxy.tally,
    service: service.tally,
    trouble: Object.fromEntries(service.trouble),
    figures: figuresOf(history, purchases),
    history,
    log: `${stage.folder}/service.log`,
  }
}

/** Until time is up, and every chosen fault has been felt once at least. */
async function strike(stage: Stage, options: Torture, now: () => number): Promise<Report['strikes']> {
  const strikes = Object.fromEntries(faultNames.map((name) => [name, 0])) as Report['strikes']
  const { tally } = stage.proxy
  const isFelt = (name: FaultName) =>
    ({
      ...strikes,
      ...{ cut: tally.cut, refuse: tally.refused, stall: tally.stalled, dribble: tally.dribbledBytes },
      ...{ commit: tally.lostCommits, answer: tally.lostAnswers },
    })[name] > 0
  const end = options.seconds * 1000
  for (const each of schedule(options.seed, options.faults, options.longest)) {
    await sleep(each.pause)
    if (now() > end + grace || (now() > end && options.faults.every(isFelt))) break
    options.tell?.(now(), each)
    strikes[each.fault]++
    await faults[each.fault](stage, each)
  }
  return strikes
}

/** Until the acquirer has answered for everything. What is left open by then is for the checker to find. */
async function untilRest(sql: Db): Promise<void> {
  for (const deadline = performance.now() + restPatience; performance.now() < deadline; await sleep(100)) {
    const open = await countOpen(sql).catch(() => undefined)
    if (open === 0) return
  }
}

type Bought = Awaited<ReturnType<typeof shopping>>

async function judgeBuying(sql: Db, client: Client, store: Store, bought: Bought): Promise<Report['findings']> {
  const { wrong, unasked, changed } = await judgePurchases(sql, client, store, bought)
  return [
    ...wrong.map((what) => ({ rule: 'a customer was told something else than there is', what })),
    ...unasked.map((what) => ({ rule: 'a customer paid what nobody was told of', what })),
    ...changed.map((what) => ({ rule: 'an order was told otherwise when it was sent again', what })),
  ]
}

function figuresOf(history: readonly Exchange[], purchases: number): Report['figures'] {
  const byKey = Map.groupBy(
    history.filter(({ key }) => key !== undefined),
    ({ key }) => key,
  )
  const last = [...byKey.values()].map((exchanges) => outcomeOf(exchanges.at(-1) as Exchange))
  const count = (wanted: string) => last.filter((outcome) => outcome === wanted).length
  return {
    requests: history.length,
    unanswered: history.filter(({ answer }) => answer === undefined).length,
    keys: byKey.size,
    'asked again': [...byKey.values()].filter((exchanges) => exchanges.some((exchange) => outcomeOf(exchange) === 'unknown'))
      .length,
    done: count('done'),
    declined: count('declined'),
    refused: count('refused'),
    purchases,
  }
}
