import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, openDb } from '@tollgate/kit/db'
import { createFetch } from '@tollgate/kit/fetch'
import { type FakeAnswer, startHttpFake } from '@tollgate/kit/http-fake'
import { keptLog, scratchDatabase, stillClock } from '@tollgate/kit/testing'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { mostBytes } from '../rules/ecb.ts'
import { createRates } from './load-rates.ts'

const database = await scratchDatabase('template_payments')
const db = connect(database.url)
const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'Tollgate/test' })
const folder = mkdtempSync(join(tmpdir(), 'tollgate-rates-'))

beforeEach(async () => {
  await db`delete from pay.exchange_rates`
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await fetch.close()
  await db.close()
  await database.drop()
})

function connect(url: string): Db {
  return openDb({ url, schema: { written: 'pay', actual: 'pay' }, name: 'rates-test', patience: { connection: 500 } })
}

type Given = { interval?: number; maxAge?: number; timeout?: number; db?: Db }

function ratesFrom(place: string | undefined, given: Given = {}) {
  const { interval = 3600, maxAge = 7, timeout = 5, db: used = db } = given
  const { log, lines } = keptLog()
  const now = stillClock()
  const rates = createRates({
    db: used,
    log,
    now,
    fetch: (url, options) => fetch(url, { timeout, ...options }),
    settings: { rates: place, interval, maxAge },
  })
  onTestFinished(() => rates.stop())
  return { rates, lines, now }
}

async function startSource(answer: FakeAnswer) {
  const fake = await startHttpFake(() => answer)
  onTestFinished(() => fake.close())
  return { fake, place: `${fake.origin}/daily.xml`, say: (next: FakeAnswer) => fake.answer(() => next) }
}

/** `{ '2030-01-02': { USD: '1.07' } }` as it is published. */
function document(days: Record<string, Record<string, string>>): string {
  const cubes = Object.entries(days).map(([day, rates]) => {
    const inner = Object.entries(rates).map(([currency, rate]) => `<Cube currency='${currency}' rate='${rate}'/>`)
    return `<Cube time='${day}'>${inner.join('')}</Cube>`
  })
  return `<?xml version="1.0"?><gesmes:Envelope xmlns:gesmes="x"><Cube>${cubes.join('')}</Cube></gesmes:Envelope>`
}

const today = document({ '2030-01-02': { USD: '1.0705', DKK: '7.4575' } })

function fileWith(text: string, name = 'rates.xml'): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function levels(lines: { level: string }[]) {
  return lines.map(({ level }) => level)
}

test('without a source the shipped rates are there from the first moment on', async () => {
  const { rates, lines } = ratesFrom(undefined, { maxAge: 0 })
  rates.start()
  await rates.refresh()
  expect(rates.find('EUR', 'DKK')).toEqual({ from: 'EUR', to: 'DKK', rate: '7.4575', source: 'shipped', day: '2024-06-28' })
  expect(rates.find('DKK', 'JPY')?.rate).toMatch(/^23\.0559839/)
  expect(rates.find('EUR', 'KWD')).toBeUndefined()
  expect(lines).toEqual([])
})

test('whoever can use the shipped rates for nothing is told so at start', () => {
  const { rates, lines } = ratesFrom(undefined)
  rates.start()
  expect(lines).toMatchObject([
    { level: 'warn', day: '2024-06-28', message: expect.stringContaining('PAY_EXCHANGE_RATES is not set') },
  ])
})

test('what stays in its currency needs nobody', () => {
  const { rates } = ratesFrom('http://127.0.0.1:1/nobody')
  expect(rates.find('KWD', 'KWD')).toMatchObject({ rate: '1', day: '2030-01-02' })
  expect(rates.find('EUR', 'USD')).toBeUndefined()
})

test('rates come from a file', async () => {
  const path = fileWith(today)
  const { rates, lines } = ratesFrom(path)
  await rates.refresh()
  expect(rates.find('USD', 'EUR')).toMatchObject({ rate: '0.9341429238673517', source: path, day: '2030-01-02' })
  expect(lines).toMatchObject([{ level: 'info', message: 'exchange rates are loaded', day: '2030-01-02' }])
})

