import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@tollgate/kit/db'
import { startService } from '@tollgate/kit/service'
import {
  type Call,
  caller,
  keptLog,
  type LogLine,
  noTelemetry,
  type ScratchDatabase,
  type StillClock,
  scratchDatabase,
} from '@tollgate/kit/testing'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Mishap, Simulation } from '../acquirers/acquirer.ts'
import { createSimulator } from '../acquirers/simulator.ts'
import type { App } from '../app.ts'
import { payments } from '../main.ts'
import { hashKey } from '../rules/keys.ts'
import { dayOf } from '../rules/payout-schedule.ts'
import { plantMerchant, plantTransaction } from '../testing.ts'
import { createLife, type Fate, type Life, mortalDb, type Trouble, troubledAcquirer, troubles } from './crashing.ts'
import { expireAuthorizations } from './expire-authorizations.ts'
import { createFinisher } from './finish-pending.ts'
import { runPayouts } from './run-payouts.ts'
import { verify } from './verify.ts'

/** `PAYMENTS_CRASH_RUNS=2000 npm test -- crashes` looks longer; what runs every time is a cut. */
const runs = Number(process.env.PAYMENTS_CRASH_RUNS ?? 40)
const minutes = 60_000

/** One process of the service, which may die. */
type Process = {
  app: App
  call: Call
  life: Life
  lines: LogLine[]
  db: Db
  use(setting: Pick<Setting, 'far'>, nextTrouble: () => Trouble | undefined): void
  end(): Promise<void>
}

/** Several processes on one database. */
type House = {
  now: StillClock
  /** As nobody sees it who may die. */
  db: Db
  /** One that never dies: it makes things as they are before a history begins, and puts right what is left when it ends. */
  watcher: Process
  processes: Process[]
  /** Puts another process in the place of a dead one. */
  replace(dead: Process): Promise<void>
  /** How things go from now on. */
  use(setting: Setting, fates: readonly Fate[]): Promise<void>
  end(): Promise<void>
}

/** A merchant of a house, what its clients asked for, and what they heard. */
type World = House & {
  merchant: Awaited<ReturnType<typeof plantMerchant>>
  sources: string[]
  transactions: string[]
  disputes: string[]
  requests: Request[]
}

type What = 'authorize' | 'capture' | 'refund' | 'void' | 'dispute' | 'decide'

type Request = {
  what: What
  key: string
  path: string
  json: Record<string, unknown>
  heard: { status: number; text: string }[]
}

/** A clock that moves a millisecond whenever somebody looks, so that what comes later is later. */
function tickingClock(): StillClock {
  let moment = Date.parse('2030-01-02T03:04:05.678Z')
  return Object.assign(() => new Date(moment++), {
    advance(seconds: number) {
      moment += seconds * 1000
    },
  })
}

type Setting = {
  /** Whether the acquirer is somebody else, who is asked over a wire and does not die with us. */
  far: boolean
  /** What goes wrong with the questions to the acquirer, one after the other. */
  troubles: readonly (Trouble | undefined)[]
  /** Of the payments that everything begins with. */
  simulations: readonly Simulation[]
  /** The merchant's. Payments are in euros. */
  currency: 'EUR' | 'DKK'
}

const calm: Setting = { far: false, troubles: [], simulations: [{}], currency: 'EUR' }

async function startProcess(database: ScratchDatabase, now: StillClock): Promise<Process> {
  const life = createLife()
  const { config } = payments.settings.read({
    ...{ PAY_ENV: 'development', PAY_API_HOST: '127.0.0.1', PAY_API_PORT: '0', DATABASE_URL: database.url },
    ...{ PAY_DB_MAX_POOL_SIZE: '6', PAY_WORKERS: '1', PAY_EXCHANGE_MAX_AGE: '0' },
  })
  const { log, lines } = keptLog()
  let db: Db | undefined
  const open: typeof payments.open = (parts) => {
    db = parts.db
    return payments.open({ ...parts, db: mortalDb(parts.db, life) })
  }
  const running = await startService({ ...payments, open }, config, { log, telemetry: noTelemetry, now, strict: true })
  const { app } = running
  const near = app.acquirers.simulator
  const { atOnce: _, ...far } = createSimulator({ db: db as Db, now, log })
  return {
    app,
    call: caller(`http://127.0.0.1:${running.port}`),
    life,
    lines,
    db: db as Db,
    use(setting, nextTrouble) {
      app.acquirers.simulator = troubledAcquirer(setting.far ? far : near, life, nextTrouble)
    },
    end: () => running.stop(0),
  }
}

