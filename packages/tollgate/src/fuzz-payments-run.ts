import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import type { Simulation } from '@tollgate/payments/acquirers/acquirer'
import type { App } from '@tollgate/payments/app'
import { payments } from '@tollgate/payments/main'
import { editMerchant } from '@tollgate/payments/operations/edit-merchant'
import { expireAuthorizations } from '@tollgate/payments/operations/expire-authorizations'
import { createFinisher } from '@tollgate/payments/operations/finish-pending'
import { runPayouts } from '@tollgate/payments/operations/run-payouts'
import { runPlans } from '@tollgate/payments/operations/run-plans'
import { sweepSecurityCodes } from '@tollgate/payments/operations/sweep-security-codes'
import { verify } from '@tollgate/payments/operations/verify'
import { admitsJson } from '@tollgate/payments/rules/accept'
import { isForDevices } from '@tollgate/payments/rules/device-dialect'
import { deviceFailures } from '@tollgate/payments/rules/device-failures'
import { dayOf } from '@tollgate/payments/rules/payout-schedule'
import { createApp, plantMerchant, plantTransaction } from '@tollgate/payments/testing'
import { fakeApple, fakeMerchant, payment } from '@tollgate/payments/wallets/applepay-fake'
import { fakeGoogle, fakeRecipient, message } from '@tollgate/payments/wallets/googlepay-fake'
import fc from 'fast-check'
import { type Answered, type FuzzCall, luckOf, type Pools, remember, sendCall, settled } from './fuzz-calls.ts'
import { createFindings, tell } from './fuzz-findings.ts'
import { atOnce, type Fuzzing, type FuzzNode, inParallel } from './fuzz-node.ts'
import { paymentsCallOf } from './fuzz-payments.ts'

const jwtSecret = new Secret('a secret that both services know of, 32+')

type Service = FuzzNode<App>
type Endpoint = (typeof payments.endpoints)[number]
type Asked = { call: FuzzCall; endpoint: Endpoint; again: 'no' | 'after' | 'at once'; luck: number }

/** Most of what a merchant is to be changed to cannot be changed. */
const weights: Record<string, number> = { GET: 1, DELETE: 1, PUT: 4 }

/** Whatever an endpoint is sent, and some of it twice, as clients do that heard nothing. */
const anything: fc.Arbitrary<Asked> = fc.oneof(
  ...payments.endpoints.map((endpoint) => ({
    // What moves money is what this is about.
    weight: weights[endpoint.method] ?? (/transactions|payments|disputes/.test(endpoint.path) ? 6 : 2),
    arbitrary: fc.record({
      call: paymentsCallOf(endpoint),
      endpoint: fc.constant(endpoint),
      again: fc.constantFrom<Asked['again'][]>('no', 'no', 'no', 'no', 'no', 'no', 'after', 'at once'),
      luck: fc.nat(),
    }),
  })),
)

