import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '@tollgate/kit/endpoint'
import { Failure } from '@tollgate/kit/failure'
import { Secret } from '@tollgate/kit/secret'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mishap, Simulation } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import { gatewayCards } from '../endpoints/gateway-cards.ts'
import { gatewayTransactions } from '../endpoints/gateway-transactions.ts'
import { payments } from '../endpoints/payments.ts'
import { paymentsChallenges } from '../endpoints/payments-challenges.ts'
import { wordForDevices } from '../rules/device-dialect.ts'
import { hashKey } from '../rules/keys.ts'
import { insertSecurityCode } from '../store/security-codes.ts'
import { plantMerchant, startPayments } from '../testing.ts'
import { writeWallet } from '../wallets/wallet.ts'
import { createLife, type Fate, type Life, mortalDb, type Trouble, troubledAcquirer, troubles } from './crashing.ts'
import { editMerchant } from './edit-merchant.ts'
import { createFinisher } from './finish-pending.ts'
import { makeHint } from './read-hints.ts'
import { printsOf } from './read-order.ts'
import { runPlans } from './run-plans.ts'
import { sweepSecurityCodes } from './sweep-security-codes.ts'
import { verify } from './verify.ts'

/** `PAYMENTS_CRASH_RUNS=2000 npm test -- pay-order` looks longer; what runs every time is a cut. */
const runs = Number(process.env.PAYMENTS_CRASH_RUNS ?? 20)
const minutes = 60_000
const hour = 3600

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

/** One process of the service, which may die. */
type Process = { app: App; life: Life }

/** What goes wrong, one after the other, whomever it befalls. */
type Setting = { far: boolean; troubles: readonly (Trouble | undefined)[]; fates: readonly (Fate | undefined)[] }

const calm: Setting = { far: false, troubles: [], fates: [] }

type World = {
  merchant: Awaited<ReturnType<typeof plantMerchant>>
  orders: Order[]
  /** By the number of those who share one. */
  codes: Map<number | undefined, { token: string; id: Buffer }>
  processes: [Process, Process]
  /** Puts another process in the place of a dead one. */
  replace(place: number): void
  use(setting: Setting): void
}

async function createWorld(setting: Setting, plans: 'authorize' | 'capture' = 'capture'): Promise<World> {
  const merchant = await plantMerchant(service)
  await editMerchant(service.app, merchant.id, { terms: { plans }, price: {} })
  let current = calm
  let troublesLeft: Iterator<Trouble | undefined> = [].values()
  let fatesLeft: Iterator<Fate | undefined> = [].values()
  const start = (): Process => {
    const life = createLife()
    life.arm(fatesLeft.next().value)
    const { atOnce, ...far } = service.app.acquirers.simulator
    const simulator = troubledAcquirer(current.far || !atOnce ? far : { ...far, atOnce }, life, () => troublesLeft.next().value)
    return { life, app: { ...service.app, db: mortalDb(service.app.db, life), acquirers: { simulator, live: undefined } } }
  }
  const world: World = {
    merchant,
    orders: [],
    codes: new Map(),
    processes: [start(), start()],
    replace(place) {
      if (world.processes[place]?.life.isOver()) world.processes[place] = start()
    },
    use(setting) {
      current = setting
      troublesLeft = setting.troubles.values()
      fatesLeft = setting.fates.values()
      world.processes = [start(), start()]
    },
  }
  world.use(setting)
  return world
}

type Heard = { id: string } | { refused: string }

/** What somebody wants paid, and what they heard. */
type Order = {
  about: string
  amount: number
  /** What is written down beside its payment. Undefined: every time that it is sent is another one. */
  key: string | undefined
  /** What can be paid with once: of several orders with the same, one is paid. */
  means: string
  /** What it is refused with, where it is. */
  refusal: string | undefined
  hasCode: boolean
  agreement: 'none' | 'unplanned' | 'plan'
  simulation: Simulation
  send(app: App): Promise<string>
  /** Of an order by card: asks what became of it, with nothing that proves anything any more. */
  ask?: (app: App) => Promise<string>
  heard: Heard[]
}

type Wish = {
  way: 'card' | 'wallet' | 'gateway' | 'keyless' | 'saved card'
  /** Those of one way with the same number have one code, one key, or what a wallet handed out once between them. */
  rival: number | undefined
  agreement: Order['agreement']
  declined: 'no' | 'by the card' | 'by the bank'
  mishap: Mishap | undefined
  captureMishap: Mishap | undefined
}

