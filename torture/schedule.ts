import { createRandom } from './random.ts'

export const faultNames = [
  'worker',
  'service',
  'postgres',
  'backend',
  'cut',
  'stall',
  'dribble',
  'refuse',
  'commit',
  'answer',
  'clock',
  'disk',
  'smtp',
  'sms',
  'acquirer',
] as const

export type FaultName = (typeof faultNames)[number]

/** `acquirer` is the payments service again, with merchants whose acquirer is not part of the product. */
export const serviceNames = ['payments', 'acquirer', 'identity'] as const

export type ServiceName = (typeof serviceNames)[number]

/** Outsiders are those of one service. */
const only: Partial<Record<FaultName, ServiceName>> = { smtp: 'identity', sms: 'identity', acquirer: 'acquirer' }

export function faultsOf(service: ServiceName, among: readonly FaultName[]): FaultName[] {
  return among.filter((name) => (only[name] ?? service) === service)
}

/** One thing that goes wrong. */
export type Strike = {
  fault: FaultName
  /** Milliseconds after the one before it was dealt with. */
  pause: number
  /** For how many milliseconds it stays wrong, where it does. */
  lasting: number
  /** From 0 to 1: who is hit, where it does not hit all. */
  lot: number
  /** A second thing to decide, such as whether workers die together with their supervisor. */
  coin: boolean
}

/** The longest pause; the shortest is a tenth of it. */
const longestPause = 1_000

/** What goes wrong in a run, one after the other, for ever: every fault once, in some order, then again in another one. Nothing lasts for more than `longest`. */
export function* schedule(seed: number, faults: readonly FaultName[], longest: number): Generator<Strike, never> {
  const random = createRandom(seed)
  for (;;)
    for (const fault of random.shuffled(faults))
      yield {
        fault,
        pause: random.between(longestPause / 10, longestPause),
        // Now and then longer than a request may take.
        lasting: Math.min(longest, random.chance(0.07) ? random.between(8_000, 13_000) : random.between(100, 2_500)),
        lot: random.next(),
        coin: random.chance(0.5),
      }
}