/** Requests that payments asks for, or nearly; in the end the books have to be right. */
export async function fuzzPayments(service: Service, seed: number): Promise<Fuzzing> {
  const pools = await firstPools(service)
  const agent = new Agent({ keepAlive: true, maxSockets: 2 * atOnce })
  const settleOpen = createFinisher(service.app, { after: 1 })
  const findings = createFindings()
  /** Merchants whose plans are executed, so that there are not more of them with every batch. */
  const planned: string[] = []

  async function ask({ call: wanted, endpoint, again, luck }: Asked) {
    const call = settled(wanted, pools)
    const name = `${endpoint.method} ${endpoint.path}`
    const send = () => sendCall(service.origin, agent, call)
    const answers = again === 'at once' ? await Promise.all([send(), send()]) : [await send()]
    if (again === 'after') answers.push(await send())
    for (const answered of answers) {
      const wrong = wrongWith(call, endpoint, answered)
      if (wrong !== undefined) findings.noteCall(`${name}: ${wrong}`, call, answered)
      else learn(call, answered, pools)
      if (isOffer(endpoint, answered)) await goOn(call, answered, luckOf(luck))
      if (call.method === 'DELETE' && answered.status === 204) await letIn(service, pools)
      findings.count(name, answered.status)
    }
    const [one, other] = answers
    if (one && other && saysOtherwise(call, one, other))
      findings.noteCall(
        `${endpoint.path}: a key got two answers, the other being ${other.status} ${other.text.slice(0, 300)}`,
        call,
        one,
      )
  }

  /** A device that was told which step comes next takes it, and the one after it; some of them lose or mangle what they carry. */
  async function goOn(call: FuzzCall, answered: Answered, luck: Luck) {
    const order = call.body as Record<string, unknown>
    let hints: string[] = []
    for (let told = JSON.parse(answered.text) as Told; told.challenges && hints.length < 30; ) {
      const [challenge] = told.challenges
      if (!challenge) return
      const step = await take(challenge.path, { ...order, hints: mangle(hints, luck) })
      if (!step) return
      hints = [...hints, ...(step.hints ?? []), ...(await openFrame(step, luck))]
      const next = await take('/payments', { ...order, hints: mangle(hints, luck) })
      if (!next) return
      told = next
      for (const hint of hints) remember(pools, 'hint', hint)
      remember(pools, 'transaction', next.authorizationId)
    }

    async function take(path: string, body: Record<string, unknown>): Promise<Told | undefined> {
      const endpoint = payments.endpoints.find(
        (each) => each.path === path.replace(/[^/]+$/, (name) => (path === '/payments' ? name : '{challenge}')),
      )
      const sent = { ...call, path, body }
      const answers = await Promise.all(
        Array.from({ length: luck(8) === 0 ? 2 : 1 }, () => sendCall(service.origin, agent, sent)),
      )
      for (const each of answers) {
        const wrong = endpoint ? wrongWith(sent, endpoint, each) : 'a step that is nowhere'
        if (wrong !== undefined) findings.noteCall(`${path}: ${wrong}`, sent, each)
        findings.count(`POST ${endpoint?.path}`, each.status)
      }
      const [first] = answers
      return first?.status === 200 ? (JSON.parse(first.text) as Told) : undefined
    }
  }

  async function openFrame({ action, fields }: Told, luck: Luck): Promise<string[]> {
    if (action === undefined || fields === undefined) return []
    for (const [name, question] of Object.entries(fields)) remember(pools, name, question)
    const name = `POST ${new URL(action).pathname}`
    const page = await service.call(name, { form: fields })
    findings.count(name, page.status)
    const data = /id="data">(.*?)<\/script>/s.exec(page.text)?.[1]
    const told = JSON.parse(data ?? '{}') as { hints?: string[]; approve?: { hints: string[] }; fail?: { hints: string[] } }
    return told.hints ?? (luck(5) === 0 ? told.fail : told.approve)?.hints ?? []
  }

  async function letTimePass(number: number) {
    await service.advance(luckOf(seed + number)(600))
    await settleOpen()
    await runPlans(service.app)
    await sweepSecurityCodes(service.app)
    if (number % 8 === 7) {
      await service.advance(86_400 * 3)
      const { failures } = await runPayouts(service.app, { day: dayOf(service.now()), test: true })
      for (const { merchantId, problem } of failures) findings.note('a payout failed', `${merchantId} ${problem}`)
    }
    if (number % 16 === 15) {
      await service.advance(86_400 * 30)
      await expireAuthorizations(service.app, 29)
    }
  }

  async function listen() {
    await service.heard()
    findings.explain(service.lines)
    for (const { level, message, error } of service.lines)
      if (level === 'error' && !expected.has(message)) findings.note(message, tell(error, 1_500))
    service.lines.length = 0
  }

  return {
    findings,
    async send(batch, count) {
      planned.push(await addMerchants(service, pools, batch))
      const [past] = planned.length > 16 ? planned.splice(0, 1) : []
      if (past !== undefined) await leaveAlone(service, past)
      const asked = fc.sample(anything, { seed: (seed + batch) | 0, numRuns: count })
      await inParallel(asked, ask)
      await letTimePass(batch)
      await listen()
    },
    async finish() {
      for (let rounds = 0; rounds < 4; rounds++) {
        await service.advance(400)
        await settleOpen()
      }
      await sweepSecurityCodes(service.app)
      await listen()
      const { breaches, warnings } = await verify(service.app.db, service.now())
      for (const breach of [...breaches, ...warnings]) findings.note('verify', tell(breach, 1_500))
    },
    close: () => agent.destroy(),
  }
}