async function buildHouse(): Promise<House> {
  const database = await scratchDatabase('template_payments')
  const now = tickingClock()
  const start = () => startProcess(database, now)
  const [watcher, ...processes] = (await Promise.all([start(), start(), start()])) as [Process, ...Process[]]
  const replaced = new Map<Process, Promise<void>>()
  const ending: Promise<void>[] = []
  // One after the other, whoever they befall.
  let troublesLeft: Iterator<Trouble | undefined> = [].values()
  let fatesLeft: Iterator<Fate | undefined> = [].values()
  let current: Setting = calm
  const prepare = (process: Process) => {
    process.use(current, () => troublesLeft.next().value)
    process.life.arm(fatesLeft.next().value)
  }
  const house: House = {
    now,
    db: watcher.db,
    watcher,
    processes,
    replace(dead) {
      const before = replaced.get(dead)
      if (before) return before
      ending.push(dead.end())
      const replacing = start().then((next) => {
        prepare(next)
        processes[processes.indexOf(dead)] = next
      })
      replaced.set(dead, replacing)
      return replacing
    },
    async use(setting, fates) {
      for (const process of processes.filter(({ life }) => life.isOver())) await house.replace(process)
      current = setting
      troublesLeft = setting.troubles.values()
      fatesLeft = fates.values()
      for (const process of processes) prepare(process)
    },
    async end() {
      await Promise.all([...ending, ...[watcher, ...processes].map((each) => each.end())])
      await database.drop()
    },
  }
  return house
}

/** A new merchant with payments that nothing has happened to yet. */
async function createWorld(house: House, setting: Setting, fates: readonly Fate[] = []): Promise<World> {
  const { now, watcher } = house
  const planting = { app: watcher.app, call: watcher.call, now }
  const merchant = await plantMerchant(planting, { currency: setting.currency, disputeFee: 150 })
  const sources = []
  for (const simulation of setting.simulations)
    sources.push(await plantTransaction(planting, { merchantId: merchant.id, currency: 'EUR', simulation }))
  await house.use(setting, fates)
  return { ...house, merchant, sources, transactions: [...sources], disputes: [], requests: [] }
}

/** A process of this world that lives and will go on living. */
async function livingProcess(world: World): Promise<Process> {
  const [process] = world.processes as [Process]
  if (process.life.isOver()) {
    await world.replace(process)
    return livingProcess(world)
  }
  process.life.arm(undefined)
  return process
}

type Wish = { what: What; on: number; amount: number; won?: boolean }

/** What a client wants, under a key of its own; undefined where there is nothing to want it of. */
function requestFor(world: World, { what, on, amount, won = true }: Wish): Request | undefined {
  const { merchant, sources, transactions, disputes } = world
  const transaction = transactions[on % transactions.length] as string
  const dispute = disputes[on % disputes.length]
  const source = sources[on % sources.length] as string
  const wishes: Record<What, Pick<Request, 'path' | 'json'> | undefined> = {
    authorize: { path: `/merchants/${merchant.id}/transactions`, json: { transactionId: source, currency: 'EUR', amount } },
    capture: { path: `/transactions/${transaction}/captures`, json: { amount } },
    refund: { path: `/transactions/${transaction}/refunds`, json: { amount } },
    void: { path: `/transactions/${transaction}/voids`, json: { amount } },
    dispute: { path: `/merchants/${merchant.id}/simulator/disputes`, json: { transactionId: transaction, amount } },
    decide:
      dispute === undefined
        ? undefined
        : { path: `/merchants/${merchant.id}/simulator/disputes/${dispute}/decisions`, json: { won } },
  }
  const wish = wishes[what]
  if (!wish) return undefined
  const request = { what, key: randomUUID(), heard: [], ...wish }
  world.requests.push(request)
  return request
}

/** Sends a request once; false where it was not decided. Where the process dies, another one is started in its place. */
async function send(world: World, request: Request, place: number): Promise<boolean> {
  const process = world.processes[place] as Process
  const { status, text } = await process
    .call(`POST ${request.path}`, {
      headers: { authorization: world.merchant.authorization, accept: 'application/json', 'idempotency-key': request.key },
      json: request.json,
    })
    .catch((problem: Error) => ({ status: 0, text: problem.message }))
  const isDecided = status === 201 || status === 400
  if (isDecided) {
    request.heard.push({ status, text })
    learn(world, request, status, text)
  } else if (![409, 504].includes(status) && !process.life.isOver())
    throw new Error(`${request.what} was answered with ${status} by a process that lives: ${text}\n${errorsOf(process)}`)
  if (process.life.isOver()) await world.replace(process)
  return isDecided
}