test('rates come from an address, whose query is kept to ourselves', async () => {
  const { fake, place } = await startSource({ text: today })
  const { rates, lines } = ratesFrom(`${place}?key=hidden`)
  await rates.refresh()
  expect(rates.find('EUR', 'USD')).toMatchObject({ rate: '1.0705', source: place, day: '2030-01-02' })
  expect(fake.requests).toMatchObject([{ method: 'GET', path: '/daily.xml', query: { key: 'hidden' } }])
  expect(JSON.stringify([lines, await db`select * from pay.exchange_rates`])).not.toContain('hidden')
})

test('loading the same again changes nothing', async () => {
  const { place } = await startSource({ text: today })
  const { rates, now } = ratesFrom(place)
  await rates.refresh()
  const before = await db`select * from pay.exchange_rates order by currency`
  now.advance(60)
  await rates.refresh()
  expect(await db`select * from pay.exchange_rates order by currency`).toEqual(before)
  expect(before).toHaveLength(2)
})

test('ten processes that load at once agree, and nothing is there twice', async () => {
  const { place } = await startSource({ text: today })
  const crowd = Array.from({ length: 10 }, () => ratesFrom(place))
  await Promise.all(crowd.map(({ rates }) => rates.refresh()))
  expect(new Set(crowd.map(({ rates }) => rates.find('USD', 'DKK')?.rate))).toEqual(new Set(['6.9663708547407753']))
  expect(crowd.flatMap(({ lines }) => lines).filter(({ level }) => level !== 'info')).toEqual([])
  expect(await db`select from pay.exchange_rates`).toHaveLength(2)
})

test('a rate that is published differently later the same day is corrected', async () => {
  const { place, say } = await startSource({ text: today })
  const { rates } = ratesFrom(place)
  await rates.refresh()
  say({ text: document({ '2030-01-02': { USD: '1.08', DKK: '7.4575' } }) })
  await rates.refresh()
  expect(rates.find('EUR', 'USD')?.rate).toBe('1.08')
})

test('a history is kept whole, and its newest day is used', async () => {
  const path = fileWith(document({ '2029-12-31': { USD: '1.05' }, '2030-01-02': { USD: '1.07' }, '2030-01-01': { USD: '1.06' } }))
  const { rates } = ratesFrom(path)
  await rates.refresh()
  expect(rates.find('EUR', 'USD')).toMatchObject({ rate: '1.07', day: '2030-01-02' })
  expect(await db`select from pay.exchange_rates`).toHaveLength(3)
})

test('a currency that is published no more has no rate, rather than one of another day', async () => {
  const path = fileWith(document({ '2030-01-01': { USD: '1.05', RUB: '100' }, '2030-01-02': { USD: '1.07' } }))
  const { rates } = ratesFrom(path)
  await rates.refresh()
  expect(rates.find('EUR', 'RUB')).toBeUndefined()
})

test('what another process loaded is known here too, when the source is down', async () => {
  const { place, say } = await startSource({ text: today })
  await ratesFrom(place).rates.refresh()
  say('cut')
  const { rates, lines } = ratesFrom(place)
  await rates.refresh()
  expect(rates.find('EUR', 'USD')).toMatchObject({ rate: '1.0705' })
  expect(levels(lines)).toEqual(['warn', 'info'])
})

test('what another source said is not used', async () => {
  await ratesFrom(fileWith(today, 'other.xml')).rates.refresh()
  const { rates } = ratesFrom(join(folder, 'missing.xml'))
  await rates.refresh()
  expect(rates.find('EUR', 'USD')).toBeUndefined()
})

test('a source that goes back to an older day does not take the newer one away', async () => {
  const { place, say } = await startSource({ text: today })
  const { rates } = ratesFrom(place)
  await rates.refresh()
  say({ text: document({ '2029-12-31': { USD: '9' } }) })
  await rates.refresh()
  expect(rates.find('EUR', 'USD')?.rate).toBe('1.0705')
  expect(await db`select from pay.exchange_rates where day < '2030-01-01'`).toEqual([])
})

const pad = (text: string, length: number) => text + ' '.repeat(length - text.length)

