import { expect, test } from 'vitest'
import { poster, Refused, Unanswered } from './post.ts'

type Script = (() => Response | Promise<Response>)[]

function scripted(script: Script) {
  const asked: { path: string; init: RequestInit }[] = []
  const pauses: number[] = []
  const troubles: boolean[] = []
  const post = poster({
    async fetch(path, init) {
      asked.push({ path: String(path), init: init as RequestInit })
      const next = script.length > 1 ? script.shift() : script[0]
      if (!next) throw new Error('nobody is there')
      return next()
    },
    pause: async (milliseconds) => void pauses.push(milliseconds),
    troubled: (is) => void troubles.push(is),
  })
  return { post, asked, pauses, troubles }
}

const well = () => new Response('{"token":"x"}\n')
const lost = () => Promise.reject(new TypeError('network'))
const busy = (headers = {}) => new Response('Too busy\n', { status: 503, headers })

test('an answer is handed over', async () => {
  const { post, asked, pauses } = scripted([well])
  expect(await post('/vault', { type: 'pcn' })).toEqual({ token: 'x' })
  expect(asked[0]?.init).toMatchObject({ method: 'POST', body: '{"type":"pcn"}', credentials: 'omit' })
  expect(asked[0]?.init.headers).toMatchObject({ 'accept-version': '1', 'x-client': 'tollgate-page-1' })
  expect(pauses).toEqual([])
})

test('a lost answer and one that is no JSON are asked for again, with the same body', async () => {
  const { post, asked, pauses, troubles } = scripted([lost, busy, () => new Response('<html>'), well])
  expect(await post('/payments', { a: 1 })).toEqual({ token: 'x' })
  expect(new Set(asked.map(({ init }) => init.body))).toEqual(new Set(['{"a":1}']))
  expect(pauses).toEqual([100, 2000, 10_000])
  expect(troubles).toEqual([true, true, true, false])
})

test('a refusal in JSON is the last word, whatever its status', async () => {
  const refusal = () => new Response('{"code":"PAYMENT_REJECTED","message":"No"}\n', { status: 400 })
  const { post, asked } = scripted([refusal])
  await expect(post('/payments', {})).rejects.toEqual(new Refused('PAYMENT_REJECTED', 'No'))
  expect(asked).toHaveLength(1)
})

test('who is to come later comes later', async () => {
  const limited = () => new Response('{"code":"X","message":"Slow"}', { status: 429, headers: { 'retry-after': '7' } })
  const { post, pauses } = scripted([limited, () => busy({ 'retry-after': '30' }), well])
  await post('/vault', {})
  expect(pauses).toEqual([7000, 30_000])
})

test('after ten tries nobody knows', async () => {
  const { post, asked } = scripted([lost])
  await expect(post('/payments', {})).rejects.toBeInstanceOf(Unanswered)
  expect(asked).toHaveLength(10)
})