function learn({ transactions, disputes }: World, { what }: Request, status: number, text: string) {
  if (status !== 201) return
  const told = JSON.parse(text)
  if (what === 'authorize' && !transactions.includes(told.transaction.id)) transactions.push(told.transaction.id)
  if (what === 'dispute' && !disputes.includes(told.dispute.id)) disputes.push(told.dispute.id)
}

const errorsOf = ({ lines }: Process) =>
  lines
    .filter(({ level }) => level === 'error')
    .map((line) => JSON.stringify(line))
    .join('\n')

async function countPending({ db }: World): Promise<number> {
  const [row] = await db<{ open: number }>`
    select (select count(*) from pay.trail where state = 'pending') + (select count(*) from pay.transactions where state = 'pending') as open`
  return Number(row?.open)
}

/** Somebody lives, time passes, and what was left open is found out about. */
async function finishAll(world: World): Promise<void> {
  const finish = createFinisher(world.watcher.app, { after: 60 })
  for (let rounds = 0; (await countPending(world)) > 0; rounds++) {
    if (rounds > 10) throw new Error('something stays pending for ever')
    world.now.advance(400)
    await finish()
  }
}

/** Every client who heard nothing asks again with the same key until they hear something; those who heard something ask once more. */
async function askAgain(world: World): Promise<void> {
  await world.use(calm, [])
  await finishAll(world)
  for (const request of world.requests) {
    for (let rounds = 0; !(await send(world, request, 0)); rounds++) {
      if (rounds > 10) throw new Error(`${request.what} is never answered`)
      await finishAll(world)
    }
  }
}

type Claim = { id: string; transaction_id: string | null; entry_id: string | null }
type Row = Record<'id' | 'kind' | 'state', string> & { transaction_id: string; amount: number }

/** What must hold whenever nothing is open any more. */
async function check(world: World): Promise<void> {
  const { db, now } = world
  const verdict = await verify(db, now())
  expect([...verdict.breaches, ...verdict.warnings].slice(0, 10)).toEqual([])
  await checkAcquirer(world)
  await checkPots(world)
  await checkHistory(world)
}

/** The acquirer's own record and ours, operation by operation. */
async function checkAcquirer({ db, merchant }: World) {
  const theirs = await db`
    select reference, authorization_reference, kind, amount, currency from pay.simulator_operations
    where approved and merchant_id = ${merchant.id} order by reference`
  const ours = await db`
    select id as reference, id as authorization_reference, 'authorize' as kind, amount, currency from pay.transactions
    where state = 'approved' and merchant_id = ${merchant.id}
    union all
    select trail.id, transactions.id, trail.kind, trail.amount, currency
    from pay.trail join pay.transactions on transactions.id = trail.transaction_id
    where trail.state = 'done' and trail.kind <> 'dispute' and trail.merchant_id = ${merchant.id}
    order by reference`
  expect(ours).toEqual(theirs)
}

async function checkPots({ db }: World) {
  const wrong = await db`
    select id, amount, captured, voided, capturable, refunded, refundable, disputed, held from pay.transactions
    cross join lateral (
      select coalesce(sum(held), 0) as held from pay.disputes where transaction_id = transactions.id and won is not true
    ) disputes
    where least(capturable, refundable, captured, refunded, voided, disputed) < 0
      or (state = 'approved' and captured + voided + capturable <> amount)
      or refunded + refundable + held <> captured`
  expect(wrong).toEqual([])
}

