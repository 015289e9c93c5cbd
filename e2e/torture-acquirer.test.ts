import { randomInt } from 'node:crypto'
import type { FakeAuthorization } from '@tollgate/payments/acquirers/clearhaus-fake'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { createCleanup } from '../bench/cleanup.ts'
import { checkLive, type LiveEvidence, type LivePayment, type LiveRule } from '../torture/acquirer/checker.ts'
import { startGateway } from '../torture/acquirer/gateway.ts'
import { type Exchange, hashOf } from '../torture/history.ts'
import { createRandom } from '../torture/random.ts'
import { tellReport } from '../torture/report.ts'
import { torture } from '../torture/run.ts'
import type { FaultName } from '../torture/schedule.ts'
import { builtProgram } from './programs.ts'

const shortFaults: FaultName[] = ['acquirer', 'commit']

test('an acquirer that is late, dead, silent or lying makes no money appear, vanish or move twice', async () => {
  const cleanup = createCleanup()
  onTestFinished(() => cleanup.now())
  const seed = randomInt(2 ** 32)
  onTestFailed(() => void process.stdout.write(`torture: acquirer, seed ${seed}\n`))
  const program = await builtProgram()
  const run = { seed, seconds: 2, faults: shortFaults, longest: 700, workers: 2, pause: 20 }
  const load = { assistants: 6, customers: 0, people: 0 }
  const report = await torture({ ...run, ...load, service: 'acquirer', program }, cleanup)
  const told = tellReport(report, run)
  expect(report.findings, told).toEqual([])
  for (const name of shortFaults) expect(report.strikes[name], told).toBeGreaterThan(0)
  expect(report.figures.payments, told).toBeGreaterThan(0)
  expect(report.figures.unknown, told).toBeGreaterThan(0)
}, 400_000)

const moods = ['slow', 'late', 'dead', 'silent', 'dropping', 'lying']

async function asked(mood: string) {
  const gateway = await startGateway(createRandom(moods.indexOf(mood) + 10), 1)
  onTestFinished(() => gateway.close())
  gateway.sulk((moods.indexOf(mood) + 0.5) / moods.length)
  const ask = (patience: number) =>
    fetch(`${gateway.env.PAY_CLEARHAUS_URL}/authorizations`, { signal: AbortSignal.timeout(patience) }).then(
      ({ status }) => status,
      () => undefined,
    )
  return { gateway, ask }
}

test.each(['late', 'dead', 'silent', 'dropping'])(
  'a %s acquirer has no answer in time, and one when it behaves',
  async (mood) => {
    const { gateway, ask } = await asked(mood)
    expect(await ask(1_000)).toBeUndefined()
    expect(gateway.felt()).toBeGreaterThan(0)
    gateway.behave()
    expect(await ask(10_000)).toBe(401)
  },
)

test('a lying one has answers, and none of them is the right one', async () => {
  const { ask } = await asked('lying')
  for (let times = 0; times < 10; times++) expect([200, 201, 202, 500]).toContain(await ask(10_000))
})

type Entry = LivePayment['entries'][number]
type Payment = Omit<LivePayment, 'entries'> & { entries: Entry[] }

/** A payment of 1000 of which 700 are captured and 100 under way back; one that nobody knows of for sure. */
function rightRun() {
  const exchange = (key: string, status: number, json: unknown): Exchange => ({
    ...{ path: '/transactions/one/captures', key, body: {}, sent: 0, heard: 1 },
    answer: { status, text: JSON.stringify(json) },
  })
  const history = [exchange('done', 201, {}), exchange('no', 400, { code: 12 }), exchange('open', 504, {})]
  const payments: Payment[] = [
    {
      ...{ id: 'one', state: 'done', amount: 1000 },
      entries: [
        { kind: 'capture', state: 'done', amount: 700, keyHash: hashOf('done') },
        { kind: 'capture', state: 'failed', amount: 300, keyHash: hashOf('no') },
        { kind: 'refund', state: 'pending', amount: 100, keyHash: hashOf('open') },
      ],
    },
    { id: 'two', state: 'pending', amount: 500, entries: [] },
    {
      id: 'three',
      state: 'done',
      amount: 200,
      entries: [{ kind: 'void', state: 'done', amount: 200, keyHash: null }],
    },
  ]
  const movement = (amount?: number) => ({
    id: 'm',
    status: { code: 20000 },
    processed_at: '',
    ...(amount !== undefined && { amount }),
  })
  const own = (reference: string, amount: number): FakeAuthorization => ({
    ...{
      id: `there ${reference}`,
      status: { code: 20000 },
      amount,
      currency: 'EUR',
      reference,
      text: undefined,
      series: undefined,
    },
    ...{ captures: [], refunds: [], voids: [] },
  })
  const authorizations = [
    { ...own('one', 1000), captures: [movement(700)], refunds: [movement(100)] },
    own('two', 500),
    { ...own('three', 200), voids: [movement()] },
  ]
  return { history, payments, authorizations, complaint: undefined as string | undefined } satisfies LiveEvidence
}

type Run = ReturnType<typeof rightRun>

const first = <T>(list: readonly T[]) => list[0] as T

test('a run in which all went well has no findings, though something is open', () => {
  expect(checkLive(rightRun())).toEqual([])
})

test.each<[rule: LiveRule, spoil: (run: Run) => unknown]>([
  [
    'an answer was a 500',
    ({ history }) => history.push({ ...first(history), key: undefined, answer: { status: 500, text: '{}' } }),
  ],
  ['the acquirer was asked for one payment twice', ({ authorizations }) => authorizations.push(first(authorizations))],
  ['money is reserved that nobody knows of', ({ payments }) => Object.assign(payments[1] as object, { state: 'failed' })],
  ['money is reserved that nobody knows of', ({ payments }) => payments.splice(1, 1)],
  ['a payment is approved that the acquirer does not have', ({ authorizations }) => authorizations.shift()],
  [
    'a payment is approved that the acquirer does not have',
    ({ authorizations }) => Object.assign(first(authorizations), { amount: 1 }),
  ],
  [
    'the sums of a payment do not fit',
    ({ authorizations }) => first(authorizations).captures.push(...first(authorizations).captures),
  ],
  ['the sums of a payment do not fit', ({ authorizations }) => first(authorizations).captures.pop()],
  ['the sums of a payment do not fit', ({ payments }) => first(payments).entries.pop()],
  ['the sums of a payment do not fit', ({ authorizations }) => authorizations[2]?.voids.pop()],
  ['the sums of a payment do not fit', ({ payments }) => payments[2]?.entries.pop()],
  [
    'one key is in the books twice',
    ({ payments }) => first(payments).entries.push({ ...first(first(payments).entries), state: 'failed' }),
  ],
  [
    'something was acknowledged and is lost',
    ({ payments }) => Object.assign(first(first(payments).entries), { state: 'pending' }),
  ],
  [
    'something was declined and is done',
    ({ payments }) => Object.assign(first(payments).entries[1] as object, { state: 'pending' }),
  ],
  ['the books are not clean', (run) => Object.assign(run, { complaint: 'breach' })],
])('a run in which %s is found out', (rule, spoil) => {
  const run = rightRun()
  spoil(run)
  expect(checkLive(run).map((finding) => finding.rule)).toContain(rule)
})
