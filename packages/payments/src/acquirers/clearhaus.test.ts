import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { createFetch } from '@tollgate/kit/fetch'
import type { FakeAnswer, FakeReply } from '@tollgate/kit/http-fake'
import { Secret } from '@tollgate/kit/secret'
import { keptLog } from '@tollgate/kit/testing'
import fc from 'fast-check'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AuthorizeAsk, CardMethod, MoveAsk, Outcome } from './acquirer.ts'
import { clearhaus } from './clearhaus.ts'
import { type Manners, startClearhausFake } from './clearhaus-fake.ts'
import type { ClearhausSettings } from './clearhaus-wire.ts'

const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'tollgate/test' })
afterAll(() => fetch.close())

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const apiKey = '0f3a7c11-cafe-4bee-a000-canary00key0'
const signingKeyId = '4390aec7-f76a-4c2f-8597-c87c2d06cb4f'

async function start(manners: Partial<Manners> & { settings?: Partial<ClearhausSettings> } = {}) {
  const { settings, ...rest } = manners
  const fake = await startClearhausFake({ apiKey, signingKeyId, publicKey, ...rest })
  onTestFinished(() => fake.close())
  const { log, lines } = keptLog()
  const acquirer = clearhaus(
    { base: fake.origin, apiKey: new Secret(apiKey), signingKeyId, signingKey: new Secret(privateKey), timeout: 5, ...settings },
    { fetch, log },
  )
  return { fake, acquirer, lines }
}

const number = '4111118765432106'
const method: CardMethod = { kind: 'card', number: new Secret(number), expiryMonth: 6, expiryYear: 2031, code: new Secret('987') }
/** Lets the amount choose the gateway's status. */
const telling: CardMethod = { ...method, number: new Secret('4200001234560000') }

let references = 0

function payment(own: Partial<AuthorizeAsk> = {}): AuthorizeAsk {
  return {
    reference: (++references).toString(16).padStart(24, '5'),
    merchantId: '5f0000000000000000000001',
    currency: 'EUR',
    amount: 1000,
    again: false,
    simulation: undefined,
    descriptor: 'Coffee shop',
    card: { bin: '411111', last4: '2106', expiry: new Date('2031-06-30'), scheme: 'visa', codePresent: true },
    previous: undefined,
    method,
    ...own,
  }
}

type Started = Awaited<ReturnType<typeof start>>

/** An approved authorization, and how to ask for movements of it. */
async function authorized({ acquirer }: Started, own: Partial<AuthorizeAsk> = {}) {
  const asked = payment(own)
  const outcome = await acquirer.authorize(asked)
  if (outcome.kind !== 'approved') throw new Error(`not approved: ${inspect(outcome)}`)
  const { acquirerReference } = outcome
  const movement = (kind: MoveAsk['kind'], amount: number, more: Partial<MoveAsk> = {}): MoveAsk => ({
    reference: (++references).toString(16).padStart(24, '6'),
    merchantId: asked.merchantId,
    currency: asked.currency,
    amount,
    again: false,
    simulation: undefined,
    kind,
    descriptor: undefined,
    authorization: { reference: asked.reference, acquirerReference, amount: asked.amount },
    endsAuthorization: kind === 'void' && amount === asked.amount,
    ...more,
  })
  return { id: acquirerReference as string, movement }
}

const again = (ask: MoveAsk): MoveAsk => ({ ...ask, again: true })
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/)
const approved = { kind: 'approved', acquirerReference: uuid }
const unknown = { kind: 'unknown', reason: expect.any(String) }

function formOf(request: { body: string } | undefined) {
  return Object.fromEntries(new URLSearchParams(request?.body))
}