/** Everything that a client was promised is there, once; and nothing is there that nobody asked for. */
async function checkHistory({ db, merchant: { id: merchant, app }, requests, sources }: World) {
  const claims = byName(
    await db<Claim>`select key_hash as id, transaction_id, entry_id from pay.idempotency where owner_id = ${app.id}`,
  )
  const trail = byName(await db<Row>`select * from pay.trail where merchant_id = ${merchant}`)
  const payments = byName(await db<Row>`select * from pay.transactions where merchant_id = ${merchant}`)
  const disputed = byName(await db<{ id: string }>`select id from pay.disputes where merchant_id = ${merchant}`)
  const [made, moved, raised] = [new Set(sources), new Set<string>(), new Set<string>()]
  for (const { what, key, json, heard } of requests) {
    const claim = claims.get(hashKey(key).toString('hex'))
    const done = heard.filter(({ status }) => status === 201)
    const last = heard.at(-1) as Request['heard'][number]
    const about = `${what} ${key}: ${JSON.stringify(heard)}`
    // Who has been told yes once is told so always, and about the same thing.
    if (done.length > 0) expect(last.status, about).toBe(201)
    expect(claim !== undefined, about).toBe(last.status === 201 || isDecline(last.text))
    if (what === 'dispute' && done.length > 0)
      expectOne(
        done.map(({ text }) => JSON.parse(text).dispute.id),
        raised,
        about,
      )
    if (what === 'authorize' && claim) {
      const payment = payments.get(claim.transaction_id ?? '')
      expect(payment, about).toMatchObject({ amount: json.amount, state: last.status === 201 ? 'approved' : 'declined' })
      expectOne([claim.transaction_id, ...done.map(({ text }) => JSON.parse(text).transaction.id)], made, about)
    }
    if ((what === 'capture' || what === 'refund' || what === 'void') && claim) {
      const entry = trail.get(claim.entry_id ?? '')
      expect(entry, about).toMatchObject({ kind: what, amount: json.amount, state: last.status === 201 ? 'done' : 'failed' })
      expectOne([claim.entry_id], moved, about)
      for (const { text } of done) expect(JSON.parse(text).transaction.id, about).toBe(claim.transaction_id)
    }
  }
  expect([...payments.keys()].toSorted()).toEqual([...made].toSorted())
  expect([...disputed.keys()].toSorted()).toEqual([...raised].toSorted())
  // What nobody asked for by a key is what expired.
  const unasked = [...trail.values()].filter(({ id, kind }) => kind !== 'dispute' && !moved.has(id))
  expect(unasked.filter(({ kind }) => kind !== 'void')).toEqual([])
}

const byName = <T extends { id: string }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))

const isDecline = (text: string) => !text.startsWith('[')

/** All of them are one and the same, and nobody else's. */
function expectOne(ids: (string | null)[], seen: Set<string>, about: string) {
  expect(new Set(ids).size, about).toBe(1)
  const [id = ''] = ids as string[]
  expect(seen.has(id), about).toBe(false)
  seen.add(id)
}

let house: House | undefined
let stories = 0
afterAll(() => house?.end())

/** Building one costs more than most histories, so that many share it; but none has to live with what another has broken. */
async function inHouse(story: (house: House) => Promise<void>): Promise<void> {
  house ??= await buildHouse()
  const current = house
  let isGood = false
  try {
    await story(current)
    isGood = true
  } finally {
    // Time passes quickly here, and everything that ever happened is looked at every time.
    if (!isGood || ++stories % 25 === 0) {
      house = undefined
      await current.end()
    }
  }
}

const movements: readonly What[] = ['authorize', 'capture', 'refund', 'void']

describe.each([
  ['decides at once', { ...calm, far: false }, [...movements, 'dispute' as const, 'decide' as const]],
  ['is asked over a wire', { ...calm, far: true }, movements],
])('where the acquirer %s', (_, setting, acts) => {
  test.each(acts)(
    'a process that dies at any stroke of %s, before or after it, leaves nothing that cannot be put right',
    async (what) => {
      await inHouse(async (house) => {
        const world = await createWorld(house, setting)
        const died = await dieEverywhere(world, what)
        // What it is about, and the act itself, before and after.
        expect(died).toBeGreaterThanOrEqual(4)
        await askAgain(world)
        await check(world)
      })
    },
    2 * minutes,
  )
})

/** Dies at the first stroke, at the second, and so on until the request is answered before its process dies; tells how often. */
async function dieEverywhere(world: World, what: What): Promise<number> {
  let died = 0
  for (const moment of ['before', 'after'] as const)
    for (let stroke = 1; ; stroke++) {
      const { app, life } = await livingProcess(world)
      world.transactions = [await plantTransaction({ app, now: world.now }, { merchantId: world.merchant.id, currency: 'EUR' })]
      world.sources.push(...world.transactions)
      if (what === 'refund' || what === 'dispute' || what === 'decide') await act(world, { what: 'capture', on: 0, amount: 700 })
      world.disputes = []
      if (what === 'decide') await act(world, { what: 'dispute', on: 0, amount: 300 })
      life.arm({ stroke, moment })
      await act(world, { what, on: 0, amount: 300, won: moment === 'before' })
      if (!life.isOver()) break
      died++
    }
  return died
}

