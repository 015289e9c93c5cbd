import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../app.ts'
import { mostBytes, readReferenceRates } from '../rules/ecb.ts'
import { isLongAgo, type Rate, type RateSet, type Rates, rateBetween } from '../rules/exchange.ts'
import type { ExchangeSettings } from '../rules/exchange-settings.ts'
import { shippedRates } from '../rules/shipped-rates.ts'
import { findNewestRates, putRates } from '../store/exchange-rates.ts'

export type LoadedRates = Rates & {
  /** Of which the rates in use are. */
  day(): string | undefined
  /** Asks the source, then the database. Trouble with either is told once, and what was known before stays. */
  refresh(): Promise<void>
  /** Begins to do so now and then; the first time at once. */
  start(): void
  stop(): Promise<void>
}

type Options = Pick<App, 'db' | 'log' | 'now' | 'fetch'> & { settings: ExchangeSettings }

/** Seconds: how soon processes hear of what another one loaded, and when a source that failed is asked again. */
const minute = 60

const dayLength = 24 * 60 * 60 * 1000

/** What this process knows of exchange rates. Every process reads the source into the database, and uses what is in the database. */
export function createRates({ db, log, now, fetch, settings }: Options): LoadedRates {
  const { rates: place, interval, maxAge } = settings
  const source = place === undefined ? shippedRates.source : nameOf(place)
  const between = new Map<string, Rate>()
  const ending = new AbortController()
  const inTrouble = new Set<string>()
  let current: RateSet | undefined = place === undefined ? shippedRates : undefined
  let running: Promise<void> | undefined

  function use(set: RateSet) {
    if (set.day !== current?.day) log.info({ source, day: set.day }, 'exchange rates are loaded')
    current = set
    between.clear()
  }

  /** What is in trouble for an hour is told once, not sixty times. */
  async function attempt(what: string, act: () => Promise<void>): Promise<boolean> {
    try {
      await act()
      if (inTrouble.delete(what)) log.info({ source }, `exchange rates: ${what} again`)
      return true
    } catch (problem) {
      if (!inTrouble.has(what)) log.warn({ source, error: problem }, `exchange rates: not ${what}; the last known stay in use`)
      inTrouble.add(what)
      return false
    }
  }

  const load = (from: string) =>
    attempt('loaded', async () => {
      const document = await unlessAborted(ending.signal, readSource(fetch, from))
      if (document === undefined) return
      const sets = readReferenceRates(document, source)
      refuseFuture(sets, now())
      const known = await findNewestRates(db, source)
      await putRates(db, known ? sets.filter(({ day }) => day >= known.day) : sets, now())
    })

  const reread = () =>
    attempt('read from the database', async () => {
      const newest = await findNewestRates(db, source)
      if (newest) use(newest)
    })

  async function run(from: string) {
    let failures = 0
    for (let askAt = 0; !ending.signal.aborted; ) {
      if (performance.now() >= askAt) {
        failures = (await load(from)) ? 0 : failures + 1
        const pause = failures === 0 ? interval : Math.min(interval, minute * 2 ** (failures - 1))
        askAt = performance.now() + pause * 1000
      }
      await reread()
      await sleep(Math.min(interval, minute) * 1000, undefined, { ref: false, signal: ending.signal }).catch(() => {})
    }
  }

  return {
    find(from, to) {
      if (from === to) return { from, to, rate: '1', source: 'none', day: now().toISOString().slice(0, 10) }
      if (!current) return undefined
      const known = between.get(from + to)
      if (known) return known
      const found = rateBetween(current, from, to)
      if (found) between.set(from + to, found)
      return found
    },
    day: () => current?.day,
    async refresh() {
      if (place === undefined) return
      await load(place)
      await reread()
    },
    start() {
      if (place !== undefined) running ??= run(place)
      else if (isLongAgo(shippedRates.day, now(), maxAge))
        log.warn(
          { day: shippedRates.day },
          'PAY_EXCHANGE_RATES is not set, and the exchange rates for development are too old: nothing can be exchanged',
        )
    },
    async stop() {
      ending.abort()
      await running
    },
  }
}

/** Whoever stops does not wait for somebody outside. Nor does the signal, which lives longer, hold on to what was read. */
async function unlessAborted<T>(signal: AbortSignal, reading: Promise<T>): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>()
  const leave = () => aborted.resolve(undefined)
  signal.addEventListener('abort', leave)
  try {
    return await Promise.race([reading, aborted.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** What rates are recorded with. A query may hold a key. */
function nameOf(place: string): string {
  if (!isAddress(place)) return place
  const { origin, pathname } = new URL(place)
  return origin + pathname
}

function isAddress(place: string): boolean {
  return /^https?:/i.test(place)
}

async function readSource(fetch: App['fetch'], place: string): Promise<string> {
  // One byte more than is allowed, so that too much can be told from just enough.
  if (!isAddress(place)) return text(createReadStream(place, { end: mostBytes }))
  const answer = await fetch(place, { limit: mostBytes, headers: { accept: 'application/xml, text/xml' } })
  if (answer.status !== 200) throw answer.trouble()
  return answer.text
}

/** A day to come would be the newest, and never old, until it has come. Tomorrow has begun somewhere. */
function refuseFuture(sets: readonly RateSet[], now: Date): void {
  const tomorrow = new Date(now.getTime() + dayLength).toISOString().slice(0, 10)
  const late = sets.find(({ day }) => day > tomorrow)
  if (late) throw new Error(`the document has rates of ${late.day}, which is yet to come`)
}