describe('what goes over the wire', () => {
  test('an authorization: the key as user name, a form with brackets, a signature over its bytes, our reference', async () => {
    const { fake, acquirer } = await start()
    const asked = payment()
    expect(await acquirer.authorize(asked)).toEqual({ kind: 'approved', acquirerReference: fake.authorizations()[0]?.id })
    const [request] = fake.requests
    expect([request?.method, request?.path, request?.headers.authorization]).toEqual([
      'POST',
      '/authorizations',
      `Basic ${btoa(`${apiKey}:`)}`,
    ])
    expect(request?.headers.signature).toMatch(new RegExp(`^${signingKeyId} RS256-hex [0-9a-f]{512}$`))
    expect(formOf(request)).toEqual({
      amount: '1000',
      currency: 'EUR',
      reference: asked.reference,
      text_on_statement: 'Coffee shop',
      'card[pan]': number,
      'card[expire_month]': '06',
      'card[expire_year]': '2031',
      'card[csc]': '987',
    })
  })

  test('a capture, a refund of it, and the void of another, each at its authorization', async () => {
    const started = await start()
    const { fake, acquirer } = started
    const { id, movement } = await authorized(started)
    expect(await acquirer.move(movement('capture', 700, { descriptor: 'Coffee, large' }))).toEqual(approved)
    expect(await acquirer.move(movement('refund', 200))).toEqual(approved)
    const other = await authorized(started)
    expect(await acquirer.move(other.movement('void', 1000))).toEqual(approved)
    const sent = fake.requests.filter(({ path }) => path !== '/authorizations').map((each) => [each.path, formOf(each)])
    expect(sent).toEqual([
      [`/authorizations/${id}/captures`, { amount: '700', text_on_statement: 'Coffee, large' }],
      [`/authorizations/${id}/refunds`, { amount: '200' }],
      [`/authorizations/${other.id}/voids`, {}],
    ])
    expect(fake.authorizations().map(({ captures, refunds, voids }) => [captures.length, refunds.length, voids.length])).toEqual([
      [1, 1, 0],
      [0, 0, 1],
    ])
  })

  test('a series is begun and continued, without the code', async () => {
    const started = await start()
    const { fake, acquirer } = started
    const { id } = await authorized(started, { series: 'recurring' })
    expect(await acquirer.authorize(payment({ previous: { reference: 'x', acquirerReference: id } }))).toEqual(approved)
    const [first, second] = fake.requests.map(formOf)
    expect(first).toMatchObject({ 'series[type]': 'recurring', 'card[csc]': '987' })
    expect(second).toMatchObject({ 'series[previous][id]': id })
    expect(second).not.toHaveProperty('card[csc]')
    expect(fake.authorizations()[1]?.series).toEqual({ type: 'recurring', previous: id })
  })

  test('krónur are whole there, and have two decimals here', async () => {
    const started = await start()
    const { fake, acquirer } = started
    const { movement } = await authorized(started, { currency: 'ISK', amount: 50_000 })
    expect(await acquirer.move(movement('capture', 30_000))).toEqual(approved)
    expect(fake.requests.map((each) => formOf(each).amount)).toEqual(['500', '300'])
    expect(await acquirer.move(movement('capture', 150))).toEqual({ kind: 'declined', code: 14 })
    expect(fake.requests).toHaveLength(2)
  })

  test('all that is left of krónur can be voided, even where it is no whole number of them', async () => {
    const started = await start()
    const { movement } = await authorized(started, { currency: 'ISK', amount: 50_000 })
    expect(await started.acquirer.move(movement('void', 49_950, { endsAuthorization: true }))).toEqual(approved)
    expect(started.fake.authorizations()[0]?.voids).toHaveLength(1)
  })
})