async function act(world: World, wish: Wish): Promise<void> {
  const request = requestFor(world, wish)
  if (!request) throw new Error(`there is nothing to ${wish.what}`)
  await send(world, request, 0)
}

type Step =
  | (Wish & { kind: 'request'; via: number; pause: number; twice: boolean })
  | { kind: 'finish' | 'expire' | 'payout'; via: number; pause: number }

/** The steps of a wave are taken at once, one wave after the other. */
type Plan = Setting & { fates: Fate[]; waves: Step[][] }

const mishap = fc.option(fc.constantFrom<Mishap>('lost', 'unanswered', 'late', 'declined'), { nil: undefined, freq: 2 })

/** How the simulator behaves: nothing goes wrong with half of all operations. */
const simulation: fc.Arbitrary<Simulation> = fc
  .record({ authorize: mishap, capture: mishap, refund: mishap, void: mishap })
  .map((acquirer) => ({ acquirer: Object.fromEntries(Object.entries(acquirer).filter(([, each]) => each !== undefined)) }))

const when = { via: fc.nat(1), pause: fc.nat(8) }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      // What money moves by comes more often.
      what: fc.constantFrom<What>('authorize', 'capture', 'capture', 'capture', 'refund', 'refund', 'void', 'dispute', 'decide'),
      on: fc.nat(4),
      amount: fc.integer({ min: 1, max: 600 }),
      won: fc.boolean(),
      twice: fc.boolean(),
      ...when,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('finish' as const, 'finish' as const, 'expire' as const, 'payout' as const),
      ...when,
    }),
  },
)

const plan: fc.Arbitrary<Plan> = fc.record({
  far: fc.boolean(),
  currency: fc.constantFrom('EUR' as const, 'DKK' as const),
  simulations: fc.array(simulation, { minLength: 1, maxLength: 2 }),
  troubles: fc.array(fc.option(fc.constantFrom(...troubles), { nil: undefined, freq: 2 }), { maxLength: 12 }),
  fates: fc.array(
    fc.record({ stroke: fc.integer({ min: 1, max: 40 }), moment: fc.constantFrom('before' as const, 'after' as const) }),
    {
      maxLength: 5,
    },
  ),
  waves: fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
})

test(
  `${runs} random histories, told by two processes at once that die anywhere, end with books that agree with themselves, with the acquirer and with what clients were told`,
  () =>
    fc.assert(
      fc.asyncProperty(plan, async (plan) => {
        await inHouse(async (house) => {
          const world = await createWorld(house, plan, plan.fates)
          for (const wave of plan.waves) await Promise.all(wave.map((step) => take(world, step)))
          await askAgain(world)
          await check(world)
        })
      }),
      { numRuns: runs },
    ),
  90 * minutes,
)

async function take(world: World, step: Step): Promise<void> {
  // So that those who are at it at once do not always meet in the same order.
  await sleep(step.pause)
  if (step.kind !== 'request') return runLoop(world, step)
  const request = requestFor(world, step)
  if (!request) return
  await Promise.all([sendPatiently(world, request, step.via), step.twice && sendPatiently(world, request, 1 - step.via)])
}

/** Clients who hear nothing, or that it is still under way, try again a few times, wherever they get through to. */
async function sendPatiently(world: World, request: Request, via: number): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) if (await send(world, request, (via + attempt) % 2)) return
}

/** What nobody asks for and happens by itself. */
async function runLoop(world: World, { kind, via }: Step): Promise<void> {
  const process = world.processes[via] as Process
  const { app, life } = process
  try {
    world.now.advance({ finish: 61, expire: 30 * 86_400, payout: 86_400, request: 0 }[kind])
    if (kind === 'finish') await createFinisher(app, { after: 60 })()
    if (kind === 'expire') await expireAuthorizations(app, 29)
    if (kind === 'payout') {
      const { failures } = await runPayouts(app, { day: dayOf(world.now()), test: true })
      if (failures.length > 0) throw failures[0]?.problem
    }
  } catch (problem) {
    if (!life.isOver()) throw problem
  }
  if (life.isOver()) await world.replace(process)
}
