import { createHash } from 'node:crypto'
import { Unavailable } from '@tollgate/kit/failure'
import { createFetch } from '@tollgate/kit/fetch'
import { type FakeAnswer, startHttpFake } from '@tollgate/kit/http-fake'
import { keptLog } from '@tollgate/kit/testing'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { type BreachOptions, createBreachCheck } from './breach.ts'

// SHA-1 of "password", as everybody knows it.
const [prefix, suffix] = ['5BAA6', '1E4C9B93F3F0682250B6CF8331B7EE68FD8']
const other = '0'.repeat(35)

const fetch = createFetch({ allowPrivate: true, timeout: 10, userAgent: 'nobody in particular' })
afterAll(() => fetch.close())

async function start(answer: FakeAnswer, options: Partial<BreachOptions> = {}) {
  const fake = await startHttpFake(() => answer)
  onTestFinished(() => fake.close())
  const { log, lines } = keptLog()
  const check = createBreachCheck({ fetch, base: fake.origin, userAgent: 'Tollgate/test', log, ...options })
  return { fake, lines, check }
}

test.each([
  ['on the list', `${other}:3\r\n${suffix}:10434004\r\n${'F'.repeat(35)}:1`, true],
  ['on the list in lower case', `${suffix.toLowerCase()}:2\n`, true],
  ['padding', `${other}:3\r\n${suffix}:0\r\n`, false],
  ['not there', `${other}:3\r\n`, false],
  ['asked of an empty list', '', false],
])('a password that is %s', async (_, text, breached) => {
  const { check, lines } = await start({ text })
  expect(await check('password')).toBe(breached)
  expect(lines).toEqual([])
})

test('five digits of the hash go out and nothing else that could tell', async () => {
  const { check, fake } = await start({ text: '' })
  await check('password')
  expect(fake.requests).toMatchObject([
    {
      method: 'GET',
      path: `/range/${prefix}`,
      query: {},
      headers: { 'add-padding': 'true', 'user-agent': 'Tollgate/test' },
      body: '',
    },
  ])
  expect(JSON.stringify(fake.requests).toUpperCase()).not.toContain(suffix)
  expect(JSON.stringify(fake.requests)).not.toContain('password')
})

test('a mirror may live under a path, with a slash or without', async () => {
  const { fake, lines } = await start({ text: '' })
  const { log } = keptLog()
  for (const base of [`${fake.origin}/mirror`, `${fake.origin}/mirror/`]) {
    await createBreachCheck({ fetch, base, userAgent: 'x', log })('pässwörd')
  }
  const start5 = createHash('sha1').update('pässwörd', 'utf8').digest('hex').slice(0, 5).toUpperCase()
  expect(fake.requests.map(({ path }) => path)).toEqual(Array(2).fill(`/mirror/range/${start5}`))
  expect(lines).toEqual([])
})

const troubles: [what: string, answer: FakeAnswer][] = [
  ['is out of order', { status: 503, text: `${suffix}:5` }],
  ['sends elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ['hangs up', 'cut'],
  ['hangs up in the middle', 'cut in the middle'],
  ['talks nonsense', 'garbage'],
  ['is the sign-in page of a network', { text: '<html>Welcome to our hotel</html>' }],
  ['never ends', { text: `${suffix}:5\r\n`.repeat(30_000) }],
  ['never answers', 'hang'],
]

test.each(troubles)('a list that %s lets passwords pass, and is told of once', async (_, answer) => {
  const { check, lines, fake } = await start(answer, { timeoutSeconds: answer === 'hang' ? 0.05 : 5 })
  expect([await check('password'), await check('password')]).toEqual([false, false])
  fake.answer(() => ({ text: `${suffix}:5` }))
  expect(await check('password')).toBe(true)
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'the list of breached passwords does not answer: passwords pass without it'],
    ['info', 'the list of breached passwords answers again'],
  ])
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${prefix}|${suffix}|"password"`, 'i'))
})

test.each(troubles)('a list that %s stops everything where we are told to fail closed', async (_, answer) => {
  const { check } = await start(answer, { failClosed: true, timeoutSeconds: answer === 'hang' ? 0.05 : 5 })
  const refusal = await check('password').catch((problem: unknown) => problem)
  expect(refusal).toBeInstanceOf(Unavailable)
  expect(String(refusal)).not.toMatch(new RegExp(`${prefix}|${suffix}`, 'i'))
})
