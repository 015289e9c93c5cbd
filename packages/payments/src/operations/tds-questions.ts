import type { Simulation } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import type { Order } from './read-order.ts'

/** What the pages of the simulator's bank are told, in a form that the payer's device carries there. */
export type Question = {
  order: string
  at: number
  merchant: string
  amount: number
  currency: string
  last4: string
  simulation: Pick<Simulation, 'fingerprint' | 'tds'>
}

type Parts = Pick<App, 'vault' | 'now' | 'config'>

const about = 'question'

export function sealQuestion({ vault, now }: Parts, order: Order): string {
  const { payee, amount, currency, card, course } = order
  const { fingerprint, tds } = course.simulation ?? {}
  const question: Question = {
    order: order.hash,
    at: now().getTime(),
    merchant: payee.name ?? payee.descriptor,
    amount,
    currency,
    last4: card.number.reveal().slice(-4),
    simulation: { ...(fingerprint && { fingerprint }), ...(tds && { tds }) },
  }
  return vault.sealNote(question, about)
}

export function openQuestion({ vault, now, config }: Parts, text: string): Question {
  const question = vault.openNote(text, about) as Question | undefined
  if (!question || question.at < now().getTime() - config.customers.patience * 1000) throw fail('PAYMENT_CHALLENGE_UNAVAILABLE')
  return question
}
