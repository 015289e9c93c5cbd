import { once } from 'node:events'
import { connect } from 'node:net'
import { finishAuthorization } from '@tollgate/payments/operations/authorize'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Challenge, jsClient, mobileClient, toldBy, type Wire } from './device-client.ts'
import { formHeaders, jsonHeaders, money, openTill, origin, outline, refusalOf, type Till, wholeWay } from './device-till.ts'
import { openShop } from './payments-service.ts'

/** The steps of a payment, as devices take them. */
let till: Till
beforeAll(async () => {
  till = await openTill()
})
afterAll(() => till?.service.stop())

describe('the way of a payment with 3-D Secure', () => {
  test('hints come as 0, 1, 2, 6, 7, 8, 9, 10, each step by its name, type and path', async () => {
    const { authorizationId, hints, trail } = await till.js().pay(await till.newOrder())
    expect(outline(trail)).toEqual(wholeWay)
    expect(hints).toHaveLength(10)
    expect(new Set(hints).size).toBe(10)
    for (const { offered } of trail) for (const { name, path } of offered) expect(path).toBe(`/payments/challenges/${name}`)
    expect(await till.transaction(authorizationId)).toMatchObject({
      successful: true,
      tds: 'full',
      amount: 1250,
      currency: 'EUR',
    })
  })

  test('the steps with a frame say what to open', async () => {
    const { trail } = await till.js().pay(await till.newOrder())
    const replies = new Map(trail.map(({ taken, reply }) => [taken, reply]))
    expect(replies.get('tds-fingerprint')).toEqual({
      action: `${origin}/3dsecure/v2/method`,
      method: 'POST',
      fields: { threeDSMethodData: expect.any(String) },
      timeout: expect.any(Number),
      hints: [expect.any(String)],
    })
    expect(replies.get('tds-challenge')).toEqual({
      action: `${origin}/3dsecure/v2/challenge`,
      method: 'POST',
      fields: { creq: expect.any(String) },
      width: expect.any(Number),
      height: expect.any(Number),
    })
    for (const step of ['authorize-integration', 'tds-enrolled', 'tds-pre-challenge', 'tds-post-challenge', 'authorize'])
      expect({ step, reply: replies.get(step) }).toEqual({ step, reply: { hints: [expect.any(String)] } })
  })

  test.each(['dart', 'kotlin', 'swift'] as const)('the engine in %s counts 0, 6 and 8 hints and is content', async (language) => {
    const { authorizationId, trail, hints } = await mobileClient({ origin, wire: till.wire, language }).pay(await till.newOrder())
    expect(outline(trail)).toEqual(wholeWay)
    expect(hints).toHaveLength(10)
    expect(await till.transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test.each(['dart', 'kotlin', 'swift'] as const)('without a challenge the engine in %s goes on after 6', async (language) => {
    const order = await till.newOrder({ test: { tds: { challenge: false } } })
    const { authorizationId, trail, hints } = await mobileClient({ origin, wire: till.wire, language }).pay(order)
    expect(outline(trail).slice(3)).toEqual([[6, 'authorize fetch', 'authorize']])
    expect(hints).toHaveLength(7)
    expect(await till.transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('whoever takes the fingerprint as well gives more hints, and is not asked for it again', async () => {
    const taken = new Set<string>()
    const { authorizationId, trail, hints } = await till.js().pay(await till.newOrder(), undefined, (offered) => {
      const chosen = offered.find(({ name }) => name === 'fingerprint' && !taken.has(name)) ?? offered[0]
      taken.add(chosen?.name ?? '')
      return chosen
    })
    expect(trail.map(({ hints: count, taken: name }) => [count, name]).slice(0, 3)).toEqual([
      [0, 'fingerprint'],
      [1, 'authorize-integration'],
      [2, 'tds-enrolled'],
    ])
    expect(trail.slice(1).flatMap(({ offered }) => offered.map(({ name }) => name))).not.toContain('fingerprint')
    expect(hints).toHaveLength(11)
    expect((await till.transaction(authorizationId)).successful).toBe(true)
  })

  test.each([
    ['fingerprint', { fingerprint: 'timeout' }],
    ['tds-fingerprint', { tds: { fingerprint: 'timeout' } }],
  ])('a frame of %s that never answers is left after its time, and the payment goes on', async (name, simulated) => {
    const order = await till.newOrder({ test: simulated })
    const tried = new Set<string>()
    const { authorizationId, trail } = await till.js().pay(order, undefined, (offered) => {
      const chosen = offered.find((each) => each.name === name && !tried.has(each.name)) ?? offered[0]
      tried.add(chosen?.name ?? '')
      return chosen
    })
    const step = trail.find((each) => each.taken === name)
    expect(step?.reply.timeout).toBeGreaterThanOrEqual(1000)
    const page = await till.wire(step?.reply.action ?? '', formHeaders, new URLSearchParams(step?.reply.fields).toString())
    expect([page.status, toldBy(page.text, 'confirms')]).toEqual([200, undefined])
    expect(await till.transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('a fingerprint that is unavailable is not asked for', async () => {
    const { authorizationId, trail } = await till.js().pay(await till.newOrder({ test: { tds: { fingerprint: 'unavailable' } } }))
    expect(trail.map(({ taken }) => taken)).not.toContain('tds-fingerprint')
    expect(await till.transaction(authorizationId)).toMatchObject({ successful: true, tds: 'full' })
  })

  test('an attempt that the bank takes no part in is told as one', async () => {
    const { authorizationId } = await till.js().pay(await till.newOrder({ test: { tds: { status: 'attempted' } } }))
    expect(await till.transaction(authorizationId)).toMatchObject({ successful: true, tds: 'attempt' })
  })

  test.each(['dart', 'kotlin', 'swift'] as const)('a payer who refuses has not paid (%s)', async (language) => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder()
    const engine = mobileClient({ origin, wire: till.wire, language, payer: 'refuses' })
    expect((await refusalOf(engine.pay(order))).code).toBe('TDSECURE_FAILED')
    expect(await till.transactionsOf(till.shop)).toMatchObject([{ successful: false, error: { code: 31 }, amount: 1250 }])
  })
})

describe('the test object', () => {
  test.each([
    [{ card: { code: 'invalid' } }, 'PAYMENT_CARD_SECURITY_CODE_INVALID', 4],
    [{ card: { status: 'invalid' } }, 'PAYMENT_CARD_NUMBER_INVALID', 3],
    [{ card: { status: 'expired' } }, 'PAYMENT_CARD_EXPIRED', 6],
    [{ card: { status: 'disabled' } }, 'PAYMENT_CARD_DISABLED', 9],
    [{ card: { status: 'lost' } }, 'PAYMENT_CARD_LOST', 10],
    [{ card: { limit: money(1249) } }, 'PAYMENT_AMOUNT_LIMIT', 25],
    [{ card: { balance: money(1249) } }, 'PAYMENT_INSUFFICIENT_FUNDS', 7],
    [{ tds: { status: 'rejected' } }, 'TDSECURE_FAILED', 31],
    [{ tds: { status: 'rejected', challenge: false } }, 'TDSECURE_FAILED', 31],
    [{ tds: { status: 'unavailable' } }, 'TDSECURE_REQUIRED', 30],
  ])('%j → %s, and a transaction that failed with %i', async (simulated, code, classic) => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder({ test: simulated })
    const refused = await refusalOf(till.js().pay(order))
    expect([refused.status, refused.code]).toEqual([400, code])
    // Whoever asks again is told the same, and nothing more happens.
    expect((await refusalOf(till.js().pay(order))).code).toBe(code)
    expect((await refusalOf(mobileClient({ origin, wire: till.wire, language: 'swift' }).pay(order))).code).toBe(code)
    const found = await till.transactionsOf(till.shop)
    expect(found.map(({ successful, error, amount }) => [successful, error ? error.code : undefined, amount])).toEqual([
      [false, classic, 1250],
    ])
  })

  test.each([
    ['unsupported', 'PAYMENT_CARD_SCHEME_UNSUPPORTED', { scheme: 'Visa', supported: 'Visa or Mastercard' }],
    ['unknown', 'PAYMENT_CARD_SCHEME_UNKNOWN', { supported: 'Visa or Mastercard' }],
  ])('a card whose scheme is %s is refused at once with %s, and nothing is made', async (scheme, code, more) => {
    till.shop = await openShop(till.service)
    const refused = await refusalOf(till.js().request('/payments', await till.newOrder({ test: { card: { scheme } } })))
    expect(refused.body).toMatchObject({ code, ...more })
    expect(await till.transactionsOf(till.shop)).toEqual([])
  })

  test.each([
    [{ card: { scheme: 'supported', code: 'valid', status: 'valid', limit: money(1250), balance: money(1250) } }],
    [{ fingerprint: 'success', tds: { fingerprint: 'success', challenge: true, status: 'authenticated' } }],
    [{ card: {}, tds: {} }],
  ])('%j is a payment like any other', async (simulated) => {
    const { authorizationId } = await till.js().pay(await till.newOrder({ test: simulated }))
    expect(await till.transaction(authorizationId)).toMatchObject({ successful: true, error: false, tds: 'full' })
  })

  test.each([
    [true],
    [{ card: { status: 'fine' } }],
    [{ card: { limit: { currency: 'EUR', exponent: 2 } } }],
    [{ fingerprint: 'unavailable' }],
    [{ tds: { challenge: 'perhaps' } }],
    [{ tds: { status: 'broken' } }],
  ])('%j is refused', async (simulated) => {
    expect((await refusalOf(till.js().pay(await till.newOrder({ test: simulated })))).code).toBe('REQUEST_INVALID')
  })
})

describe('answers that get lost', () => {
  test('each once: the same hints work, and there is one transaction', async () => {
    till.shop = await openShop(till.service)
    const seen = new Set<string>()
    const forgetful: Wire = async (url, headers, body) => {
      const answer = await till.wire(url, headers, body)
      const isNew = !seen.has(url + body)
      seen.add(url + body)
      if (isNew && !url.includes('/3dsecure/')) throw new TypeError('fetch failed')
      return answer
    }
    const client = jsClient({ origin, wire: forgetful })
    const { authorizationId, hints } = await client.pay(await till.newOrder())
    expect(client.waits).toEqual(Array(15).fill(0))
    expect(hints).toHaveLength(10)
    expect(await till.transactionsOf(till.shop)).toMatchObject([{ id: authorizationId, successful: true }])
  })

  test('each because the connection was cut as soon as the request was out', async () => {
    till.shop = await openShop(till.service)
    const cut: Wire = async (url, headers, body) => {
      await sendAndHangUp(url.replace(origin, till.service.origin), headers, body)
      return till.wire(url, headers, body)
    }
    const { authorizationId, hints } = await jsClient({ origin, wire: cut }).pay(await till.newOrder())
    expect(hints).toHaveLength(10)
    expect(await till.transactionsOf(till.shop)).toMatchObject([{ id: authorizationId, successful: true }])
  })

  test('all of them: a client gives up after ten more, having made nothing', async () => {
    till.shop = await openShop(till.service)
    const broken: Wire = async () => ({ status: 503, headers: new Headers({ 'content-type': 'text/plain' }), text: 'busy' })
    const client = jsClient({ origin, wire: broken })
    await expect(client.pay(await till.newOrder())).rejects.toThrow('503 busy')
    expect(client.waits).toEqual([0, 100, 2000, ...Array(7).fill(10_000)])
    expect(await till.transactionsOf(till.shop)).toEqual([])
  })

  test('the very last: beginning again with no hints, with some or with all leads to the same transaction', async () => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder()
    const { authorizationId, hints } = await till.js().pay(order)
    for (let count = 0; count <= 10; count++) {
      // The page of the first frame tells three hints or none.
      if (count === 4 || count === 5) continue
      expect({ count, id: (await till.js().pay(order, hints.slice(0, count))).authorizationId }).toEqual({
        count,
        id: authorizationId,
      })
    }
    expect(await till.transactionsOf(till.shop)).toHaveLength(1)
  })

  test('and of a refusal: it stays refused, whatever the payer says the second time', async () => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder()
    expect((await refusalOf(till.js('refuses').pay(order))).code).toBe('TDSECURE_FAILED')
    expect((await refusalOf(till.js('confirms').pay(order))).code).toBe('TDSECURE_FAILED')
    expect(await till.transactionsOf(till.shop)).toHaveLength(1)
  })

  test('every step taken again, in any order, gives hints that are as good and never the same', async () => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder()
    const { authorizationId, hints, trail } = await till.js().pay(order)
    const given = new Set(hints)
    for (const { taken, offered } of [...trail].reverse()) {
      const challenge = offered.find(({ name }) => name === taken) as Challenge
      const { gained } = await till.js().takeStep(order, hints, challenge)
      for (const hint of gained) expect(given.has(hint)).toBe(false)
      expect((await till.js().pay(order, [...hints, ...gained])).authorizationId).toBe(authorizationId)
    }
    expect(await till.transactionsOf(till.shop)).toHaveLength(1)
  })

  test('twenty authorizations of one order at once make one transaction', async () => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder()
    const { hints } = await till.stopBefore('authorize', order)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => jsClient({ origin, wire: till.wire }).takeStep(order, hints, challengeOf('authorize'))),
    )
    const ids = await Promise.all(answers.map(({ gained }) => till.js().pay(order, [...hints, ...gained])))
    expect(new Set(ids.map(({ authorizationId }) => authorizationId)).size).toBe(1)
    expect(await till.transactionsOf(till.shop)).toMatchObject([{ id: ids[0]?.authorizationId, successful: true }])
  })

  test('twenty declined ones at once are one as well', async () => {
    till.shop = await openShop(till.service)
    const order = await till.newOrder({ test: { card: { status: 'lost' } } })
    const { hints } = await till.stopBefore('authorize', order)
    const attempts = Array.from({ length: 20 }, () => refusalOf(till.js().takeStep(order, hints, challengeOf('authorize'))))
    expect(new Set((await Promise.all(attempts)).map(({ code }) => code))).toEqual(new Set(['PAYMENT_CARD_LOST']))
    expect(await till.transactionsOf(till.shop)).toHaveLength(1)
  })

  test.each(['unanswered', 'lost'])(
    'and those of the acquirer (%s): a device is told to try again until it is known',
    async (mishap) => {
      till.shop = await openShop(till.service)
      const order = await till.newOrder({ test: { acquirer: { authorize: mishap }, tds: { challenge: false } } })
      const { hints } = await till.stopBefore('authorize', order)
      for (const _ of ['asked first', 'asked while nobody knows']) {
        const answer = await till.wire(
          `${origin}/payments/challenges/authorize`,
          jsonHeaders,
          JSON.stringify({ ...order, hints }),
        )
        expect(answer.status).toBeGreaterThanOrEqual(500)
        expect(answer.headers.get('content-type')).not.toContain('json')
        expect(answer.headers.get('x-status-code')).toBe('INTERNAL_ERROR')
      }
      const [{ id } = { id: '' }] = await till.transactionsOf(till.shop)
      await finishAuthorization(till.service.app, till.shop.id, id)
      expect((await till.js().pay(order, hints)).authorizationId).toBe(id)
      expect(await till.transactionsOf(till.shop)).toMatchObject([{ id, successful: true }])
    },
  )
})

function challengeOf(name: string): Challenge {
  return { name, type: 'fetch', path: `/payments/challenges/${name}` }
}

async function sendAndHangUp(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const { hostname, port, pathname, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const all = { host, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  await new Promise<void>((resolve) => socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, () => resolve()))
  socket.destroy()
}

describe('hints', () => {
  test('in another order are the same hints: one of the clients mixes them', async () => {
    const order = await till.newOrder()
    const { hints } = await till.stopBefore('authorize', order)
    const { authorizationId } = await till.js().pay(order, hints.toReversed())
    expect((await till.transaction(authorizationId)).successful).toBe(true)
  })

  test('sent twice count once', async () => {
    const order = await till.newOrder()
    const { hints } = await till.stopBefore('tds-pre-challenge', order)
    const { challenges } = await till.js().request('/payments', { ...order, hints: [...hints, ...hints] })
    expect(challenges?.map(({ name }) => name)).toEqual(['tds-pre-challenge'])
  })

  const spoilt: [string, (hints: string[]) => string[]][] = [
    ['forged', (hints) => [...hints.slice(1), Buffer.from('{"proof":"tds-challenge","confirmed":true}').toString('base64')]],
    ['empty', (hints) => [...hints, '']],
    ['truncated', (hints) => [...hints.slice(0, -1), (hints.at(-1) ?? '').slice(0, -4)]],
    ['one bit off', (hints) => [...hints.slice(0, -1), flipped(hints.at(-1) ?? '')]],
    ['no text of ours', (hints) => [...hints, 'https://example.com/"><script>']],
  ]

  test.each(spoilt)('that are %s are refused, at every address', async (_, spoil) => {
    const order = await till.newOrder()
    const { hints } = await till.stopBefore('authorize', order)
    for (const path of ['/payments', '/payments/challenges/authorize'])
      expect((await refusalOf(till.js().request(path, { ...order, hints: spoil(hints) }))).code).toBe(
        'PAYMENT_CHALLENGE_UNAVAILABLE',
      )
  })

  test('of another order are refused, were it a cent more', async () => {
    const order = await till.newOrder()
    const { hints } = await till.js().pay(order)
    for (const other of [{ ...order, amount: money(1251) }, { ...order, custom: { a: 1 } }, await till.newOrder()])
      expect((await refusalOf(till.js().request('/payments', { ...other, hints }))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
  })

  test('of the same order written differently are good', async () => {
    const order = await till.newOrder({ custom: { a: 1, b: [2] } })
    const { hints, authorizationId } = await till.js().pay(order)
    const mixed = Object.fromEntries(Object.entries({ ...order, custom: { b: [2], a: 1 }, hints }).toReversed())
    expect((await till.js().request('/payments', mixed)).authorizationId).toBe(authorizationId)
  })

  test('that skip a step do not skip it', async () => {
    const order = await till.newOrder()
    const { hints } = await till.stopBefore('tds-challenge', order)
    for (const name of ['tds-post-challenge', 'authorize'])
      expect((await refusalOf(till.js().takeStep(order, hints, challengeOf(name)))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
    expect((await refusalOf(till.js().takeStep(order, [], challengeOf('authorize')))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
  })

  test('that are too old are refused, and beginning again works', async () => {
    const order = await till.newOrder()
    const { hints } = await till.stopBefore('tds-challenge', order)
    till.service.now.advance(599)
    expect((await till.js().request('/payments', { ...order, hints })).challenges).toBeDefined()
    till.service.now.advance(2)
    expect((await refusalOf(till.js().request('/payments', { ...order, hints }))).code).toBe('PAYMENT_CHALLENGE_UNAVAILABLE')
    expect((await till.transaction((await till.js().pay(order)).authorizationId)).successful).toBe(true)
  })
})

function flipped(text: string): string {
  const at = Math.floor(text.length / 2)
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}