describe('what is settled without asking', () => {
  test.each<[string, Partial<AuthorizeAsk>, number]>([
    ['a currency that is gone there', { currency: 'BYR' }, 1],
    ['a currency that nobody knows', { currency: 'XXX' }, 1],
    ['an amount of ten digits', { amount: 1_000_000_000 }, 22],
    ['a payment without a card number', { method: undefined }, 12],
    ['one that continues a payment without an id there', { previous: { reference: 'x', acquirerReference: undefined } }, 12],
    ['one that continues a payment with a foreign id', { previous: { reference: 'x', acquirerReference: '../account' } }, 12],
  ])('%s is declined', async (_what, own, code) => {
    const { fake, acquirer } = await start()
    expect(await acquirer.authorize(payment(own))).toEqual({ kind: 'declined', code })
    expect(fake.requests).toEqual([])
  })

  test('the largest amount is let through', async () => {
    const { acquirer } = await start()
    expect(await acquirer.authorize(payment({ amount: 999_999_999 }))).toEqual(approved)
  })

  test('that card numbers are missing is said once', async () => {
    const { acquirer, lines } = await start()
    await acquirer.authorize(payment({ method: undefined }))
    await acquirer.authorize(payment({ method: undefined }))
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'payments are declined: clearhaus needs card numbers, and there is none for them'],
    ])
  })

  test('a part is voided here alone, the rest there', async () => {
    const started = await start()
    const { fake, acquirer } = started
    const { movement } = await authorized(started)
    expect(await acquirer.move(movement('void', 400))).toEqual({ kind: 'approved', acquirerReference: undefined })
    expect(fake.requests).toHaveLength(1)
    expect(await acquirer.move(movement('void', 600, { endsAuthorization: true }))).toEqual(approved)
    expect(fake.authorizations()[0]?.voids).toHaveLength(1)
  })

  test.each([undefined, '', '../account', '84412a34-fa29-4369-a098-0165a80e8fda/../..'])(
    'nothing is moved of an authorization that is called %j there',
    async (acquirerReference) => {
      const started = await start()
      const { movement } = await authorized(started)
      const asked = movement('capture', 100, { authorization: { reference: 'x', acquirerReference, amount: 1000 } })
      expect(await started.acquirer.move(asked)).toEqual({ kind: 'declined', code: 12 })
      expect(started.fake.requests).toHaveLength(1)
    },
  )
})

describe('refusals', () => {
  test.each([
    ...[[40000, 12] as const, [40110, 3] as const, [40111, 29] as const, [40120, 4] as const, [40130, 5] as const],
    ...[[40135, 6] as const, [40140, 1] as const, [40150, 13] as const, [40200, 11] as const, [40300, 30] as const],
    ...[[40310, 31] as const, [40400, 12] as const, [40410, 8] as const, [40411, 9] as const, [40412, 10] as const],
    ...[[40413, 7] as const, [40414, 11] as const, [40415, 25] as const, [40416, 30] as const, [40420, 10] as const],
    [50000, 12] as const,
  ])('status %i is processing error %i', async (amount, code) => {
    const { acquirer, lines } = await start()
    expect(await acquirer.authorize(payment({ amount, method: telling }))).toEqual({ kind: 'declined', code })
    expect(lines[0]).toMatchObject({ message: 'declined by clearhaus', clearhaus_status: amount })
  })

  test('a payment that failed inside of the gateway is voided there', async () => {
    const { fake, acquirer, lines } = await start()
    await acquirer.authorize(payment({ amount: 50_000, method: telling }))
    expect(fake.authorizations()[0]?.voids).toHaveLength(1)
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([])
  })

  test('where that void fails too, somebody is told, and the payment is declined all the same', async () => {
    const { fake, acquirer, lines } = await start()
    fake.suffer({ answer: (right) => right, done: true }, { answer: { status: 503 }, done: false })
    expect(await acquirer.authorize(payment({ amount: 50_000, method: telling }))).toEqual({ kind: 'declined', code: 12 })
    expect(lines.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('could not be voided') })
  })

  const status = (code: unknown, http = 201): FakeReply => ({ status: http, json: { id: crypto.randomUUID(), status: { code } } })
  test.each<[string, FakeReply, number]>([
    ['a status that is new', status(40499), 12],
    ['a refusal with a server error', status(50000, 500), 12],
    ['401 without a word', { status: 401 }, 12],
    ['404 with a page', { status: 404, text: '<html>Not found</html>' }, 12],
    ['403 in other words', { status: 403, json: { message: 'no' } }, 12],
  ])('%s declines a capture', async (_what, answer, code) => {
    const started = await start()
    const { movement } = await authorized(started)
    started.fake.suffer({ answer, done: false })
    expect(await started.acquirer.move(movement('capture', 1000))).toEqual({ kind: 'declined', code })
  })

  test('a wrong API key and a wrong signing key are refusals', async () => {
    const wrongKey = await start({ settings: { apiKey: new Secret('other') } })
    expect(await wrongKey.acquirer.authorize(payment())).toEqual({ kind: 'declined', code: 12 })
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const wrongSignature = await start({ settings: { signingKey: new Secret(other) } })
    expect(await wrongSignature.acquirer.authorize(payment())).toEqual({ kind: 'declined', code: 12 })
    expect(wrongSignature.lines[0]).toMatchObject({ clearhaus_status: 40000, clearhaus_message: 'invalid signature' })
    expect([...wrongKey.fake.authorizations(), ...wrongSignature.fake.authorizations()]).toEqual([])
  })

  test('nobody there at all is a refusal: nothing was sent', async () => {
    const { fake, acquirer, lines } = await start()
    await fake.close()
    fake.close = async () => {}
    expect(await acquirer.authorize(payment())).toEqual({ kind: 'declined', code: 12 })
    expect(lines[0]).toMatchObject({
      level: 'warn',
      message: 'declined without clearhaus',
      why: expect.stringContaining('ECONNREFUSED'),
    })
  })
})