const plain: Wish = {
  way: 'card',
  rival: undefined,
  agreement: 'none',
  declined: 'no',
  mishap: undefined,
  captureMishap: undefined,
}

const plan = [{ amount: { currency: 'EUR', exponent: 2, value: 995 }, repeat: { count: 3, interval: { unit: 'day', value: 1 } } }]

/** Every amount is another one, so that whose a transaction is can be seen. */
async function place(world: World, wish: Wish): Promise<Order> {
  const amount = 1000 + world.orders.length
  const order =
    wish.way === 'card' || wish.way === 'wallet' ? await placeByDevice(world, wish, amount) : placeAtGateway(world, wish, amount)
  const placed = { ...order, amount, about: `${amount} ${JSON.stringify(wish)}`, heard: [] }
  world.orders.push(placed)
  return placed
}

const badCard = '4100000000000007'
const goodCard = '4100000000000000'

async function placeByDevice(world: World, wish: Wish, amount: number): Promise<Omit<Order, 'about' | 'heard' | 'amount'>> {
  const { merchant } = world
  const { vault, now } = service.app
  const number = wish.declined === 'by the card' ? badCard : goodCard
  const acquirer = Object.fromEntries(
    Object.entries({ authorize: wish.mishap, capture: wish.captureMishap }).filter(([, mishap]) => mishap),
  )
  const tds: Simulation['tds'] = { challenge: false, fingerprint: 'unavailable' }
  if (wish.declined === 'by the bank') tds.status = 'rejected'
  const simulation: Simulation = { tds, acquirer }
  const code = wish.way === 'card' ? await codeFor(world, wish) : undefined
  const messageId = wish.rival === undefined ? randomUUID() : `message ${wish.rival} of ${merchant.id}`
  const body = {
    integration: { key: merchant.key },
    test: simulation,
    amount: { currency: 'EUR', exponent: 2, value: amount },
    ...(code
      ? {
          card: {
            number: { token: vault.seal('pcn', number, now()) },
            code: { token: code.token },
            expiry: { month: 12, year: 2060 },
          },
        }
      : { googlepay: { token: vault.seal('googlepay', walletOf(messageId, number), now()) } }),
    ...(wish.agreement === 'plan' && { plan }),
    ...(wish.agreement === 'unplanned' && { unplanned: { merchant: true } }),
  }
  const { hash } = printsOf(body as never)
  const proofs = code ? (['authorize-integration', 'tds-enrolled'] as const) : (['authorize-integration'] as const)
  return {
    key: code ? `order ${hash}` : `googlepay ${messageId}`,
    means: code ? code.id.toString('hex') : messageId,
    refusal: refusalOf(wish, {
      card: 'PAYMENT_INSUFFICIENT_FUNDS',
      bank: 'TDSECURE_FAILED',
      mishap: 'PAYMENT_REJECTED_BY_ISSUER',
    }),
    hasCode: code !== undefined,
    agreement: wish.agreement,
    simulation,
    async send(app) {
      const hints = proofs.map((proof) => makeHint(service.app, hash, { proof }))
      const step = await run<{ hints: string[] }>(paymentsChallenges, app, {
        params: { challenge: 'authorize' },
        body: { ...body, hints },
      })
      const { authorizationId } = await run<{ authorizationId: string }>(payments, app, {
        body: { ...body, hints: [...hints, ...step.hints] },
      })
      return authorizationId
    },
    ...(code && {
      ask: async (app: App) => (await run<{ authorizationId: string }>(payments, app, { body })).authorizationId,
    }),
  }
}

async function codeFor({ codes }: World, { rival }: Wish): Promise<{ token: string; id: Buffer }> {
  const before = codes.get(rival)
  if (before) return before
  const { vault, now, db } = service.app
  const code = vault.sealCode('123', now())
  await insertSecurityCode(db, code)
  if (rival !== undefined) codes.set(rival, code)
  return code
}

/** A wallet asks who is paying by itself. */
function walletOf(transactionId: string, number: string): string {
  const expires = service.now().getTime() + 10 ** 9
  return writeWallet({
    ...{ transactionId, expires, number, month: 12, year: 2060, cryptogram: 'x', eci: '05' },
    ...{ amount: undefined, merchant: undefined },
  }).reveal()
}