test.each<[string, FakeAnswer, string]>([
  ['answers 500', { status: 500, text: today }, 'answered 500'],
  ['answers 404', { status: 404 }, 'answered 404'],
  ['sends elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'answered 302'],
  ['answers with nothing', { text: '' }, 'not the whole of'],
  ['answers with a page', { text: '<html><body>Sign in</body></html>' }, 'not the whole of'],
  ['answers with half a document', { text: today.slice(0, 150) }, 'not the whole of'],
  ['answers with a nonsense rate', { text: today.replace('1.0705', '-1') }, 'a rate of USD that cannot be one'],
  ['answers with an entity', { text: `<!DOCTYPE x [<!ENTITY e "x">]>${today}` }, 'declarations'],
  ['answers with the day after tomorrow', { text: document({ '2030-01-04': { USD: '1' } }) }, 'yet to come'],
  ['answers with too much', { text: pad(today, mostBytes + 1) }, 'more than 10000000 bytes'],
  ['hangs up', 'cut', 'broke off'],
  ['hangs up in the middle', 'cut in the middle', 'broke off'],
  ['does not speak HTTP', 'garbage', 'broke off'],
  ['does not answer', 'hang', 'took longer than 0.2 s'],
])('a source that %s is told of once, and the last known rates stay', async (_, answer, complaint) => {
  const { place, say } = await startSource({ text: today })
  const { rates, lines } = ratesFrom(place, { timeout: 0.2 })
  await rates.refresh()
  say(answer)
  await rates.refresh()
  await rates.refresh()
  expect(rates.find('EUR', 'USD')).toMatchObject({ rate: '1.0705', day: '2030-01-02' })
  expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
    { source: place, error: { message: expect.stringContaining(complaint) } },
  ])

  say({ text: document({ '2030-01-03': { USD: '1.09' } }) })
  await rates.refresh()
  expect(rates.find('EUR', 'USD')).toMatchObject({ rate: '1.09', day: '2030-01-03' })
  expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  expect(lines.map(({ message }) => message)).toContain('exchange rates: loaded again')
})

test('just as much as is allowed is read', async () => {
  const { place } = await startSource({ text: pad(today, mostBytes) })
  const { rates } = ratesFrom(place)
  await rates.refresh()
  expect(rates.find('EUR', 'USD')?.rate).toBe('1.0705')
})

test.each([
  ['is not there', () => join(folder, 'missing.xml'), 'ENOENT'],
  ['is a folder', () => folder, 'EISDIR'],
  ['never ends', () => '/dev/zero', 'longer than 10000000 bytes'],
])('a file that %s is told of', async (_, place, complaint) => {
  const { rates, lines } = ratesFrom(place())
  await rates.refresh()
  expect(rates.find('EUR', 'USD')).toBeUndefined()
  expect(lines).toMatchObject([{ level: 'warn', error: { message: expect.stringContaining(complaint) } }])
})

test('a database that is down is told of once, and what was known stays', async () => {
  const own = await scratchDatabase('template_payments')
  const mortal = connect(own.url)
  onTestFinished(() => mortal.close())
  const { rates, lines } = ratesFrom(fileWith(today), { db: mortal })
  await rates.refresh()
  await own.drop()
  await rates.refresh()
  await rates.refresh()
  expect(rates.find('EUR', 'USD')?.rate).toBe('1.0705')
  expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    'exchange rates: not loaded; the last known stay in use',
    'exchange rates: not read from the database; the last known stay in use',
  ])
})

test('once started, the source is asked at once, and again and again, in trouble or not', async () => {
  const { fake, place, say } = await startSource({ status: 500 })
  const { rates, lines } = ratesFrom(place, { interval: 0.01 })
  rates.start()
  rates.start()
  await fake.request(3)
  say({ text: today })
  await fake.request(fake.requests.length + 3)
  expect(rates.find('EUR', 'USD')?.rate).toBe('1.0705')
  expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
})

test('whoever stops does not wait for a source that does not answer', async () => {
  const { fake, place } = await startSource('hang')
  const { rates, lines } = ratesFrom(place, { timeout: 60 })
  rates.start()
  await fake.request()
  const started = performance.now()
  await rates.stop()
  expect(performance.now() - started).toBeLessThan(1000)
  expect(lines).toEqual([])
})
