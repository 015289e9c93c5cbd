import { randomInt } from 'node:crypto'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { createCleanup } from '../bench/cleanup.ts'
import { type Books, check, type Row } from '../torture/checker.ts'
import { type Exchange, hashOf } from '../torture/history.ts'
import { readOptions } from '../torture/options.ts'
import { createRandom } from '../torture/random.ts'
import { tellReport } from '../torture/report.ts'
import { torture } from '../torture/run.ts'
import { type FaultName, faultNames, schedule } from '../torture/schedule.ts'
import { builtProgram } from './programs.ts'

/** One of each kind; `npm run torture` has the rest, and minutes of them. */
const shortFaults: FaultName[] = ['commit', 'answer', 'cut', 'stall', 'dribble', 'worker', 'service', 'postgres', 'clock']

test('whoever asks until there is an answer is served once, whatever goes wrong between the service and its database', async () => {
  const cleanup = createCleanup()
  onTestFinished(() => cleanup.now())
  const seed = randomInt(2 ** 32)
  onTestFailed(() => void process.stdout.write(`torture: seed ${seed}\n`))
  const program = await builtProgram()
  const run = { seed, seconds: 6, faults: shortFaults, longest: 1_500, workers: 2, pause: 20 }
  const report = await torture({ ...run, service: 'payments', program, assistants: 4, customers: 2, people: 0 }, cleanup)
  const told = tellReport(report, run)
  expect(report.findings, told).toEqual([])
  // Otherwise nothing was proved: there was load, and it felt what went wrong.
  for (const name of shortFaults) expect(report.strikes[name], told).toBeGreaterThan(0)
  expect(report.proxy.lostCommits + report.proxy.lostAnswers, told).toBeGreaterThan(0)
  expect(report.figures['asked again'], told).toBeGreaterThan(0)
  expect(report.figures.done, told).toBeGreaterThan(10)
  expect(report.figures.purchases, told).toBeGreaterThan(0)
}, 400_000)

const merchant = '/merchants/5f0000000000000000000001'
const transaction = '6f0000000000000000000001'

type Said = Partial<Pick<Exchange, 'path' | 'key' | 'body' | 'sent'>> & { status?: number; json?: unknown }

let moment = 0
function exchange({ path = `/transactions/${transaction}/captures`, key, body, sent, status, json }: Said): Exchange {
  const start = sent ?? moment++
  const answer = status === undefined ? undefined : { status, text: JSON.stringify(json ?? {}) }
  return { path, key, body: body ?? { amount: 300 }, sent: start, heard: start + 0.5, answer }
}

const row = (kind: string, amount: number, key: string | null, more: Partial<Row> = {}): Row => ({
  ...{ id: `${kind} ${key}`, kind, state: 'done', amount, transactionId: transaction },
  keyHash: key === null ? null : hashOf(key),
  ...more,
})

/** An authorization of 1000 of which 300 are captured, an order of 1234, and everything as it should be. */
function rightRun(): { history: Exchange[]; books: Books } {
  const payment = { amount: { currency: 'EUR', exponent: 2, value: 1234 } }
  const captured = { transaction: { id: transaction, capturedAmount: 300 } }
  const paid = { path: `${merchant}/transactions`, key: 'pay', body: { amount: 1000 } }
  const refusal = [{ field: 'amount', message: 'Can capture at most EUR 7.00' }]
  return {
    history: [
      exchange(paid),
      exchange({ ...paid, status: 201, json: { transaction: { id: transaction } } }),
      exchange({ key: 'capture', status: 503 }),
      exchange({ key: 'capture', status: 409, json: { code: 'idempotency_running' } }),
      exchange({ key: 'capture', status: 201, json: captured }),
      exchange({ key: 'capture', status: 201, json: captured }),
      exchange({ key: 'much', body: { amount: 800 }, status: 400, json: refusal }),
      exchange({ key: 'declined', body: { amount: 100 }, status: 400, json: { code: 8, message: 'Declined' } }),
      exchange({ path: '/vault', body: { type: 'pcsc' }, status: 201 }),
      exchange({ path: '/payments', body: payment, status: 200, json: { challenges: [{}] } }),
      exchange({ path: '/payments/challenges/authorize', body: payment }),
      exchange({ path: '/payments', body: payment, status: 200, json: { authorizationId: 'order' } }),
    ],
    books: {
      rows: [row('authorize', 1000, 'pay'), row('capture', 300, 'capture'), row('capture', 100, 'declined', { state: 'failed' })],
      totals: [{ id: transaction, amount: 1000, captured: 300, refunded: 0, voided: 0 }],
      acquirer: [{ id: transaction, captured: 300, refunded: 0, voided: 0 }],
      payments: [{ id: 'order', amount: 1234, state: 'done' }],
      securityCodes: 0,
      complaint: undefined,
    },
  }
}