function placeAtGateway({ merchant }: World, wish: Wish, amount: number): Omit<Order, 'about' | 'heard' | 'amount'> {
  const key = wish.way === 'keyless' ? undefined : wish.rival === undefined ? randomUUID() : `key-${wish.rival}`
  const endpoint = wish.way === 'saved card' ? gatewayCards : gatewayTransactions
  // The amounts of cards that are saved are all nothing: they are told apart by when they expire.
  const card = { number: new Secret(wish.declined === 'no' ? goodCard : badCard), code: new Secret('123') }
  const expiry = { month: 1 + (amount % 12), year: 2040 + (amount % 50) }
  const body =
    endpoint === gatewayCards
      ? { key: merchant.key, ...card, expiry }
      : { key: merchant.key, currency: 'EUR', amount, card: { ...card, expiry } }
  return {
    key,
    means: key ?? String(amount),
    refusal: refusalOf({ ...wish, mishap: undefined }, { card: '7', bank: '7', mishap: '' }),
    hasCode: false,
    agreement: endpoint === gatewayCards ? 'unplanned' : 'none',
    simulation: {},
    async send(app) {
      const told = await run<{ transaction?: { id: string }; card?: { id: string } }>(
        endpoint,
        app,
        { body },
        key === undefined ? {} : { 'idempotency-key': key },
      )
      return (told.transaction ?? told.card)?.id ?? ''
    },
  }
}

/** Who is paying is asked before the card is. A wallet has asked by itself, but the simulator's bank knows better. */
function refusalOf({ way, declined, mishap }: Wish, words: { card: string; bank: string; mishap: string }): string | undefined {
  if (declined === 'by the bank' && way === 'card') return words.bank
  if (mishap === 'declined') return words.mishap
  if (declined === 'by the card') return words.card
  return declined === 'by the bank' ? words.bank : undefined
}

function run<T>(endpoint: Endpoint<App>, app: App, given: object, headers = {}): Promise<T> {
  const request = { id: 'x', method: endpoint.method, path: endpoint.path, query: '', headers, peer: '127.0.0.1' }
  return endpoint.run(app, { request, ...given } as never) as Promise<T>
}

/** Sends an order once; undefined where it was not decided. Where the process dies, another one is started in its place. */
async function send(world: World, order: Order, via: number): Promise<Heard | undefined> {
  const process = world.processes[via] as Process
  try {
    const id = await order.send(process.app)
    if (process.life.isOver()) return undefined
    return hear(order, { id })
  } catch (problem) {
    if (process.life.isOver()) return undefined
    if (!(problem instanceof Failure)) throw problem
    const refused = problem.code === 'processing_failed' ? String(problem.more.code) : problem.code
    // What a client tries again after.
    if (wordForDevices(problem).contentType?.startsWith('text/plain')) return undefined
    return hear(order, { refused })
  } finally {
    world.replace(via)
  }
}

function hear({ heard }: Order, told: Heard): Heard {
  heard.push(told)
  return told
}

/** Somebody lives, time passes, and what was left open is found out about. */
async function finishAll(): Promise<void> {
  for (let rounds = 0; ; rounds++) {
    const [{ open } = { open: 0 }] = await service.app.db<{ open: number }>`
      select (select count(*) from pay.trail where state = 'pending') + (select count(*) from pay.transactions where state = 'pending') as open`
    if (open === 0) return
    if (rounds > 10) throw new Error('something stays pending for ever')
    service.now.advance(31)
    await createFinisher(service.app, { after: 30 })()
  }
}

/** Who heard nothing asks again until they hear something; who heard something asks once more. */
async function askAgain(world: World): Promise<void> {
  world.use(calm)
  await finishAll()
  for (const order of world.orders.filter(({ key }) => key !== undefined)) {
    for (let rounds = 0; !(await send(world, order, 0)); rounds++) {
      if (rounds > 10) throw new Error(`never answered: ${order.about}`)
      await finishAll()
    }
  }
}

/** Long after, when tokens and hints are good for nothing any more, whoever comes back with an order is told what became of it. */
async function askLate({ orders }: World): Promise<void> {
  for (const { ask, heard, about } of orders) {
    if (!ask) continue
    const told = await ask(service.app).then(
      (id) => ({ id }),
      (problem: Failure) => ({ refused: problem.code }),
    )
    expect(told, about).toEqual(heard.at(-1))
  }
}