/** One that has been paid out is not looked at every time again, so that the last batch takes no longer than the first. */
async function leaveAlone({ app }: Service, merchantId: string): Promise<void> {
  await editMerchant(app, merchantId, { terms: { plans: 'record' }, price: {} })
  await app.db`update pay.merchants set payouts = 'never' where id = ${merchantId}`
}

type Luck = (below: number) => number

/** What an operator is to know of, and no bug. */
const expected = new Set(['request', 'a live merchant was to be paid, but PAY_ACQUIRER names nobody who could'])

/** What a device is told. */
type Told = {
  challenges?: { name: string; path: string }[]
  hints?: string[]
  action?: string
  fields?: Record<string, string>
  authorizationId?: string
}

function isOffer({ path }: Endpoint, { status, text }: Answered): boolean {
  return status === 200 && path === '/payments' && text.startsWith('{"challenges"')
}

/** Mostly not. */
function mangle(hints: readonly string[], luck: Luck): string[] {
  const [place, chance] = [luck(hints.length + 1), luck(60)]
  if (chance === 0) return hints.toSpliced(place, 1)
  if (chance === 1) return [...hints, ...hints, ...hints].slice(0, 110)
  if (chance === 2) return hints.toReversed()
  if (chance === 3) return hints.map((hint, index) => (index === place ? `${hint.slice(0, -6)}AAAA==` : hint))
  return [...hints]
}

/** What an answer breaks of what is promised, if anything. */
function wrongWith({ headers: sent }: FuzzCall, endpoint: Endpoint, { status, text, headers }: Answered): string | undefined {
  const type = headers['content-type']
  if (!/^[\x21-\x7e]{1,128}$/.test(String(headers['x-request-id']))) return 'no request id'
  if (headers['x-content-type-options'] !== 'nosniff') return 'no safe headers'
  if (status >= 500 && !honest(endpoint, status)) return `${status}`
  if (status >= 300 && status < 400) return 'a redirect'
  if (isForDevices(endpoint.path) && status >= 300) return wrongForDevices(status, text, headers)
  if (isFile(endpoint) && status < 500) return wrongWithFile(endpoint, status, text, headers)
  if (text !== '' && type !== 'application/json; charset=utf-8') return `${status} with content type ${type}`
  if (text === '' && type !== undefined) return `${status} without a body and with a content type`
  if (status === 400) return wrongWithRefusal(text)
  if (status < 300) return wrongWithReply(endpoint, status, text)
  if (!admitsJson(sent.accept)) return text === '' ? undefined : `${status} with a body for those who cannot read it`
  return /^\{"code":"[a-z_]+","message":"[^\n]+"(,"transactionId":"[0-9a-f]{24}")?\}\n$/.test(text)
    ? undefined
    : `${status} that is not told as promised`
}

const deviceCodes = new Set([...Object.keys(deviceFailures), 'INTERNAL_ERROR', 'ENDPOINT_NOT_FOUND'])

/** Clients that do not know a code take it for a crash, and what is not JSON they try again. */
function wrongForDevices(status: number, text: string, { 'content-type': type, 'x-status-code': code }: Answered['headers']) {
  if (!deviceCodes.has(String(code))) return `${status} with the code ${code}`
  if (status >= 500 || status === 429) return type?.startsWith('text/plain') ? undefined : `${status} that nobody tries again`
  if (type !== 'application/json; charset=utf-8' || !text.endsWith('\n')) return `${status} that is no line of JSON`
  const told = JSON.parse(text)
  const hasErrors = told.errors === undefined || (Array.isArray(told.errors) && told.errors.length > 0)
  return told.code === code && typeof told.message === 'string' && hasErrors
    ? undefined
    : `${status} that is not told as promised`
}