const approval = (body: object): FakeReply => ({ status: 201, json: { status: { code: 20000 }, ...body } })
const mishaps: [string, FakeAnswer][] = [
  ['no answer', 'hang'],
  ['a cut connection', 'cut'],
  ['a cut in the middle of the answer', 'cut in the middle'],
  ['something that is not HTTP', 'garbage'],
  ['500', { status: 500, text: 'oops' }],
  ['502 in JSON', { status: 502, json: { message: 'bad gateway' } }],
  ['malformed JSON', { status: 201, text: '{"id":"84412a34-fa29-4369-a098-0165a80e8fda","status":{"code":20000' }],
  ['a page', { status: 200, text: '<html>Welcome to the hotel</html>' }],
  ['an empty answer', { status: 201, text: '' }],
  ['a list', { status: 201, json: [] }],
  ['null', { status: 201, json: null }],
  ['an empty object', { status: 201, json: {} }],
  ['a status that is a word', { status: 201, json: { status: 'ok' } }],
  ['a code that is a word', approval({ id: crypto.randomUUID(), status: { code: '20000' } })],
  ['a status that there is not', approval({ id: crypto.randomUUID(), status: { code: 20001 } })],
  ['an approval without an id', approval({})],
  ['an approval with an id that is none', approval({ id: '../account' })],
  ['an approval of another amount', approval({ id: crypto.randomUUID(), amount: 999 })],
  ['an approval with a refusing status', { ...approval({ id: crypto.randomUUID() }), status: 400 }],
  ['a redirect', { status: 302, headers: { location: 'https://example.com/' } }],
  ['a request timeout', { status: 408 }],
  ['too many requests', { status: 429 }],
  ['two million bytes', { status: 201, text: 'x'.repeat(2_000_000) }],
]