type Row = { id: string; state: string; amount: number; expiry: Date; keyHash: string | null; agreed: boolean; planned: boolean }

/** The payments that customers made, whether they came to anything or not. */
function listPayments({ merchant }: World): Promise<Row[]> {
  return service.app.db<Row>`
    select id, state, amount, card_expiry as expiry, key_hash as "keyHash",
      exists (select from pay.agreements where agreements.merchant_id = transactions.merchant_id and agreements.transaction_id = id) as agreed,
      exists (select from pay.plans where plans.merchant_id = transactions.merchant_id and plans.transaction_id = id) as planned
    from pay.transactions left join pay.idempotency on idempotency.merchant_id = transactions.merchant_id and idempotency.transaction_id = id
    where transactions.merchant_id = ${merchant.id} and not recurring order by id`
}

/** Holds at every moment, whoever has died: a payment and the end of its security code are one. */
async function checkCodes(world: World): Promise<void> {
  const claimed = new Set((await listPayments(world)).map(({ keyHash }) => keyHash))
  const spent = new Set(world.orders.filter(({ key = '' }) => claimed.has(hashOf(key))).map(({ means }) => means))
  const left = await service.app.db<{ id: Buffer }>`select id from pay.security_codes`
  const readable = new Set(left.map(({ id }) => id.toString('hex')))
  for (const { hasCode, means, about } of world.orders) if (hasCode) expect(readable.has(means), about).toBe(!spent.has(means))
}

const hashOf = (key: string) => hashKey(key).toString('hex')

/** What must hold whenever nothing is open any more. */
async function check(world: World): Promise<void> {
  await checkCodes(world)
  const { breaches, warnings } = await verify(service.app.db, service.now())
  expect([...breaches, ...warnings].slice(0, 10)).toEqual([])
  const rows = await listPayments(world)
  const kept = new Set<string>()
  for (const rivals of Map.groupBy(world.orders, ({ means }) => means).values()) {
    const { key } = rivals[0] as Order
    if (key === undefined) checkKeyless(rivals[0] as Order, rows, kept)
    else checkKeyed(rivals, rows, kept)
  }
  // Nothing is there that nobody asked for.
  expect(rows.filter(({ id, keyHash }) => keyHash === null && !kept.has(id)).map(({ amount }) => amount)).toEqual([])
}

function checkKeyed(rivals: readonly Order[], rows: readonly Row[], kept: Set<string>) {
  const keys = new Set(rivals.map(({ key = '' }) => hashOf(key)))
  const own = rows.filter(({ keyHash }) => keys.has(keyHash ?? ''))
  const about = rivals.map((order) => `${order.about}: ${JSON.stringify(order.heard)}`).join('\n')
  expect(own, about).toHaveLength(1)
  const [row] = own as [Row]
  kept.add(row.id)
  const winners = rivals.filter(({ heard }) => !isMismatch(heard.at(-1)))
  expect(winners, about).toHaveLength(1)
  const [winner] = winners as [Order]
  expectOutcome(winner, row, about)
  // Whoever was told something is told so always.
  for (const { heard } of rivals) expect(new Set(heard.map((told) => JSON.stringify(told))).size, about).toBe(1)
  expect(winner.heard.at(-1), about).toEqual(winner.refusal === undefined ? { id: row.id } : { refused: winner.refusal })
}

const isMismatch = (told: Heard | undefined) =>
  told !== undefined && 'refused' in told && ['TOKEN_INVALID', 'idempotency_mismatch'].includes(told.refused)

/** Sent without a key, it is as many payments as there were times that it got through. */
function checkKeyless(order: Order, rows: readonly Row[], kept: Set<string>) {
  const own = rows.filter(({ amount, keyHash }) => amount === order.amount && keyHash === null)
  const paid = order.heard.flatMap((told) => ('id' in told ? [told.id] : []))
  expect(new Set(paid).size, order.about).toBe(paid.length)
  expect(own.map(({ id }) => id)).toEqual(expect.arrayContaining(paid))
  for (const row of own) {
    kept.add(row.id)
    expectOutcome(order, row, order.about)
  }
}

function expectOutcome({ refusal, amount, agreement }: Order, row: Row, about: string) {
  const state = refusal === undefined ? 'approved' : 'declined'
  expect(row, about).toMatchObject({
    state,
    amount: row.amount === 0 ? 0 : amount,
    agreed: agreement !== 'none' && state === 'approved',
    planned: agreement === 'plan' && state === 'approved',
  })
}