/** Pages, and what they are made of. */
function isFile({ reply }: Endpoint): boolean {
  return Object.values(reply).some((shape) => (shape as { contentMediaType?: string }).contentMediaType !== undefined)
}

function wrongWithFile({ reply }: Endpoint, status: number, text: string, headers: Answered['headers']): string | undefined {
  const type = String(headers['content-type'])
  if (!(status in reply)) return status === 404 || status === 400 ? undefined : `${status}, which is not among its replies`
  if (text === '') return `${status} without a body`
  if (!type.startsWith('text/html')) return undefined
  const policy = String(headers['content-security-policy'])
  // The popup may be in the page of any shop.
  return /default-src 'none'/.test(policy) && !/unsafe|(?<!frame-ancestors )\*/.test(policy)
    ? undefined
    : `a page that may do anything: ${policy}`
}

/** Whether it may fail with something that is not the caller's fault, and says so. */
function honest({ fails, path }: Endpoint, status: number): boolean {
  // Devices are told 503 for what is still under way.
  const isUnderWay = isForDevices(path) && fails.includes('idempotency_running')
  return (
    (status === 504 && fails.includes('outcome_unknown')) ||
    (status === 503 && (isUnderWay || fails.includes('exchange_unavailable')))
  )
}

function wrongWithRefusal(text: string): string | undefined {
  const told = JSON.parse(text)
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  if (!text.endsWith('\n') || text.trimEnd().includes('\n')) return '400 that is not one line'
  if (Array.isArray(told)) {
    const fits = told.length > 0 && told.every(({ field, message, ...more }) => isText(field) && isText(message) && isEmpty(more))
    return fits ? undefined : '400 with a list that is not one of fields'
  }
  const { code, message, text: same, client, merchant, response, ...more } = told
  const fits = Number.isInteger(code) && isText(message) && same === message && typeof client === 'boolean'
  return fits && typeof merchant === 'boolean' && isEmpty(more) ? undefined : '400 that is no processing error'
}

const isEmpty = (value: object) => Object.keys(value).length === 0

function wrongWithReply({ reply }: Endpoint, status: number, text: string): string | undefined {
  const shape = reply[status] as { type?: string } | undefined
  if (!shape) return `${status}, which is not among its replies`
  if (shape.type === 'void') return text === '' ? undefined : `${status} with a body`
  const told = JSON.parse(text)
  if (!text.endsWith('\n')) return `${status} whose last line does not end`
  const lines = text.trimEnd().split('\n')
  // One element a line, because some clients read line by line.
  if (Array.isArray(told)) return lines.length === told.length + 2 ? undefined : 'a list that is not one element a line'
  return lines.length === 1 ? undefined : 'an object that is not one line'
}

