import { randomBytes, randomUUID } from 'node:crypto'
import { createAccount, startWithInbox } from '@tollgate/identity/testing'
import { createApp, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { likelihood, median, shuffled } from './security-statistics.ts'

/**
 * Whether the time of a refusal tells how near a guess was, or whether there is somebody. All kinds of question are asked in random order, so that
 * whatever else the machine does happens to all of them alike. Not once in ten thousand runs does chance alone make one of these fail, however
 * loaded the machine is. What `packages/identity/src/discovery.test.ts` asks of accounts is not asked here again.
 */
const doubt = 1e-4
const comparisons = 20

let identity: Awaited<ReturnType<typeof startWithInbox>>
let payments: Awaited<ReturnType<typeof startPayments>>

beforeAll(async () => {
  identity = await startWithInbox({ AUTH_SMTP_MAX_FREQUENCY: '0' })
  payments = await startPayments()
})
afterAll(async () => {
  await identity?.stop()
  await payments?.stop()
})

type Ask = () => Promise<unknown>

/** Undefined, or by how much two kinds of question are answered at other times. */
async function tellApart(kinds: readonly [Ask, Ask], { times, atOnce = 1 }: { times: number; atOnce?: number }) {
  const samples: [number[], number[]] = [[], []]
  // The first of each is not like the others.
  for (const ask of [...kinds, ...kinds, ...kinds]) await ask()
  const waiting = shuffled(Array.from({ length: 2 * times }, (_, index) => (index % 2) as 0 | 1))
  const work = async () => {
    for (let kind = waiting.pop(); kind !== undefined; kind = waiting.pop()) {
      const started = performance.now()
      await kinds[kind]()
      samples[kind].push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const [one, other] = samples
  if (likelihood(one, other) >= doubt / comparisons) return undefined
  return `${median(one).toFixed(3)} ms, not ${median(other).toFixed(3)} ms`
}

/** The same but for its last letter, which is one that such a text may end in. */
const nearly = (text: string) =>
  `${text.slice(0, -1)}${text.endsWith('A') || text.endsWith('0') ? '4' : text.endsWith('4') ? '8' : '0'}`

describe('a secret that is nearly right is refused no later than one that is all wrong', () => {
  test('the key of an app', async () => {
    const { key } = await createApp(payments.call)
    const ask = (shown: string) => async () => {
      const authorization = `Basic ${Buffer.from(`:${shown}`).toString('base64')}`
      expect((await payments.call('GET /me', { headers: { authorization } })).status).toBe(401)
    }
    expect(await tellApart([ask(nearly(key)), ask(randomUUID())], { times: 200 })).toBeUndefined()
  })

  test('a refresh token', async () => {
    const { refreshToken } = await createAccount(identity)
    const ask = (shown: string) => async () => {
      const json = { refresh_token: shown }
      expect((await identity.call('POST /token?grant_type=refresh_token', { json })).status).toBe(400)
    }
    const wrong = randomBytes(24).toString('base64url')
    expect(await tellApart([ask(nearly(refreshToken)), ask(wrong)], { times: 200 })).toBeUndefined()
  })

  test('what a link carries', async () => {
    const email = `${randomUUID()}@site.test`
    await createAccount(identity, { email })
    await identity.call('POST /recover', { json: { email } })
    const { token } = await identity.mailTo(email)
    const ask = (shown: string) => async () => {
      expect((await identity.call('POST /verify', { json: { type: 'recovery', token_hash: shown } })).status).toBe(403)
    }
    expect(await tellApart([ask(nearly(token)), ask(randomBytes(28).toString('hex'))], { times: 200 })).toBeUndefined()
  })

  test('the signature of an access token', async () => {
    const { authorization } = await createAccount(identity)
    const [header, claims, signature = ''] = authorization.split('.')
    const bytes = Buffer.from(signature, 'base64url')
    const turned = (index: number) => {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      return `${header}.${claims}.${changed.toString('base64url')}`
    }
    const ask = (shown: string) => async () => {
      expect((await identity.call('GET /user', { headers: { authorization: shown } })).status).toBe(403)
    }
    expect(await tellApart([ask(turned(bytes.length - 1)), ask(turned(0))], { times: 400 })).toBeUndefined()
  })

  test('a password', async () => {
    const email = `${randomUUID()}@site.test`
    await createAccount(identity, { email, passwordHash: await identity.app.passwords.hash('correct horse battery') })
    const ask = (password: string) => async () => {
      expect((await identity.call('POST /token?grant_type=password', { json: { email, password } })).status).toBe(400)
    }
    const kinds = [ask('correct horse batterx'), ask('xorrect horse battery')] as const
    expect(await tellApart(kinds, { times: 24, atOnce: 6 })).toBeUndefined()
  })
})

test('whoever asks for a link is answered no sooner or later for having an account', async () => {
  const email = `${randomUUID()}@site.test`
  await createAccount(identity, { email })
  const ask = (address: () => string) => () => identity.call('POST /magiclink', { json: { email: address() } })
  const kinds = [ask(() => email), ask(() => `${randomUUID()}@site.test`)] as const
  expect(await tellApart(kinds, { times: 60, atOnce: 5 })).toBeUndefined()
})

describe('these statistics', () => {
  /** The same figures every time. */
  function figures(seed: number) {
    let state = seed
    return () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state / 2 ** 31
    }
  }
  /** Times of a service with a long tail, around a millisecond. */
  const noisy = (seed: number, count: number, more = 0) => {
    const next = figures(seed)
    return Array.from({ length: count }, () => 1 - Math.log(1 - next()) / 4 + more)
  }

  test('find out a tenth of a millisecond where answers vary by more than that', () => {
    expect(likelihood(noisy(1, 200), noisy(2, 200, 0.1))).toBeLessThan(doubt / comparisons)
  })

  test('find nothing where there is nothing, though the samples are a hundred', () => {
    const found = Array.from({ length: 100 }, (_, seed) => likelihood(noisy(2 * seed + 1, 200), noisy(2 * seed + 2, 200)))
    expect(found.filter((each) => each < doubt / comparisons)).toEqual([])
  })

  test('take figures that are all alike for what they are', () => {
    expect(likelihood([1, 1, 1, 1], [1, 1, 1, 1])).toBe(1)
    expect(likelihood([1, 2, 3, 4], [1, 2, 3, 4])).toBe(1)
    expect(likelihood(Array(60).fill(1), Array(60).fill(2))).toBeLessThan(1e-12)
  })

  test('find out a service that compares letter by letter', async () => {
    const right = 'correct horse'
    const slow = (guess: string) => async () => {
      let alike = 0
      while (alike < right.length && guess[alike] === right[alike]) alike++
      const until = performance.now() + alike * 0.02
      while (performance.now() < until);
    }
    expect(await tellApart([slow('correct horsx'), slow('xorrect horse')], { times: 100 })).toBeDefined()
  })
})