type Charge = { sourceId: string; keyHash: string; state: string; amount: number; captured: number; entries: number }

/** Of every payment that was announced, one came to something at most, and what it was captured with is all of it, once. */
async function checkPlans({ merchant, orders }: World, plans: 'authorize' | 'capture'): Promise<number> {
  const charges = await service.app.db<Charge>`
    select source_id as "sourceId", key_hash as "keyHash", state, amount, captured, entries from pay.transactions
    left join pay.idempotency on idempotency.merchant_id = transactions.merchant_id and idempotency.transaction_id = id and entry_id is null
    where transactions.merchant_id = ${merchant.id} and recurring`
  const standing = await service.app.db<{ id: string; state: string; made: number; missed: number }>`
    select transaction_id as id, state, made, missed from pay.plans where merchant_id = ${merchant.id}`
  for (const { id, state, made, missed } of standing) {
    const order = orders.find(({ heard }) => heard.some((told) => 'id' in told && told.id === id)) as Order
    const own = charges.filter(({ sourceId }) => sourceId === id)
    const about = `${order.about}: ${JSON.stringify({ state, made, missed, own })}`
    for (const occurrence of [0, 1, 2]) {
      const keys = [0, 1, 2, 3].map((tries) => hashOf(`plan ${id} 0.${occurrence}.${tries}`))
      expect(own.filter((each) => each.state === 'approved' && keys.includes(each.keyHash)).length, about).toBeLessThanOrEqual(1)
    }
    const isCaptured = plans === 'capture' && order.simulation.acquirer?.capture !== 'declined'
    for (const each of own)
      expect(each, about).toMatchObject({
        ...{ amount: 995, state: 'approved' },
        ...{ captured: isCaptured ? 995 : 0, entries: plans === 'capture' ? 1 : 0 },
      })
    expect({ state, made: made + missed, charged: own.length }, about).toEqual({ state: 'finished', made: 3, charged: made })
  }
  return charges.length
}

describe.each([
  ['decides at once', false],
  ['is asked over a wire', true],
])('where the acquirer %s', (_, far) => {
  test.each<[fact: string, wish: Partial<Wish>]>([
    ['with a card', {}],
    ['with a card that is declined', { declined: 'by the card' }],
    ['with a card whose bank says that it is somebody else', { declined: 'by the bank' }],
    ['with a card whose acquirer falls silent', { mishap: 'unanswered' }],
    [
      'with a card whose acquirer falls silent and says no in the end',
      { mishap: 'late', declined: 'by the card', agreement: 'plan' },
    ],
    ['with a card that may be charged again', { agreement: 'unplanned' }],
    ['with a plan', { agreement: 'plan' }],
    ['with a plan that comes to nothing', { agreement: 'plan', declined: 'by the card' }],
    ['with a wallet', { way: 'wallet' }],
    ['with a wallet and a plan', { way: 'wallet', agreement: 'plan' }],
    ['at the old gateway', { way: 'gateway' }],
    ['at the old gateway, to leave a card there', { way: 'saved card' }],
  ])(
    'a payment %s that dies at any stroke, before or after it, is made once or refused, and nothing of it is left over',
    async (_, wish) => {
      const world = await createWorld({ ...calm, far })
      let died = 0
      for (const moment of ['before', 'after'] as const)
        for (let stroke = 1; ; stroke++) {
          const order = await place(world, { ...plain, ...wish })
          const { life } = world.processes[0]
          life.arm({ stroke, moment })
          await send(world, order, 0)
          await checkCodes(world)
          if (!life.isOver()) break
          died++
        }
      // The merchant is looked for, and the payment written down, before and after.
      expect(died).toBeGreaterThanOrEqual(4)
      await askAgain(world)
      await check(world)
    },
    2 * minutes,
  )
})

test.each<[what: string, wish: Partial<Wish>]>([
  ['a security code', { way: 'card' }],
  ['what a wallet handed out', { way: 'wallet' }],
  ['a key', { way: 'gateway' }],
])('%s pays one order, whoever of many comes first', async (_, wish) => {
  const world = await createWorld(calm)
  for (let count = 0; count < 6; count++) await place(world, { ...plain, ...wish, rival: 0 })
  await Promise.all(world.orders.flatMap((order) => [send(world, order, 0), send(world, order, 1)]))
  await check(world)
  expect(await listPayments(world)).toMatchObject([{ state: 'approved' }])
})

