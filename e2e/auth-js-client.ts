import { randomInt, randomUUID } from 'node:crypto'
import { AuthClient } from '@supabase/auth-js'
import type { StillClock } from '@tollgate/kit/testing'
import { vi } from 'vitest'

type Options = ConstructorParameters<typeof AuthClient>[0]

/** The official client as somebody has it who has been nowhere yet. */
export function newClient({ origin }: { origin: string }, options: Options = {}): InstanceType<typeof AuthClient> {
  return new AuthClient({ url: origin, storageKey: randomUUID(), persistSession: false, autoRefreshToken: false, ...options })
}

/** The client looks at the clock to see whether its session is over: it is the one that the service goes by. */
export function shareClock({ now }: { now: StillClock }): void {
  vi.useFakeTimers({ toFake: ['Date'], now: now() })
}

export function pass({ now }: { now: StillClock }, seconds: number): void {
  now.advance(seconds)
  vi.setSystemTime(now())
}

export const newAddress = () => `${randomUUID()}@site.test`
export const newNumber = () => `+45${randomInt(10_000_000, 100_000_000)}`
