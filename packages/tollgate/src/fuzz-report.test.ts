import { expect, test } from 'vitest'
import { complaintsOf, type FuzzOutcome, readFuzzOptions, tellBug, tellOutcome } from './fuzz-report.ts'

const memory = (held: number, resident: number) => ({ held: held * 1e6, resident: resident * 1e6 })

/** Four measurements a quarter, of which one is out of line. */
function ofQuarters(...held: number[]) {
  return held.flatMap((each) => [each, each - 1, each, each + 30].map((value) => memory(value, value * 5)))
}

const fine: FuzzOutcome = {
  name: 'payments',
  requests: 1000,
  answers: 1200,
  seconds: 2,
  statuses: { 404: 200, 200: 1000 },
  bugs: [],
  memory: ofQuarters(40, 45, 50, 62),
  reach: [
    { name: 'GET /me', answers: 800, done: 600, refused: 200 },
    { name: 'POST /apps', answers: 400, done: 0, refused: 399 },
  ],
}
const bug = { kind: 'POST /apps: 500', times: 2, what: '{"method":"POST"}\n500 oh', requestId: undefined }

test('the words of the command line', () => {
  expect(readFuzzOptions([])).toEqual({
    requests: 1_000_000,
    seed: undefined,
    services: ['identity', 'payments'],
    help: false,
  })
  expect(readFuzzOptions(['--requests', '500', '--seed', '0', '--service', 'payments'])).toMatchObject({
    requests: 500,
    seed: 0,
    services: ['payments'],
  })
})

test.each([
  [['--requests', '0'], '--requests must be a whole number from 1 to'],
  [['--requests', '1e6'], '--requests must be'],
  [['--seed', '2147483648'], '--seed must be'],
  [['--service', 'both'], '--service must be identity or payments, not "both"'],
  [['--loud'], '--loud'],
])('%j makes no sense', (words, complaint) => {
  expect(() => readFuzzOptions(words)).toThrow(complaint)
})

test('a run in which nothing was wrong is told with its figures', () => {
  expect(complaintsOf(fine)).toEqual([])
  const text = tellOutcome(fine)
  expect(text).toContain('payments: 1000 requests, 1200 answers in 2 s, 600/s')
  expect(text).toContain('by status  200: 1000, 404: 200')
  expect(text).toMatch(/^ {2}GET \/me +800 +75\.0 % +25\.0 %$/m)
  expect(text).toMatch(/^ {2}POST \/apps +400 +0\.0 % +99\.8 %$/m)
  expect(text).toContain(
    'held after collection  40.0 MB at first, 50.0 MB in the third quarter, 62.0 MB in the last (at most 12.0 MB more)',
  )
  expect(text).toMatch(/no promise broken, memory stable$/)
  expect(text).not.toContain('FAILED')
})

test('a bug, memory beyond its bound and missing answers are complaints, each by itself', () => {
  expect(complaintsOf({ ...fine, bugs: [bug] })).toEqual(['POST /apps: 500, 2 times'])
  expect(complaintsOf({ ...fine, memory: ofQuarters(40, 45, 50, 62.1) })).toEqual([
    'held memory grew by 12.1 MB in the last quarter, more than 12.0 MB',
    'resident memory grew by 60.5 MB in the last quarter, more than 60.0 MB',
  ])
  expect(complaintsOf({ ...fine, answers: 899 })).toEqual(['only 899 answers to 1000 requests'])
  expect(tellOutcome({ ...fine, bugs: [bug] })).toContain('  FAILED  POST /apps: 500, 2 times')
})

test('memory that grew at first alone, or was measured too seldom, is no complaint', () => {
  expect(complaintsOf({ ...fine, memory: ofQuarters(40, 90, 140, 140) })).toEqual([])
  const seldom = { ...fine, memory: ofQuarters(40, 45, 50, 99).filter((_, index) => index % 2 === 0) }
  expect(complaintsOf(seldom)).toEqual([])
  expect(tellOutcome(seldom)).toContain('too few requests to judge')
  expect(tellOutcome(seldom)).not.toContain('memory stable')
})

test('an endpoint that refused everything is a complaint where there were requests enough', () => {
  const many = { ...fine, requests: 10_000, answers: 12_000 }
  expect(complaintsOf(many)).toEqual(['POST /apps refused everything'])
  expect(complaintsOf({ ...many, requests: 9_999 })).toEqual([])
})

test('a bug is told with the request and how to send it again', () => {
  expect(tellBug(bug, 'npm run fuzz -- --seed 7')).toBe(
    'BUG POST /apps: 500\n    {"method":"POST"}\n    500 oh\n    again: npm run fuzz -- --seed 7',
  )
})
