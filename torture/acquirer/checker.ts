import type { FakeAuthorization } from '@tollgate/payments/acquirers/clearhaus-fake'
import { type Exchange, hashOf, outcomeOf } from '../history.ts'
import type { Finding } from '../scene.ts'

type State = 'done' | 'failed' | 'pending'

/** A payment of a live merchant and what was moved of it, as they stand in the tables. */
export type LivePayment = {
  id: string
  state: State
  amount: number
  entries: readonly { kind: string; state: State; amount: number; keyHash: string | null }[]
}

export type LiveEvidence = {
  history: readonly Exchange[]
  payments: readonly LivePayment[]
  /** By the acquirer's own record. */
  authorizations: readonly FakeAuthorization[]
  complaint: string | undefined
}

type Case = LiveEvidence & { entries: LivePayment['entries'][number][]; there: Map<string | undefined, FakeAuthorization[]> }

/**
 * What must hold. An acquirer that does not tell what it did leaves things open, for somebody to look up there: what is open may have happened or
 * not, and everything else has to be so as both sides say.
 */
const rules = {
  'an answer was a 500': ({ history }) => history.filter(({ answer }) => answer?.status === 500).map(tell),

  'the acquirer was asked for one payment twice': ({ there }) =>
    [...there].filter(([, list]) => list.length > 1).map(([, list]) => JSON.stringify(list)),

  'money is reserved that nobody knows of': ({ payments, authorizations }) =>
    authorizations
      .filter(({ reference }) => !payments.some(({ id, state }) => id === reference && state !== 'failed'))
      .map((each) => JSON.stringify(each)),

  'a payment is approved that the acquirer does not have': ({ payments, there }) =>
    payments
      .filter(({ id, state, amount }) => state === 'done' && !there.get(id)?.some((each) => each.amount === amount))
      .map((payment) => JSON.stringify(payment)),

  'the sums of a payment do not fit': ({ payments, there }) =>
    payments.flatMap((payment) => {
      const own = there.get(payment.id)?.[0]
      if (!own) return []
      const fits = (['capture', 'refund'] as const).every((kind) => {
        const moved = own[`${kind}s`].reduce((total, { amount = 0 }) => total + amount, 0)
        const least = sumOf(payment, kind, ['done'])
        return least <= moved && moved <= least + sumOf(payment, kind, ['pending'])
      })
      // Parts are voided by us alone; the acquirer hears of it when nothing is left.
      const voided = own.voids.length === 0 || sumOf(payment, 'void', ['done', 'pending']) === payment.amount
      const captured = sumOf(payment, 'capture', ['done'])
      const unvoided = own.voids.length > 0 || captured > 0 || sumOf(payment, 'void', ['done']) < payment.amount
      return fits && voided && unvoided ? [] : [`${JSON.stringify(payment)} there ${JSON.stringify(own)}`]
    }),

  'one key is in the books twice': ({ entries }) =>
    [...Map.groupBy(entries, ({ keyHash }) => keyHash)]
      .filter(([hash, list]) => hash !== null && list.length > 1)
      .map(([, list]) => JSON.stringify(list)),

  'something was acknowledged and is lost': (given) =>
    told(given, 'done')
      .filter(([, state]) => state !== 'done')
      .map(([exchange]) => tell(exchange)),

  'something was declined and is done': (given) =>
    told(given, 'declined')
      .filter(([, state]) => state === 'done' || state === 'pending')
      .map(([exchange]) => tell(exchange)),

  'the books are not clean': ({ complaint }) => (complaint === undefined ? [] : [complaint]),
} as const satisfies Record<string, (given: Case) => string[]>

export type LiveRule = keyof typeof rules

export function checkLive(evidence: LiveEvidence): Finding[] {
  const approved = evidence.authorizations.filter(({ status }) => status.code === 20000)
  const given = {
    ...evidence,
    authorizations: approved,
    entries: evidence.payments.flatMap(({ entries }) => entries),
    there: Map.groupBy(approved, ({ reference }) => reference),
  }
  return Object.entries(rules).flatMap(([rule, find]) => find(given).map((what) => ({ rule, what })))
}

function sumOf({ entries }: LivePayment, kind: string, states: readonly State[]): number {
  return entries
    .filter((each) => each.kind === kind && states.includes(each.state))
    .reduce((total, { amount }) => total + amount, 0)
}

/** What clients were told of a movement in these words, and how it stands. */
function told({ history, entries }: Case, wanted: string): [exchange: Exchange, state: State | undefined][] {
  return history
    .filter((exchange) => exchange.key !== undefined && outcomeOf(exchange) === wanted)
    .map((exchange) => [exchange, entries.find(({ keyHash }) => keyHash === hashOf(exchange.key ?? ''))?.state])
}

const tell = ({ path, key, body, sent, heard, answer }: Exchange) =>
  `${sent.toFixed(0)}–${heard.toFixed(0)} ms ${path} ${key ?? ''} ${JSON.stringify(body)}: ${answer ? `${answer.status} ${answer.text}` : 'no answer'}`