test('a run in which all went well has no findings', () => {
  const { history, books } = rightRun()
  expect(check(history, books)).toEqual([])
})

type Run = ReturnType<typeof rightRun>
type Changeable = { -readonly [Part in keyof Books]: Books[Part] extends readonly (infer Each)[] ? Each[] : Books[Part] }

const rowsOf = ({ books }: Run) => (books as Changeable).rows
const order = { amount: { currency: 'EUR', exponent: 2, value: 1234 } }

test.each<[rule: string, spoil: (run: Run) => unknown]>([
  ['an answer was a 500', ({ history }) => history.push(exchange({ key: 'capture', status: 500 }), ...history.slice(5, 6))],
  ['nobody got an answer', ({ history }) => history.push(exchange({ key: 'capture' }))],
  ['nobody got an answer', ({ history }) => history.push(exchange({ path: '/payments', body: order, status: 503 }))],
  ['something was acknowledged and is lost', (run) => rowsOf(run).splice(0, 1)],
  ['something was acknowledged and is lost', (run) => Object.assign(rowsOf(run)[0] as Row, { amount: 999 })],
  ['something was acknowledged and is lost', (run) => Object.assign(rowsOf(run)[0] as Row, { transactionId: 'another' })],
  ['something was acknowledged and is lost', (run) => Object.assign(rowsOf(run)[0] as Row, { state: 'failed' })],
  ['something was acknowledged and is lost', (run) => Object.assign(rowsOf(run)[1] as Row, { kind: 'void' })],
  ['something was declined and is done', (run) => Object.assign(rowsOf(run)[2] as Row, { state: 'done' })],
  ['something was refused and is done', (run) => rowsOf(run).push(row('capture', 800, 'much', { state: 'failed' }))],
  [
    'something was refused without a reason',
    ({ history }) => history.push(exchange({ key: 'little', body: { amount: 700 }, status: 400, json: [] })),
  ],
  [
    'something was refused without a reason',
    ({ history }) => history.push(exchange({ path: `${merchant}/transactions`, key: 'new', status: 404 })),
  ],
  ['one key is in the books twice', (run) => rowsOf(run).push(row('authorize', 1000, 'pay', { id: 'again' }))],
  ['something is in the books that nobody asked for', (run) => rowsOf(run).push(row('void', 1, null))],
  ['something is in the books that nobody asked for', (run) => rowsOf(run).push(row('void', 1, 'unheard of'))],
  [
    'one key was answered in two ways',
    ({ history }) => history.push(exchange({ key: 'capture', status: 201, json: { transaction: { id: transaction } } })),
  ],
  [
    'what was settled was unsettled',
    ({ history }) => history.push(exchange({ key: 'capture', status: 409 }), ...history.slice(5, 6)),
  ],
  [
    'what was settled was unsettled',
    ({ history }) => history.push(exchange({ key: 'capture', status: 404 }), ...history.slice(5, 6)),
  ],
  ['something is still open', (run) => Object.assign(rowsOf(run)[2] as Row, { state: 'pending' })],
  ['something is still open', ({ books }) => Object.assign(books.payments[0] as object, { state: 'pending' })],
  ['the sums of a transaction do not fit', ({ books }) => Object.assign(books.totals[0] as object, { captured: 301 })],
  ['the sums of a transaction do not fit', ({ books }) => Object.assign(books.totals[0] as object, { refunded: 1 })],
  ['the sums of a transaction do not fit', ({ books }) => Object.assign(books.totals[0] as object, { amount: 299 })],
  ['the sums of a transaction do not fit', ({ books }) => Object.assign(books.acquirer[0] as object, { voided: 1 })],
  ['the sums of a transaction do not fit', ({ books }) => (books as Changeable).acquirer.pop()],
  ['an order was refused', ({ history }) => history.splice(-1, 0, exchange({ path: '/payments', body: order, status: 404 }))],
  [
    'an order was answered in two ways',
    ({ history }) => history.push(exchange({ path: '/payments', body: order, status: 200, json: { authorizationId: 'other' } })),
  ],
  ['an order was acknowledged and is lost', ({ books }) => (books as Changeable).payments.pop()],
  ['an order was acknowledged and is lost', ({ books }) => Object.assign(books.payments[0] as object, { state: 'failed' })],
  ['an order was paid twice', ({ books }) => (books as Changeable).payments.push({ id: 'twice', amount: 1234, state: 'done' })],
  [
    'something was paid that nobody ordered',
    ({ books }) => (books as Changeable).payments.push({ id: 'extra', amount: 1235, state: 'done' }),
  ],
  ['a security code outlived its payment', ({ books }) => Object.assign(books, { securityCodes: 1 })],
  ['the books are not clean', ({ books }) => Object.assign(books, { complaint: 'breach' })],
])('a run in which %s is found out', (rule, spoil) => {
  const run = rightRun()
  spoil(run)
  expect(check(run.history, run.books).map((finding) => finding.rule)).toContain(rule)
})