/** Whether one key got two answers to one request, both of them final. Of a transaction, others may have changed the rest meanwhile. */
function saysOtherwise({ method, path, headers }: FuzzCall, one: Answered, other: Answered): boolean {
  // Every token is another one, and whoever calls for a customer sends no keys.
  if (isForDevices(path.replace(/\?.*/, ''))) return false
  const isKeyed = /^[\x21-\x7e]{1,255}$/.test(headers['idempotency-key'] ?? '')
  if (method !== 'POST' || !isKeyed || one.status > 201 || other.status > 201) return false
  const [first, second] = [one, other].map(({ text }) => /^\{"transaction":\{"id":"[0-9a-f]+"/.exec(text)?.[0] ?? text)
  return first !== second
}

/** Per euro, with no, two and three decimals, and some that are worth next to nothing. */
const rates = {
  USD: '1.0863',
  DKK: '7.4605',
  HUF: '411.95',
  JPY: '163.06',
  KRW: '1612.23',
  KWD: '0.3345',
  BHD: '0.4095',
  VND: '27650',
  IDR: '17821',
}

/** What the service needs, so that requests come further than to a refusal. The file is where exchange rates are put. */
export function paymentsFuzzSettings(file: string): Record<string, string> {
  const cubes = Object.entries(rates).map(([currency, rate]) => `<Cube currency='${currency}' rate='${rate}'/>`)
  writeFileSync(
    file,
    `<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
      <Cube><Cube time='2030-01-01'>${cubes.join('')}</Cube></Cube></gesmes:Envelope>`,
  )
  return {
    ...{ PAY_JWT_SECRET: jwtSecret.reveal(), PAY_EXCHANGE_RATES: file },
    ...{ PAY_APPLEPAY_KEYS: wallets.merchant.setting, PAY_APPLEPAY_ROOT: wallets.apple.root },
    ...{ PAY_GOOGLEPAY_KEYS: wallets.recipient.setting, PAY_GOOGLEPAY_ROOT_KEYS: wallets.google.rootKeys() },
    PAY_GOOGLEPAY_RECIPIENT: 'gateway:tollgate',
  }
}

/** Until then a service cannot exchange much. */
export function hasFuzzRates({ rates }: Pick<App, 'rates'>): boolean {
  return rates.find('KWD', 'EUR')?.day === '2030-01-01'
}

// The still clock of every test stands here.
const wallets = {
  apple: fakeApple(new Date('2030-01-02T03:04:05Z')),
  merchant: fakeMerchant(),
  google: fakeGoogle(),
  recipient: fakeRecipient(),
}

/** What customers have with them: cards that were typed in, and phones. All of it is good for some minutes only. */
async function addCustomers({ app, call, now }: Service, pools: Pools, shopKey: string): Promise<void> {
  const [later, headers] = [String(now().getTime() + 600_000), { 'accept-version': '1' }]
  const post = async (path: string, json: object) =>
    (await call(`POST ${path}`, { headers, json })).json<{ token: string }>().token
  for (const value of ['4100000000000000', '5100000000000000', '4100000000000007', '4200000000000000'])
    remember(pools, 'pcn', app.vault.seal('pcn', value, now()))
  const codes = Array.from({ length: 40 }, () => post('/vault', { type: 'pcsc', value: '123' }))
  for (const token of await Promise.all(codes)) remember(pools, 'pcsc', token)
  for (let count = 0; count < 10; count++) {
    const content = { ...payment, applicationPrimaryAccountNumber: '4100000000000000' }
    const byApple = JSON.stringify(wallets.apple.pay(wallets.merchant, { content, signing: { time: now() } }))
    const paymentMethodDetails = { ...message.paymentMethodDetails, pan: '4100000000000000' }
    const sent = {
      ...message,
      messageId: `message-${shopKey}-${count}`,
      messageExpiration: later,
      gatewayMerchantId: shopKey,
      paymentMethodDetails,
    }
    const byGoogle = JSON.stringify(wallets.google.pay(wallets.recipient.publicKey, { content: sent, keyExpiration: later }))
    remember(pools, 'applePayment', byApple)
    remember(pools, 'googlePayment', byGoogle)
    const tokens = await Promise.all([post('/applepay/token', { token: byApple }), post('/googlepay/token', { token: byGoogle })])
    remember(pools, 'applepay', tokens[0])
    remember(pools, 'googlepay', tokens[1])
  }
}

/** A customer who agrees to more; the bank asks nothing. */
async function payWithPlan({ app, call, now }: Service, pools: Pools, key: string): Promise<void> {
  const ask = async (path: string, json: object) =>
    (await call(`POST ${path}`, { headers: { 'accept-version': '1' }, json })).json<Told & { token: string }>()
  const order = {
    integration: { key },
    test: { tds: { challenge: false, fingerprint: 'unavailable' } },
    amount: { currency: 'EUR', exponent: 2, value: 1250 },
    card: {
      number: { token: app.vault.seal('pcn', '4100000000000000', now()) },
      code: await ask('/vault', { type: 'pcsc', value: '123' }),
      expiry: { month: 12, year: 2060 },
    },
    plan: [{ amount: { currency: 'EUR', exponent: 2, value: 995 }, repeat: { interval: { unit: 'day' } } }],
  }
  const hints: string[] = []
  for (const step of ['authorize-integration', 'tds-enrolled', 'authorize'])
    hints.push(...((await ask(`/payments/challenges/${step}`, { ...order, hints })).hints ?? []))
  remember(pools, 'planned', (await ask('/payments', { ...order, hints })).authorizationId)
}

async function firstPools(service: Service): Promise<Pools> {
  const owner = await createApp(service.call, 'Owner')
  const stranger = await plantMerchant(service)
  const claims = { sub: '11111111-1111-4111-8111-111111111111', aud: 'authenticated', role: 'authenticated' }
  const exp = Math.floor(service.now().getTime() / 1000) + 10 ** 9
  const person = `Bearer ${signToken({ ...claims, exp, email: 'owner@shop.test' }, jwtSecret)}`
  const { identity } = (await service.call('GET /me', { headers: { authorization: person } })).json<{
    identity: { id: string }
  }>()
  const kinds = [
    ...[
      'main',
      'mainApp',
      'merchant',
      'transaction',
      'card',
      'line',
      'dispute',
      'fraud',
      'user',
      'app',
      'amount',
      'key',
      'shopKey',
      'liveShopKey',
    ],
    ...[
      'pcn',
      'pcsc',
      'applepay',
      'googlepay',
      'applePayment',
      'googlePayment',
      'hint',
      'data',
      'creq',
      'threeDSMethodData',
      'asset',
      'planned',
    ],
  ]
  return {
    ...Object.fromEntries(kinds.map((kind) => [kind, []])),
    owner: [owner.authorization],
    person: [person],
    identity: [owner.id, identity.id],
    stranger: [stranger.authorization],
    foreign: [stranger.id],
    strangersTransaction: [await plantTransaction(service, { merchantId: stranger.id })],
  }
}

/** Makes members of those who have to be: requests may have taken that from them. */
async function letIn({ app, now }: Service, { merchant = [], identity: [appId = '', personId = ''] = [] }: Pools): Promise<void> {
  await app.db`
    insert into pay.members (merchant_id, identity_id, kind, created)
    select merchant_id, identity_id, kind, ${now()}
    from unnest(${merchant}::text[]) as merchant_id, (values (${appId}, 'app'), (${personId}, 'user')) as member (identity_id, kind)
    on conflict do nothing`
}

const largest = Number.MAX_SAFE_INTEGER
const fundings = ['EUR', 'DKK', 'HUF', 'USD']
const sources = ['EUR', 'JPY', 'KWD', 'DKK', 'USD', 'EUR']
const troubles: readonly Simulation[] = [
  { acquirer: { capture: 'lost' } },
  { acquirer: { refund: 'late', void: 'declined' } },
  { acquirer: { capture: 'late', refund: 'unanswered', void: 'lost' } },
  { acquirer: { latency: 1 } },
]

/** A test merchant with some of everything, which most requests will be about, and a live one. Answers with the former's id. */
async function addMerchants(service: Service, pools: Pools, number: number): Promise<string> {
  const { call } = service
  const currency = fundings[number % fundings.length] ?? 'EUR'
  const main = await plantMerchant(service, { currency, rate: number % 5 === 4 ? '0' : '0.025', flat: number % 3 === 2 ? 0 : 25 })
  const live = await plantMerchant(service, { test: false })
  pools.main = [main.id]
  pools.mainApp = [main.app.id]
  pools.shopKey = [main.key]
  pools.liveShopKey = [live.key]
  await editMerchant(service.app, main.id, { terms: { plans: number % 2 ? 'capture' : 'authorize' }, price: {} })
  await addCustomers(service, pools, main.key)
  for (const _ of [1, 2, 3]) await payWithPlan(service, pools, main.key)
  // What belongs to those before would only be refused for it.
  for (const kind of ['transaction', 'card', 'dispute', 'planned']) pools[kind]?.splice(0, pools[kind].length - 4)
  remember(pools, 'merchant', main.id)
  if (number % 4 === 0) remember(pools, 'merchant', live.id)
  await letIn(service, pools)
  remember(pools, 'app', main.app.id)

  const headers = { authorization: pools.owner?.[0] ?? '' }
  const post = async (path: string, json: object) => {
    const { status, text } = await call(`POST ${path}`, { headers, json })
    if (status !== 201) throw new Error(`the stage cannot be set: ${path} was answered with ${status}: ${text}`)
    return JSON.parse(text)
  }
  for (const [index, each] of sources.entries()) {
    const amount = index === 0 ? 1_000_000 : 5_000
    const id = await plantTransaction(service, { merchantId: main.id, amount, currency: each })
    remember(pools, 'transaction', id)
    const { transaction } = await post(`/transactions/${id}/captures`, { amount: 2_000 })
    remember(pools, 'line', transaction.trail[0].lineId)
  }
  const transactionId = pools.transaction?.at(-1)
  for (const amount of [largest, largest - 2_000, 10 ** 15]) {
    const id = await plantTransaction(service, { merchantId: main.id, amount, currency })
    await call(`POST /transactions/${id}/captures`, { headers, json: { amount: number % 2 ? amount : amount - 300 } })
    remember(pools, 'transaction', id)
  }
  for (const simulation of troubles)
    remember(pools, 'transaction', await plantTransaction(service, { merchantId: main.id, amount: 2_000, simulation }))
  remember(pools, 'card', (await post(`/merchants/${main.id}/cards`, { transactionId })).card.id)
  remember(pools, 'dispute', (await post(`/merchants/${main.id}/simulator/disputes`, { transactionId, amount: 100 })).dispute.id)
  remember(pools, 'fraud', (await post(`/merchants/${main.id}/simulator/frauds`, { transactionId })).fraud.id)
  return main.id
}

type Thing = { id?: string; test?: boolean; trail?: { lineId?: string }[]; capturedAmount?: number; pendingAmount?: number }
type Made = Partial<Record<'transaction' | 'card' | 'dispute' | 'fraud' | 'app' | 'merchant', Thing>> & Told

/** What an answer names is asked about by requests to come. */
function learn({ method, path, headers, body }: FuzzCall, { status, text }: Answered, pools: Pools): void {
  if (method === 'POST' && status < 300 && path === `/merchants/${pools.main?.[0]}/apps`)
    remember(pools, 'mainApp', (body as { appId?: unknown }).appId)
  if (status === 200 && text.startsWith('[') && /\/users\?/.test(path)) remember(pools, 'user', JSON.parse(text).at(-1)?.id)
  for (const [, asset] of text.matchAll(/\/pos\/assets\/([\w.-]+)/g)) remember(pools, 'asset', asset)
  if (status === 201) remember(pools, 'key', headers['idempotency-key'])
  if (status > 201 || !text.startsWith('{')) return
  const { transaction, card, dispute, fraud, app, merchant, ...told } = JSON.parse(text) as Made
  for (const [name, question] of Object.entries(told.fields ?? {})) remember(pools, name, question)
  for (const hint of told.hints ?? []) remember(pools, 'hint', hint)
  remember(pools, 'transaction', transaction?.id)
  // What is there is worth asking for, to the last unit and one more.
  for (const amount of [transaction?.pendingAmount, transaction?.capturedAmount]) {
    remember(pools, 'amount', amount && String(amount))
    remember(pools, 'amount', amount && String(amount + 1))
  }
  remember(pools, 'line', transaction?.trail?.at(-1)?.lineId)
  remember(pools, 'card', card?.id)
  remember(pools, 'dispute', dispute?.id)
  remember(pools, 'fraud', fraud?.id)
  remember(pools, 'app', app?.id)
  if (merchant?.test) remember(pools, 'merchant', merchant.id)
}
