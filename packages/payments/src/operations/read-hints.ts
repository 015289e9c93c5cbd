import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import type { Proof } from '../rules/challenges.ts'

/** What a step has proved. Devices carry it along: nothing is kept of a payment before it is made. */
export type Hint = {
  proof: Proof
  /** When it was given, in milliseconds. */
  at: number
  /** Of the bank's page: whether the payer confirmed. */
  confirmed?: boolean
  /** Of the last step: what was made. */
  transactionId?: string
}

type Parts = Pick<App, 'vault' | 'now' | 'config'>

/** A hint is good for one order alone, and no two are the same text: some devices drop what they have already. */
export function makeHint({ vault, now }: Parts, order: string, hint: Omit<Hint, 'at'>): string {
  return vault.sealNote({ ...hint, at: now().getTime() }, `hint ${order}`)
}

/** Throws away none that it cannot read: whoever sends one of those begins anew. */
export function readHints({ vault, now, config }: Parts, order: string, hints: readonly string[]): Hint[] {
  const earliest = now().getTime() - config.customers.patience * 1000
  return hints.map((text) => {
    const hint = vault.openNote(text, `hint ${order}`) as Hint | undefined
    if (!hint || hint.at < earliest) throw fail('PAYMENT_CHALLENGE_UNAVAILABLE')
    return hint
  })
}