describe('what may have happened', () => {
  test.each(mishaps)('%s leaves an authorization and a capture unknown', async (_what, answer) => {
    const started = await start({ settings: { timeout: answer === 'hang' ? 0.2 : 5 } })
    const { fake, acquirer, lines } = started
    const { movement } = await authorized(started)
    fake.suffer({ answer, done: true }, { answer, done: true })
    expect(await acquirer.authorize(payment())).toEqual(unknown)
    expect(await acquirer.move(movement('capture', 1000))).toEqual(unknown)
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn'])
  })

  test('an authorization is never repeated, with or without a card number: somebody has to look it up', async () => {
    const { fake, acquirer, lines } = await start()
    const asked = payment()
    fake.suffer({ answer: 'cut', done: true })
    await acquirer.authorize(asked)
    for (const method of [asked.method, undefined])
      expect(await acquirer.authorize({ ...asked, again: true, method })).toEqual({ ...unknown, unknowable: true })
    expect([fake.requests.length, fake.authorizations().length]).toEqual([1, 1])
    expect(lines.at(-1)).toMatchObject({
      level: 'error',
      operation: 'authorize',
      reference: asked.reference,
      merchant: asked.merchantId,
    })
  })

  test.each(['linked', 'embedded'] as const)('a movement that was done is found, and not done again (%s)', async (reading) => {
    const started = await start({ reading })
    const { fake, acquirer } = started
    const { movement } = await authorized(started)
    for (const kind of ['capture', 'refund'] as const) {
      const asked = movement(kind, 1000)
      fake.suffer({ answer: 'cut', done: true })
      expect(await acquirer.move(asked)).toEqual(unknown)
      const [done] = fake.authorizations()[0]?.[`${kind}s`] ?? []
      expect(await acquirer.move(again(asked))).toEqual({ kind: 'approved', acquirerReference: done?.id })
    }
    const other = await authorized(started)
    fake.suffer({ answer: 'cut', done: true })
    const voiding = other.movement('void', 1000)
    expect(await acquirer.move(voiding)).toEqual(unknown)
    expect(await acquirer.move(again(voiding))).toEqual({
      kind: 'approved',
      acquirerReference: fake.authorizations()[1]?.voids[0]?.id,
    })
    expect(fake.requests.filter(({ method }) => method === 'POST')).toHaveLength(5)
  })

  test('a capture of more than half and a void that were not done are done when they are asked for again', async () => {
    const started = await start()
    const { fake, acquirer } = started
    for (const kind of ['capture', 'void'] as const) {
      const { movement } = await authorized(started)
      const asked = movement(kind, 1000)
      fake.suffer({ answer: 'cut', done: false })
      expect(await acquirer.move(asked)).toEqual(unknown)
      expect(await acquirer.move(again(asked))).toEqual(approved)
      expect(fake.authorizations().at(-1)?.[`${kind}s`]).toHaveLength(1)
    }
  })

  test('a refund and a small capture that were not done are declined, so that nobody can do them twice', async () => {
    const started = await start()
    const { fake, acquirer } = started
    const { movement } = await authorized(started)
    await acquirer.move(movement('capture', 600))
    for (const asked of [movement('capture', 300), movement('refund', 600)]) {
      fake.suffer({ answer: 'cut', done: false })
      expect(await acquirer.move(asked)).toEqual(unknown)
      expect(await acquirer.move(again(asked))).toEqual({ kind: 'declined', code: 12 })
    }
    expect(fake.authorizations()[0]).toMatchObject({ captures: [{ amount: 600 }], refunds: [] })
  })

  test('a small capture that may be another of the same size stays unknown, and somebody is told', async () => {
    const started = await start()
    const { fake, acquirer, lines } = started
    const { movement } = await authorized(started)
    const asked = movement('capture', 300)
    fake.suffer({ answer: 'cut', done: true })
    await acquirer.move(asked)
    expect(await acquirer.move(again(asked))).toEqual({
      kind: 'unknown',
      reason: 'clearhaus has 1 captures that could be this one',
    })
    expect(lines.at(-1)).toMatchObject({ level: 'error', reference: asked.reference, amount: 300 })
    expect(fake.authorizations()[0]?.captures).toHaveLength(1)
  })

  test('where the gateway tells nothing of what it has, captures and refunds stay unknown and voids are repeated', async () => {
    const started = await start({ reading: 'none' })
    const { fake, acquirer } = started
    const { movement } = await authorized(started)
    await acquirer.move(movement('capture', 1000))
    for (const kind of ['capture', 'refund'] as const) expect(await acquirer.move(again(movement(kind, 1000)))).toEqual(unknown)
    expect(fake.authorizations()[0]).toMatchObject({ captures: [{}], refunds: [] })

    const other = await authorized(started)
    expect(await acquirer.move(again(other.movement('void', 1000)))).toEqual(approved)
    // Refused now, because it is done: but it could as well be refused for another reason.
    expect(await acquirer.move(again(other.movement('void', 1000)))).toEqual(unknown)
  })

  test.each<[string, (right: FakeReply) => FakeAnswer]>([
    ['a server error', () => ({ status: 500 })],
    ['a cut', () => 'cut'],
    ['a page', () => ({ text: '<html>' })],
    ['a part of the list', ({ json }) => ({ json: { ...(json as object), _links: { next: { href: '/more' } } } })],
    ['captures without their amounts', () => ({ json: { _embedded: { captures: [{ status: { code: 20000 } }] } } })],
    ['something else in the list', () => ({ json: { _embedded: { captures: [null, 5, 'x'] } } })],
    ['no list', () => ({ json: { _embedded: { captures: {} } } })],
  ])('%s instead of the list of captures leaves a capture unknown, and unrepeated', async (_what, answer) => {
    const started = await start()
    const { fake, acquirer } = started
    const { movement } = await authorized(started)
    const right = (reply: FakeReply) => reply
    fake.suffer({ answer: right, done: true }, { answer, done: true })
    expect(await acquirer.move(again(movement('capture', 1000)))).toEqual(unknown)
    expect(fake.authorizations()[0]?.captures).toEqual([])
  })

  test('a link that leads elsewhere is not followed', async () => {
    const started = await start()
    const { movement } = await authorized(started)
    started.fake.suffer({ answer: { json: { _links: { captures: { href: '//evil.example/captures' } } } }, done: true })
    expect(await started.acquirer.move(again(movement('capture', 1000)))).toEqual(unknown)
    expect(started.fake.requests).toHaveLength(2)
  })

  test('one that was late and comes between looking and repeating is found in the end', async () => {
    const started = await start()
    const { fake, acquirer } = started
    const { movement } = await authorized(started)
    const asked = movement('capture', 1000)
    const empty = { answer: { json: { _embedded: { captures: [] } } }, done: true }
    await acquirer.move(asked)
    fake.suffer(empty)
    const [done] = fake.authorizations()[0]?.captures ?? []
    expect(await acquirer.move(again(asked))).toEqual({ kind: 'approved', acquirerReference: done?.id })
    expect(fake.authorizations()[0]?.captures).toHaveLength(1)
  })

  test('several who ask again at once come to the same end', async () => {
    const started = await start()
    const { fake, acquirer } = started
    const { movement } = await authorized(started)
    const asked = again(movement('capture', 600))
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => acquirer.move(asked)))
    const captures = fake.authorizations()[0]?.captures ?? []
    expect(captures).toHaveLength(1)
    for (const outcome of outcomes) expect(outcome).toEqual({ kind: 'approved', acquirerReference: captures[0]?.id })
  })

  test('nobody there when it is asked again leaves it unknown: the first time may have got through', async () => {
    const started = await start()
    const { movement } = await authorized(started)
    await started.fake.close()
    started.fake.close = async () => {}
    for (const kind of ['capture', 'refund', 'void'] as const)
      expect(await started.acquirer.move(again(movement(kind, 1000)))).toEqual(unknown)
  })

  test('whatever goes wrong and whenever, nothing is captured that is not approved or unknown, and nothing twice', async () => {
    const fault = fc.constantFrom<FakeAnswer>(
      'cut',
      'cut in the middle',
      'garbage',
      { status: 500 },
      { status: 201, text: '{"id"' },
    )
    const mishap = fc.option(fc.record({ answer: fault, done: fc.boolean() }), { nil: undefined, freq: 2 })
    const step = fc.record({ amount: fc.constantFrom(100, 300, 501, 1000), mishaps: fc.array(mishap, { maxLength: 4 }) })
    const started = await start()
    const { fake, acquirer } = started
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        const { id, movement } = await authorized(started)
        let pot = 1000
        const ended: { amount: number; outcome: Outcome }[] = []
        for (const { amount, mishaps } of steps) {
          if (amount > pot) continue
          pot -= amount
          fake.suffer(...mishaps.map((each) => each ?? { answer: (right: FakeReply) => right, done: true }))
          const asked = movement('capture', amount)
          let outcome = await acquirer.move(asked)
          for (let time = 0; time < 3 && outcome.kind === 'unknown'; time++) outcome = await acquirer.move(again(asked))
          if (outcome.kind === 'declined') pot += amount
          ended.push({ amount, outcome })
          fake.recover()
        }
        const there = fake.authorizations().find((each) => each.id === id)?.captures ?? []
        const booked = ended.flatMap(({ amount, outcome }) =>
          outcome.kind === 'approved' ? [{ id: outcome.acquirerReference, amount }] : [],
        )
        const open = ended.filter(({ outcome }) => outcome.kind === 'unknown').map(({ amount }) => amount)
        expect(new Set(booked.map((each) => each.id)).size).toBe(booked.length)
        expect(there.map((each) => ({ id: each.id, amount: each.amount }))).toEqual(expect.arrayContaining(booked))
        const unbooked = there.filter((each) => !booked.some((one) => one.id === each.id))
        for (const { amount } of unbooked) expect(open.splice(open.indexOf(amount as number), 1)).toEqual([amount])
      }),
      { numRuns: 40 },
    )
  })
})

