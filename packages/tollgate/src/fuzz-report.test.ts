import { expect, test } from 'vitest'
import { complaintsOf, type FuzzOutcome, readFuzzOptions, tellBug, tellOutcome } from './fuzz-report.ts'

const memory = (held: number, resident: number) => ({ held: held * 1e6, resident: resident * 1e6 })

const fine: FuzzOutcome = {
  name: 'payments',
  requests: 1000,
  answers: 1200,
  seconds: 2,
  statuses: { 404: 200, 200: 1000 },
  bugs: [],
  memory: { start: memory(40, 120), middle: memory(50, 150), end: memory(75, 250) },
  unliked: [],
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
  expect(text).toContain('held after collection  40.0 MB, 50.0 MB, 75.0 MB')
  expect(text).not.toContain('FAILED')
})

test('a bug, memory beyond its bound and missing answers are complaints, each by itself', () => {
  expect(complaintsOf({ ...fine, bugs: [bug] })).toEqual(['POST /apps: 500, 2 times'])
  const grown = { start: memory(40, 120), middle: memory(50, 150), end: memory(75.1, 250.1) }
  expect(complaintsOf({ ...fine, memory: grown })).toEqual([
    'held memory grew by 25.1 MB in the second half, more than 25.0 MB',
    'resident memory grew by 100.1 MB in the second half, more than 100.0 MB',
  ])
  expect(complaintsOf({ ...fine, answers: 899 })).toEqual(['only 899 answers to 1000 requests'])
  expect(tellOutcome({ ...fine, bugs: [bug] })).toContain('  FAILED  POST /apps: 500, 2 times')
})

test('a bug is told with the request and how to send it again', () => {
  expect(tellBug(bug, 'npm run fuzz -- --seed 7')).toBe(
    'BUG POST /apps: 500\n    {"method":"POST"}\n    500 oh\n    again: npm run fuzz -- --seed 7',
  )
})