const wishes: fc.Arbitrary<Wish> = fc.record({
  way: fc.constantFrom('card', 'card', 'card', 'wallet', 'wallet', 'gateway', 'keyless', 'saved card'),
  rival: fc.option(fc.nat(2), { nil: undefined }),
  agreement: fc.constantFrom('none', 'unplanned', 'plan', 'plan'),
  declined: fc.constantFrom('no', 'no', 'no', 'by the card', 'by the bank'),
  mishap: fc.option(fc.constantFrom<Mishap>('lost', 'unanswered', 'late', 'declined'), { nil: undefined, freq: 2 }),
  captureMishap: fc.option(fc.constantFrom<Mishap>('lost', 'unanswered', 'late', 'declined'), { nil: undefined, freq: 2 }),
})

type Step = { kind: 'send' | 'finish' | 'plans' | 'sweep'; on: number; via: number; pause: number; twice: boolean }

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('send', 'send', 'send', 'send', 'finish', 'plans', 'sweep'),
  on: fc.nat(20),
  via: fc.nat(1),
  pause: fc.nat(8),
  twice: fc.boolean(),
})

const fates = fc.array(
  fc.record({ stroke: fc.integer({ min: 1, max: 30 }), moment: fc.constantFrom('before' as const, 'after' as const) }),
  { maxLength: 6 },
)
const setting = fc.record({
  far: fc.boolean(),
  troubles: fc.array(fc.option(fc.constantFrom(...troubles), { nil: undefined, freq: 2 }), { maxLength: 12 }),
  fates,
})

const history = fc.record({
  setting,
  later: setting,
  plans: fc.constantFrom('authorize' as const, 'capture' as const),
  wishes: fc.array(wishes, { minLength: 1, maxLength: 6 }),
  waves: fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
})

let charged = 0

test(
  `${runs} random histories of customers, of whom many send twice and some processes die, end with one payment for each order and one for each that was announced`,
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ setting, later, plans, wishes, waves }) => {
        const world = await createWorld(setting, plans)
        for (const wish of wishes) await place(world, wish)
        for (const wave of waves) {
          await Promise.all(wave.map((step) => take(world, step)))
          await checkCodes(world)
        }
        await askAgain(world)
        await check(world)
        await liveOn(world, later)
        charged += await checkPlans(world, plans)
        await askLate(world)
        await check(world)
        await service.app
          .db`update pay.plans set state = 'stopped', reason = 'asked', ended = ${service.now()} where state = 'active'`
      }),
      { numRuns: runs },
    )
    expect(charged).toBeGreaterThan(runs / 4)
  },
  90 * minutes,
)

async function take(world: World, { kind, on, via, pause, twice }: Step): Promise<void> {
  // So that those who are at it at once do not always meet in the same order.
  await sleep(pause)
  if (kind !== 'send') return runLoop(world, kind, via)
  const order = world.orders[on % world.orders.length] as Order
  await Promise.all([sendPatiently(world, order, via), twice && sendPatiently(world, order, 1 - via)])
}

/** Clients who hear nothing try again a few times, wherever they get through to. */
async function sendPatiently(world: World, order: Order, via: number): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) if (await send(world, order, (via + attempt) % 2)) return
}

/** What nobody asks for and happens by itself. */
async function runLoop(world: World, kind: Exclude<Step['kind'], 'send'>, via: number): Promise<void> {
  const { app, life } = world.processes[via] as Process
  try {
    if (kind === 'finish') {
      service.now.advance(31)
      await createFinisher(app, { after: 30 })()
    }
    if (kind === 'plans') await runPlans(app)
    if (kind === 'sweep') await sweepSecurityCodes(app)
  } catch (problem) {
    if (!life.isOver()) throw problem
  }
  world.replace(via)
}

/** Some days, in which what was announced is charged, by processes that die as well. */
async function liveOn(world: World, later: Setting): Promise<void> {
  world.use(later)
  for (let time = 0; time < 3 * 24; time += 8) {
    service.now.advance(8 * hour)
    await Promise.all([runLoop(world, 'plans', 0), runLoop(world, 'plans', 1)])
    await runLoop(world, 'finish', 1)
  }
  world.use(calm)
  for (let rounds = 0; rounds < 4; rounds++) {
    service.now.advance(301)
    await runLoop(world, 'plans', 0)
    await finishAll()
  }
}
