import { Unavailable } from '@tollgate/kit/failure'
import { createFetch } from '@tollgate/kit/fetch'
import { type FakeAnswer, startHttpFake } from '@tollgate/kit/http-fake'
import { createKeys, TokenProblem } from '@tollgate/kit/jwt'
import { type Jwk, makeJwk, publicPart } from '@tollgate/kit/jwt/testing'
import { Secret } from '@tollgate/kit/secret'
import { gate, keptLog, stillClock } from '@tollgate/kit/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createAccessTokens } from './access-tokens.ts'

const secret = new Secret('a secret that both services know of, 32+')

/** An identity service that publishes keys, and what we make of its tokens. */
async function start(keys: readonly Jwk[], own: { secret?: Secret; timeout?: number } = {}) {
  const source = await startHttpFake({ 'GET /keys': published(keys) })
  const fetch = createFetch({ allowPrivate: true, timeout: own.timeout ?? 10, userAgent: 'test' })
  const now = stillClock()
  const { log, lines } = keptLog()
  onTestFinished(async () => {
    await fetch.close()
    await source.close()
  })
  const tokens = createAccessTokens(
    { secret: own.secret, keys: undefined, keysUrl: `${source.origin}/keys` },
    { fetch, now, log },
  )
  return { source, now, lines, tokens, publish: (answer: FakeAnswer) => source.answer({ 'GET /keys': answer }) }
}

function published(keys: readonly Jwk[]): FakeAnswer {
  return { json: { keys: keys.map(publicPart) } }
}

function signed(jwk: Jwk, claims: object = {}): string {
  return createKeys({ secret, jwks: [jwk] }).sign({ sub: 'ann', ...claims })
}

const first = makeJwk('ES256', 'first')
const second = makeJwk('RS256', 'second')

test('the keys are asked for once, when the first token names one', async () => {
  const { tokens, source } = await start([first, second])
  expect(tokens.accepted).toBe(true)
  expect(source.requests).toHaveLength(0)
  const claims = await Promise.all(Array.from({ length: 20 }, (_, index) => tokens.verify(signed(first, { index }))))
  expect(claims.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, index) => index))
  expect(await tokens.verify(signed(second))).toEqual({ sub: 'ann' })
  expect(source.requests).toHaveLength(1)
})

test('a key that came since then is found, even of another kind', async () => {
  const { tokens, source, now, publish } = await start([first])
  await tokens.verify(signed(first))
  publish(published([first, second]))
  now.advance(10)
  expect(await tokens.verify(signed(second))).toEqual({ sub: 'ann' })
  expect(source.requests).toHaveLength(2)
})

test('however many tokens name keys that nobody knows, the source is asked every ten seconds at most', async () => {
  const { tokens, source, now } = await start([first])
  const stranger = (kid: string) => tokens.verify(signed({ ...second, kid })).catch((problem: unknown) => problem)
  for (let round = 1; round <= 3; round++) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => stranger(`${round} ${index}`)))
    expect(answers.every((answer) => answer instanceof TokenProblem)).toBe(true)
    expect(await stranger('one more')).toBeInstanceOf(TokenProblem)
    expect(source.requests).toHaveLength(round)
    now.advance(10)
  }
})

test.each<[string, FakeAnswer]>([
  ['is not there', { status: 503 }],
  ['hangs up', 'cut'],
  ['never answers', 'hang'],
  ['talks nonsense', { text: '<html>' }],
  ['has no keys', { json: { keys: [] } }],
  ['has no key of use', { json: { keys: [{ kty: 'EC', crv: 'P-384', kid: 'first', x: 'AA', y: 'AA' }] } }],
])('while the source %s the old keys stay in force, and what needs a new one has to wait', async (_, answer) => {
  const { tokens, now, publish, lines } = await start([first], { timeout: answer === 'hang' ? 1 : 10 })
  await tokens.verify(signed(first))
  publish(answer)
  now.advance(3600)
  expect(await tokens.verify(signed(first))).toEqual({ sub: 'ann' })
  await expect(tokens.verify(signed(second))).rejects.toBeInstanceOf(Unavailable)
  await expect(tokens.verify(signed(second))).rejects.toBeInstanceOf(Unavailable)
  expect(await tokens.verify(signed(first))).toEqual({ sub: 'ann' })
  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  publish(published([second]))
  now.advance(10)
  expect(await tokens.verify(signed(second))).toEqual({ sub: 'ann' })
  expect(lines.at(-1)).toMatchObject({ level: 'info', message: 'the keys of the identity service can be read again' })
})

test('a key that was withdrawn is believed no longer than it takes to ask again', async () => {
  const { tokens, source, now, publish } = await start([first, second])
  await tokens.verify(signed(first))
  const held = gate<void, FakeAnswer>()
  source.answer(() => held.enter())
  now.advance(600)
  // Nobody waits for the answer.
  expect(await tokens.verify(signed(first))).toEqual({ sub: 'ann' })
  await held.entered()
  publish(published([second]))
  held.leave(1, published([second]))
  await expect.poll(() => tokens.verify(signed(first)).catch((problem: unknown) => problem)).toBeInstanceOf(TokenProblem)
})

test('a secret works beside published keys, without anybody being asked', async () => {
  const { tokens, source } = await start([first], { secret })
  expect(await tokens.verify(createKeys({ secret, keyId: 'main' }).sign({ sub: 'ann' }))).toEqual({ sub: 'ann' })
  expect(source.requests).toHaveLength(0)
  expect(await tokens.verify(signed(first))).toEqual({ sub: 'ann' })
})

test('a symmetric key that somebody publishes verifies nothing', async () => {
  const shared = makeJwk('HS256', 'shared')
  const { tokens, publish } = await start([first])
  publish({ json: { keys: [publicPart(first), { ...shared, key_ops: ['verify'] }] } })
  await expect(tokens.verify(signed(shared))).rejects.toBeInstanceOf(TokenProblem)
  await tokens.verify(signed(first))
  await expect(tokens.verify(signed(shared))).rejects.toBeInstanceOf(TokenProblem)
})

test('what is no token is refused without the source being asked', async () => {
  const { tokens, source } = await start([first])
  for (const token of ['', 'a', 'a.b.c', '...', 'é.é.é', 'x'.repeat(20_000)])
    await expect(tokens.verify(token)).rejects.toBeInstanceOf(TokenProblem)
  expect(source.requests).toHaveLength(0)
})