test('no card number, code or key is in a log line or an outcome, whatever the gateway repeats', async () => {
  const started = await start({ settings: { timeout: 0.2 } })
  const { fake, acquirer, lines } = started
  const echo = `${number} ${number.match(/.{4}/g)?.join(' ')} 987 ${apiKey} ${btoa(`${apiKey}:`)} ${privateKey.export({ type: 'pkcs8', format: 'pem' })}`
  const answers: FakeAnswer[] = [
    ...[200, 201, 302, 400, 401, 404, 500, 503].flatMap((status) => [
      { status, text: echo },
      { status, json: { message: echo } },
      ...[20000, 40000, 40110, 50000].map((code) => ({ status, json: { id: echo, status: { code, message: echo } } })),
      { status, json: { id: crypto.randomUUID(), status: { code: 40000, message: apiKey.replaceAll(/\d/g, '') + apiKey } } },
      { status, json: { id: crypto.randomUUID(), status: { code: 40120, message: 'csc 9-8-7 is wrong' } } },
    ]),
    'hang',
    'cut',
    'cut in the middle',
    'garbage',
  ]
  const outcomes: Outcome[] = []
  const { movement } = await authorized(started)
  for (const answer of answers) {
    for (const ask of [() => acquirer.authorize(payment()), () => acquirer.move(again(movement('capture', 1000)))]) {
      fake.suffer({ answer, done: false })
      outcomes.push(await ask())
      fake.recover()
    }
  }
  expect(lines.length).toBeGreaterThan(answers.length)
  // Moments and ids are random, and may hold any three digits.
  const told = lines.map(({ time, reference, ...rest }) => rest)
  const all = `${JSON.stringify(told)}${inspect(told, { depth: 9 })}${JSON.stringify(outcomes)}${inspect(outcomes)}`
  const said = all.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '')
  const { d } = privateKey.export({ format: 'jwk' })
  for (const canary of [
    number,
    number.slice(0, 12),
    '8765 4321',
    '987',
    '9-8-7',
    apiKey,
    btoa(`${apiKey}:`),
    'PRIVATE KEY',
    d as string,
  ])
    expect(said.includes(canary), canary).toBe(false)
})
