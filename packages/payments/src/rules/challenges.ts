import type { Simulation } from '../acquirers/acquirer.ts'
import type { ProcessingCode } from './processing-errors.ts'

/** What a step of a payment proves, once it is done. Named like the steps; the page of `tds-fingerprint` proves three things at once. */
export type Proof =
  | 'authorize-integration'
  | 'fingerprint'
  | 'tds-enrolled'
  | 'tds-fingerprint'
  | 'tds-method'
  | 'tds-device'
  | 'tds-browser'
  | 'tds-pre-challenge'
  | 'tds-challenge'
  | 'tds-post-challenge'
  | 'authorize'

/** What the page that a device shows without showing it says of 3-D Secure, in one message. */
export const methodProofs = ['tds-method', 'tds-device', 'tds-browser'] as const satisfies Proof[]

const types = {
  'authorize-integration': 'fetch',
  fingerprint: 'background-iframe',
  'tds-enrolled': 'fetch',
  'tds-fingerprint': 'background-iframe',
  'tds-pre-challenge': 'fetch',
  'tds-challenge': 'iframe',
  'tds-post-challenge': 'fetch',
  authorize: 'fetch',
} as const satisfies Partial<Record<Proof, string>>

export type ChallengeName = keyof typeof types

export type Challenge = { name: ChallengeName; type: (typeof types)[ChallengeName]; path: string }

export const challengeNames = Object.keys(types) as ChallengeName[]

/** What matters to the order of the steps. */
export type Course = {
  /** Whether the payer's bank is asked who is paying. */
  tds: boolean
  /** What the wallet says of who is paying, where it has asked already. */
  wallet?: 'none' | 'attempt' | 'full' | undefined
  simulation: Simulation | undefined
}

/** The steps that can be taken next, the best first; none when the payment is made. */
export function nextChallenges(proofs: ReadonlySet<Proof>, course: Course): Challenge[] {
  if (proofs.has('authorize')) return []
  const next = requiredSteps(course).find((step) => !proofs.has(step)) ?? 'authorize'
  // Offered beside the early steps: it tells more about the device, and nobody has to take it.
  const early = next === 'authorize-integration' || next === 'tds-enrolled' || next === 'tds-fingerprint'
  return [next, ...(early && course.tds && !proofs.has('fingerprint') ? ['fingerprint' as const] : [])].map((name) => ({
    name,
    type: types[name],
    path: `/payments/challenges/${name}`,
  }))
}

function requiredSteps(course: Course): readonly ChallengeName[] {
  if (!course.tds) return ['authorize-integration', 'authorize']
  return [
    'authorize-integration',
    'tds-enrolled',
    ...(course.simulation?.tds?.fingerprint === 'unavailable' ? [] : ['tds-fingerprint' as const]),
    ...(isChallenged(course) ? (['tds-pre-challenge', 'tds-challenge', 'tds-post-challenge'] as const) : []),
    'authorize',
  ]
}

/** A bank that cannot be reached, or takes no part, has nothing to show. */
function isChallenged({ simulation: { tds = {} } = {} }: Course): boolean {
  return tds.challenge !== false && tds.status !== 'unavailable' && tds.status !== 'attempted'
}

export type Authentication = { tds: 'none' | 'attempt' | 'full'; refused?: ProcessingCode }

/** What came of asking who is paying. `confirmed`: what the payer did when their bank showed itself. */
export function authenticationOf(
  course: Course,
  { confirmed, demanded }: { confirmed: boolean; demanded: 'attempt' | 'full' },
): Authentication {
  if (!course.tds) return enough(course.wallet ?? 'none', demanded)
  const { status = 'authenticated' } = course.simulation?.tds ?? {}
  if (status === 'unavailable') return { tds: 'none', refused: 30 }
  if (status === 'rejected' || (isChallenged(course) && !confirmed)) return { tds: 'none', refused: 31 }
  if (status === 'authenticated') return { tds: 'full' }
  return enough('attempt', demanded)
}

function enough(tds: Authentication['tds'], demanded: 'attempt' | 'full'): Authentication {
  return demanded === 'full' && tds !== 'full' ? { tds, refused: 30 } : { tds }
}
