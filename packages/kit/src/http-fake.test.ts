import { expect, onTestFinished, test } from 'vitest'
import { type FakeAnswering, type FakeTable, startHttpFake } from './http-fake.ts'

async function start(answers: FakeTable | FakeAnswering) {
  const fake = await startHttpFake(answers)
  onTestFinished(() => fake.close())
  return fake
}

test('what was asked is kept: method, path, query, headers and body', async () => {
  const fake = await start({ 'POST /token': { json: { ok: true } } })
  const answer = await fetch(`${fake.origin}/token?grant=code&x=%20`, {
    method: 'POST',
    headers: { 'X-Own': 'yes' },
    body: 'caf\u00e9',
  })
  expect(await answer.json()).toEqual({ ok: true })
  expect(fake.requests).toEqual([
    {
      method: 'POST',
      path: '/token',
      query: { grant: 'code', x: ' ' },
      headers: expect.objectContaining({ 'x-own': 'yes' }),
      body: 'caf\u00e9',
    },
  ])
})

test('a table answers by method and path, by value or by function, and 404 elsewhere', async () => {
  const fake = await start({
    'GET /plain': { text: 'hello', headers: { 'x-own': 'yes' } },
    'PUT /refused': { status: 422, json: { code: 7 } },
    'GET /echo': ({ query }) => ({ json: query }),
  })
  const plain = await fetch(`${fake.origin}/plain`)
  expect([plain.status, plain.headers.get('x-own'), await plain.text()]).toEqual([200, 'yes', 'hello'])
  const refused = await fetch(`${fake.origin}/refused`, { method: 'PUT' })
  expect([refused.status, await refused.json()]).toEqual([422, { code: 7 }])
  expect(await (await fetch(`${fake.origin}/echo?a=1`)).json()).toEqual({ a: '1' })
  const missing = await fetch(`${fake.origin}/plain`, { method: 'DELETE' })
  expect([missing.status, await missing.text()]).toEqual([404, 'The fake has no answer to DELETE /plain'])
})

test('an answer is as slow as its promise, and a request can be waited for', async () => {
  const slow = Promise.withResolvers<void>()
  const fake = await start(async () => {
    await slow.promise
    return { text: 'at last' }
  })
  const answer = fetch(`${fake.origin}/1`)
  expect((await fake.request()).path).toBe('/1')
  slow.resolve()
  expect(await (await answer).text()).toBe('at last')
})

test('one that hangs never answers', async () => {
  const fake = await start(() => 'hang')
  const giveUp = new AbortController()
  const answer = expect(fetch(fake.origin, { signal: giveUp.signal })).rejects.toThrow('abort')
  await fake.request()
  giveUp.abort()
  await answer
})

test('one that hangs up, before or in the middle, or talks nonsense is an error of the connection', async () => {
  const fake = await start({ 'GET /cut': 'cut', 'GET /half': 'cut in the middle', 'GET /nonsense': 'garbage' })
  await expect(fetch(`${fake.origin}/cut`)).rejects.toThrow('fetch failed')
  await expect(fetch(`${fake.origin}/nonsense`)).rejects.toThrow('fetch failed')
  const half = await fetch(`${fake.origin}/half`)
  expect(half.status).toBe(200)
  await expect(half.text()).rejects.toThrow('terminated')
})

test('answers can change between two requests', async () => {
  const fake = await start(() => ({ status: 503 }))
  expect((await fetch(fake.origin)).status).toBe(503)
  fake.answer({ 'GET /': { text: 'back' } })
  expect(await (await fetch(fake.origin)).text()).toBe('back')
  expect((await fake.request(2)).path).toBe('/')
})

test('a mistake in the answering is told to whoever asked', async () => {
  const fake = await start(() => {
    throw new Error('no such user')
  })
  const answer = await fetch(fake.origin)
  expect([answer.status, await answer.text()]).toEqual([500, 'The fake failed: Error: no such user'])
})