test('who was told that something is under way before it was settled was told the truth', () => {
  const { history, books } = rightRun()
  // Sent together with the request that did it, and answered after that one.
  history.splice(4, 0, { ...exchange({ key: 'capture', status: 409, sent: (history[4] as Exchange).sent }), heard: 1e9 })
  expect(check(history, books)).toEqual([])
})

test('one seed is one schedule, another is another, and every fault comes before one comes again', () => {
  const first = (seed: number) =>
    schedule(seed, faultNames, 15_000)
      .take(faultNames.length * 3)
      .toArray()
  expect(first(7)).toEqual(first(7))
  expect(first(7)).not.toEqual(first(8))
  for (const { lasting } of schedule(7, faultNames, 500).take(50)) expect(lasting).toBeLessThanOrEqual(500)
  for (const start of [0, faultNames.length, faultNames.length * 2]) {
    const names = first(7).slice(start, start + faultNames.length)
    expect(new Set(names.map(({ fault }) => fault)).size).toBe(faultNames.length)
  }
})

test('chance is even, within its bounds, and its own for everybody', () => {
  const random = createRandom(1)
  const drawn = Array.from({ length: 6000 }, () => random.between(1, 6))
  for (const face of [1, 2, 3, 4, 5, 6]) expect(drawn.filter((each) => each === face).length / 1000).toBeCloseTo(1, 0)
  expect(Math.min(...drawn)).toBe(1)
  expect(Math.max(...drawn)).toBe(6)
  expect(random.shuffled([1, 2, 3, 4, 5]).toSorted()).toEqual([1, 2, 3, 4, 5])
  expect(random.fork().next()).not.toBe(random.fork().next())
})

test('a command line that makes no sense is told so', () => {
  expect(readOptions(['--seed', '5', '--minutes', '0.5', '--faults', 'cut,stall'])).toMatchObject({
    ...{ seed: 5, seconds: 30, faults: ['cut', 'stall'] },
  })
  expect(readOptions([], () => 0.5).seed).toBe(2 ** 31)
  expect(() => readOptions(['--faults', 'flood'])).toThrow('There is no fault "flood"')
  expect(readOptions([]).services).toEqual(['payments', 'acquirer', 'identity'])
  expect(readOptions(['--service', 'identity']).services).toEqual(['identity'])
  expect(() => readOptions(['--service', 'mail'])).toThrow('There is no service "mail"; there are payments, acquirer, identity.')
  expect(() => readOptions(['--minutes', 'x'])).toThrow('--minutes must be a number from 0.02 to 600, not "x"')
  expect(() => readOptions(['--workers', '2.5'])).toThrow('--workers must be a whole number')
  expect(() => readOptions(['--sead', '1'])).toThrow(/sead/)
})

test('a report tells how to run the same again', () => {
  const findings = Array.from({ length: 7 }, (_, index) => ({ rule: 'something is still open', what: `thing ${index}` }))
  const report = {
    service: 'payments',
    findings,
    strikes: {},
    proxy: {},
    processes: {},
    trouble: { 'error: no': 2 },
    figures: {},
  }
  const told = tellReport(report as unknown as Parameters<typeof tellReport>[0], {
    ...{ seed: 5, seconds: 30, faults: ['cut'] },
  })
  expect(told).toContain('FOUND     something is still open: 7')
  expect(told).toContain('thing 4')
  expect(told).not.toContain('thing 5')
  expect(told).toContain('npm run torture -- --service payments --seed 5 --minutes 0.5 --faults cut --keep FOLDER')
})
