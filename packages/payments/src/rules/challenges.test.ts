import { expect, test } from 'vitest'
import type { Simulation } from '../acquirers/acquirer.ts'
import { authenticationOf, type ChallengeName, methodProofs, nextChallenges, type Proof } from './challenges.ts'

/** The best step every time, as far as it goes. */
function wayOf(simulation: Simulation, tds = true): ChallengeName[] {
  const proofs = new Set<Proof>()
  const way: ChallengeName[] = []
  for (;;) {
    const [challenge] = nextChallenges(proofs, { tds, simulation })
    if (!challenge) return way
    way.push(challenge.name)
    proofs.add(challenge.name)
    if (challenge.name === 'tds-fingerprint') for (const proof of methodProofs) proofs.add(proof)
  }
}

const start = ['authorize-integration', 'tds-enrolled', 'tds-fingerprint'] as const
const bank = ['tds-pre-challenge', 'tds-challenge', 'tds-post-challenge'] as const

test.each<[string, Simulation, readonly string[]]>([
  ['unless told otherwise, the bank shows itself', {}, [...start, ...bank, 'authorize']],
  ['without a challenge it does not', { tds: { challenge: false } }, [...start, 'authorize']],
  ['a page that never answers is left behind', { tds: { fingerprint: 'timeout' } }, [...start, ...bank, 'authorize']],
  [
    'where there is no such page the step is left out',
    { tds: { fingerprint: 'unavailable' } },
    ['authorize-integration', 'tds-enrolled', ...bank, 'authorize'],
  ],
  ['a bank that is not there shows nothing', { tds: { status: 'unavailable' } }, [...start, 'authorize']],
  ['nor does one that takes no part', { tds: { status: 'attempted' } }, [...start, 'authorize']],
  ['one that will refuse shows itself all the same', { tds: { status: 'rejected' } }, [...start, ...bank, 'authorize']],
])('%s', (_, simulation, way) => {
  expect(wayOf(simulation)).toEqual(way)
})

test('without 3-D Secure there are two steps, and no fingerprint is offered', () => {
  expect(wayOf({}, false)).toEqual(['authorize-integration', 'authorize'])
  expect(nextChallenges(new Set(), { tds: false, simulation: undefined })).toHaveLength(1)
})

test('the fingerprint is offered beside the first three steps, until it is taken', () => {
  const course = { tds: true, simulation: {} }
  const names = (...proofs: Proof[]) => nextChallenges(new Set(proofs), course).map(({ name }) => name)
  expect(names()).toEqual(['authorize-integration', 'fingerprint'])
  expect(names('authorize-integration')).toEqual(['tds-enrolled', 'fingerprint'])
  expect(names('authorize-integration', 'tds-enrolled')).toEqual(['tds-fingerprint', 'fingerprint'])
  expect(names('authorize-integration', 'fingerprint')).toEqual(['tds-enrolled'])
  expect(names('authorize-integration', 'tds-enrolled', 'tds-fingerprint')).toEqual(['tds-pre-challenge'])
})

test('phones know no other types than these, and find every step under its name', () => {
  for (const { name, type, path } of nextChallenges(new Set(), { tds: true, simulation: {} })) {
    expect(['fetch', 'iframe', 'background-iframe']).toContain(type)
    expect(path).toBe(`/payments/challenges/${name}`)
  }
})

type Outcome = ReturnType<typeof authenticationOf>

test.each<[Simulation, boolean, 'attempt' | 'full', Outcome]>([
  [{}, true, 'attempt', { tds: 'full' }],
  [{}, false, 'attempt', { tds: 'none', refused: 31 }],
  [{ tds: { challenge: false } }, false, 'full', { tds: 'full' }],
  [{ tds: { status: 'rejected' } }, true, 'attempt', { tds: 'none', refused: 31 }],
  [{ tds: { status: 'rejected', challenge: false } }, false, 'attempt', { tds: 'none', refused: 31 }],
  [{ tds: { status: 'unavailable' } }, false, 'attempt', { tds: 'none', refused: 30 }],
  [{ tds: { status: 'attempted' } }, false, 'attempt', { tds: 'attempt' }],
  [{ tds: { status: 'attempted' } }, false, 'full', { tds: 'attempt', refused: 30 }],
])('%j, confirmed %s, where %s is demanded: %j', (simulation, confirmed, demanded, outcome) => {
  expect(authenticationOf({ tds: true, simulation }, { confirmed, demanded })).toEqual(outcome)
})

test('a merchant that demands the whole of it is not paid without any', () => {
  const course = { tds: false, simulation: undefined }
  expect(authenticationOf(course, { confirmed: false, demanded: 'full' })).toEqual({ tds: 'none', refused: 30 })
  expect(authenticationOf(course, { confirmed: false, demanded: 'attempt' })).toEqual({ tds: 'none' })
})
