import { expect, test } from 'vitest'
import { type Attempt, type Course, chooseChallenge, type Opening, pay } from './pay.ts'
import { Refused } from './post.ts'

const types: Record<string, string> = {
  'tds-fingerprint': 'background-iframe',
  fingerprint: 'background-iframe',
  'tds-challenge': 'iframe',
}
const challenge = (name: string) => ({ name, type: types[name] ?? 'fetch', path: `/payments/challenges/${name}` })

/** The steps of a payment by how many hints there are before them. */
const steps = new Map([
  [0, 'authorize-integration'],
  [1, 'tds-enrolled'],
  [2, 'tds-fingerprint'],
  [6, 'tds-pre-challenge'],
  [7, 'tds-challenge'],
  [8, 'tds-post-challenge'],
  [9, 'authorize'],
])

function course(more: Partial<Course> = {}) {
  const sent: { path: string; hints: number }[] = []
  const kept: Attempt[] = []
  const stages: string[] = []
  const own: Course = {
    async post<Answer>(path: string, body: unknown) {
      const { hints, ...order } = body as { hints: string[] }
      expect(order).toEqual({ amount: 1 })
      sent.push({ path, hints: hints.length })
      const next = steps.get(hints.length)
      if (path === '/payments')
        return (next ? { challenges: [challenge(next), challenge('fingerprint')] } : { authorizationId: 'done' }) as Answer
      if (path.endsWith('/tds-fingerprint')) return { action: '/method', fields: {}, hints: ['m'] } as Answer
      if (path.endsWith('/tds-challenge')) return { action: '/challenge', fields: {} } as Answer
      return { hints: [`${hints.length}`] } as Answer
    },
    openUnseen: async () => ['a', 'b', 'c'],
    openSeen: async () => ['confirmed'],
    entered: (stage) => void stages.push(stage),
    keep: (attempt) => void kept.push(attempt),
    ...more,
  }
  return { own, sent, kept, stages }
}

const fresh = { order: { amount: 1 }, hints: [], risky: false }

test('a payment takes its ten hints, in their order', async () => {
  const { own, sent, kept, stages } = course()
  expect(await pay(fresh, own)).toBe('done')
  expect(sent.filter(({ path }) => path === '/payments').map(({ hints }) => hints)).toEqual([0, 1, 2, 6, 7, 8, 9, 10])
  expect(kept.at(-1)?.hints).toEqual(['0', '1', 'm', 'a', 'b', 'c', '6', 'confirmed', '8', '9'])
  expect(stages.at(0)).toBe('checkingCard')
  expect(stages.at(-1)).toBe('paying')
})

test('it is kept that money may be taken before it is asked for', async () => {
  const { own, kept, sent } = course()
  const risky: boolean[] = []
  const post: Course['post'] = async (path, body) => {
    if (path.endsWith('/authorize')) risky.push(kept.at(-1)?.risky ?? false)
    return own.post(path, body)
  }
  await pay(fresh, { ...own, post })
  expect(risky).toEqual([true])
  expect(kept.find(({ hints }) => hints.length < 9)?.risky).toBe(false)
  expect(sent.length).toBeGreaterThan(0)
})

test('what was begun goes on from where it was', async () => {
  const { own, sent } = course()
  const begun = { order: { amount: 1 }, hints: Array.from({ length: 9 }, (_, index) => `${index}`), risky: true }
  expect(await pay(begun, own)).toBe('done')
  expect(sent.map(({ path }) => path)).toEqual(['/payments', '/payments/challenges/authorize', '/payments'])
})

test('a frame that stays silent adds nothing', async () => {
  const opened: Opening[] = []
  const silent = course({
    openUnseen: async (opening) => {
      opened.push(opening)
      throw new Refused('X', 'enough')
    },
  })
  await expect(pay(fresh, silent.own)).rejects.toThrow('enough')
  expect(opened).toMatchObject([{ action: '/method' }])
})

test('steps that never end are given up', async () => {
  const endless: Course['post'] = async <Answer>(path: string) =>
    (path === '/payments' ? { challenges: [challenge('tds-enrolled')] } : { hints: [] }) as Answer
  await expect(pay(fresh, course({ post: endless }).own)).rejects.toMatchObject({ code: 'PAYMENT_CHALLENGE_UNAVAILABLE' })
})

test('steps that are fetched come first, then what the bank wants to know of the device', () => {
  const [method, own, seen, fetched] = ['tds-fingerprint', 'fingerprint', 'tds-challenge', 'authorize'].map(challenge)
  expect(chooseChallenge([own, method, seen, fetched] as never)).toBe(fetched)
  expect(chooseChallenge([own, seen, method] as never)).toBe(method)
  expect(chooseChallenge([seen, own] as never)).toBe(seen)
})

test('a step of an unknown kind, or one at another place, is not taken', () => {
  expect(chooseChallenge([{ name: 'x', type: 'redirect', path: '/payments/challenges/x' }])).toBeUndefined()
  expect(chooseChallenge([{ name: 'x', type: 'fetch', path: '//evil.test/payments/challenges/x' }])).toBeUndefined()
})
