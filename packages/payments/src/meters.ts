import type { Clock } from '@tollgate/kit/clock'
import type { Metrics } from '@tollgate/kit/metrics'
import type { Acquirer, Outcome } from './acquirers/acquirer.ts'
import type { StopReason } from './store/plans.ts'

type Kind = 'capture' | 'refund' | 'void'
type PlanPayment = (typeof planPayments)[number]
type PlanEnd = 'finished' | StopReason
type VaultToken = (typeof vaultTokens)[number]

/**
 * What is counted besides requests. No amount, id or text of a caller's is ever a label: the labels that there are have a handful of
 * values each.
 */
export type Meters = {
  /** An acquirer said what became of a payment, or did not. What is found out later is counted then, too. */
  authorization(outcome: Outcome, test: boolean): void
  movement(kind: Kind, outcome: Outcome, test: boolean): void
  /** What was found without an answer at the last look, and since when the oldest of it waits. */
  pending(count: number, since: Date | undefined): void
  /** Somebody sent an Idempotency-Key again: with the same request, or with another one. */
  replay(outcome: 'replayed' | 'mismatch'): void
  dispute(outcome: 'opened' | 'won' | 'lost', test: boolean): void
  payouts(made: number, failed: number): void
  /** A mail server took an invitation, put it off or did not want it. */
  invitation(outcome: 'delivered' | 'postponed' | 'refused'): void
  /** What became of payments of plans; one without an answer counts when it is first found so, and again when it has one. */
  planPayments(outcome: PlanPayment, count?: number): void
  /** Nothing more is charged for a plan, for a reason that was found while charging, or because somebody asked for that. */
  planEnded(reason: PlanEnd): void
  /** A payment of a plan has been due since a moment and is not made, and somebody looks at it again at another one. */
  planOverdue(since: Date, lookedAtAgain: Date): void
  /** The vault made a token: of a card number (`pcn`), of a security code (`pcsc`) or of what a wallet handed out. */
  vaultToken(type: VaultToken): void
  /** Somebody was told to come back later. The limits are those of rate-settings.ts. */
  limited(limit: string): void
  /** The same acquirer, with a watch beside it. */
  timed(acquirer: Acquirer): Acquirer
}

const none: Meters = {
  authorization() {},
  movement() {},
  pending() {},
  replay() {},
  dispute() {},
  payouts() {},
  invitation() {},
  planPayments() {},
  planEnded() {},
  planOverdue() {},
  vaultToken() {},
  limited() {},
  timed: (acquirer) => acquirer,
}

const modes = ['live', 'test'] as const
const kinds: readonly Kind[] = ['capture', 'refund', 'void']
const planPayments = ['paid', 'declined', 'pending', 'missed'] as const
const planEnds: readonly PlanEnd[] = ['finished', 'asked', 'final_error', 'retries_exhausted', 'payment_failed']
const vaultTokens = ['pcn', 'pcsc', 'applepay', 'googlepay'] as const
const limits = ['declined', 'vault', 'newcomers'] as const
const dayLength = 86_400_000

/** How long after it should have been looked at a payment of a plan is still held to be open: the loop comes round twice meanwhile. */
const leeway = 60_000

/** Gateways are given up on after half a minute or so, far beyond the longest answer of ours. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60]

/** `day` tells of which day the exchange rates in use are. */
export function createMeters(metrics: Metrics | undefined, { now, day }: { now: Clock; day(): string | undefined }): Meters {
  if (!metrics) return none
  const authorizations = metrics.counter({
    name: 'tollgate_authorizations',
    help: 'What acquirers made of payments; the code is the processing error of a declined one',
    labels: ['outcome', 'code', 'mode'],
  })
  const movements = metrics.counter({
    name: 'tollgate_movements',
    help: 'What acquirers made of captures, refunds and voids',
    labels: ['kind', 'outcome', 'code', 'mode'],
  })
  const durations = metrics.histogram({
    name: 'tollgate_acquirer_duration',
    help: 'Time that acquirers took to answer, or to be given up on',
    unit: 's',
    labels: ['acquirer', 'operation', 'outcome'],
    bounds,
  })
  const replays = metrics.counter({
    name: 'tollgate_idempotency_replays',
    help: 'Requests whose Idempotency-Key had been used before, for the same or for another one',
    labels: ['outcome'],
  })
  const disputes = metrics.counter({
    name: 'tollgate_disputes',
    help: 'Disputes by what became of them',
    labels: ['outcome', 'mode'],
  })
  const payouts = metrics.counter({
    name: 'tollgate_payouts',
    help: 'Payouts that this process made, and attempts that failed',
    labels: ['outcome'],
  })
  const invitations = metrics.counter({
    name: 'tollgate_invitations',
    help: 'Invitations that a mail server was offered',
    labels: ['outcome'],
  })
  const plans = metrics.counter({
    name: 'tollgate_plan_payments',
    help: 'Payments of plans by what became of them when they were due',
    labels: ['outcome'],
  })
  const ends = metrics.counter({
    name: 'tollgate_plans_ended',
    help: 'Plans that came to their end, by why; those that somebody stopped are the ones asked for',
    labels: ['reason'],
  })
  const tokens = metrics.counter({ name: 'tollgate_vault_tokens', help: 'Tokens that the vault made', labels: ['type'] })
  const refusals = metrics.counter({
    name: 'tollgate_rate_limited',
    help: 'Requests that were refused because of a limit',
    labels: ['limit'],
  })
  let overdue: { since: Date; until: number }[] = []
  let pending: { count: number; since: Date | undefined } = { count: 0, since: undefined }
  const age = (since: Date | undefined) => (since ? Math.max(0, now().getTime() - since.getTime()) : 0)
  // Every worker sees the same tables, so that the worst of their figures is the figure.
  metrics.gauge(
    { name: 'tollgate_acquirer_pending', help: 'Operations without an answer, of which at most 400 are seen', over: 'max' },
    () => pending.count,
  )
  metrics.gauge(
    { name: 'tollgate_acquirer_pending_age', help: 'For how long the oldest of them waits', unit: 's', over: 'max' },
    () => age(pending.since) / 1000,
  )
  metrics.gauge(
    {
      name: 'tollgate_plan_overdue_age',
      help: 'For how long the oldest payment of a plan has been due of those that the last looks found not made',
      unit: 's',
      over: 'max',
    },
    () => Math.max(0, ...stillOverdue().map(({ since }) => age(since) / 1000)),
  )
  metrics.gauge(
    {
      name: 'tollgate_exchange_rates_age_days',
      help: 'Age of the exchange rates in use; not a number where there are none',
      over: 'max',
    },
    () => Math.floor(age(new Date(day() ?? Number.NaN)) / dayLength),
  )

  /** Whoever looked again and found the same has said so anew. */
  function stillOverdue() {
    return overdue.filter(({ until }) => until > now().getTime())
  }

  // What may happen any day is there from the start: a rate over a counter that is yet to appear misses its first step.
  for (const mode of modes) {
    for (const outcome of ['approved', 'unknown']) authorizations.add(0, outcome, 'none', mode)
    for (const kind of kinds) for (const outcome of ['approved', 'unknown']) movements.add(0, kind, outcome, 'none', mode)
    for (const outcome of ['opened', 'won', 'lost']) disputes.add(0, outcome, mode)
  }
  for (const outcome of ['replayed', 'mismatch']) replays.add(0, outcome)
  for (const outcome of ['made', 'failed']) payouts.add(0, outcome)
  for (const outcome of ['delivered', 'postponed', 'refused']) invitations.add(0, outcome)
  for (const outcome of planPayments) plans.add(0, outcome)
  for (const reason of planEnds) ends.add(0, reason)
  for (const type of vaultTokens) tokens.add(0, type)
  for (const limit of limits) refusals.add(0, limit)

  return {
    authorization: (outcome, test) => authorizations.add(1, outcome.kind, codeOf(outcome), modeOf(test)),
    movement: (kind, outcome, test) => movements.add(1, kind, outcome.kind, codeOf(outcome), modeOf(test)),
    pending(count, since) {
      pending = { count, since }
    },
    replay: (outcome) => replays.add(1, outcome),
    dispute: (outcome, test) => disputes.add(1, outcome, modeOf(test)),
    payouts(made, failed) {
      payouts.add(made, 'made')
      payouts.add(failed, 'failed')
    },
    invitation: (outcome) => invitations.add(1, outcome),
    planPayments: (outcome, count = 1) => plans.add(count, outcome),
    planEnded: (reason) => ends.add(1, reason),
    planOverdue(since, lookedAtAgain) {
      const until = lookedAtAgain.getTime() + leeway
      // Of those that are forgotten no later, none is worth keeping that is not older.
      overdue = [...stillOverdue().filter((each) => each.since < since || each.until > until), { since, until }]
    },
    vaultToken: (type) => tokens.add(1, type),
    limited: (limit) => refusals.add(1, limit),
    timed(acquirer) {
      async function time(operation: Kind | 'authorize', asking: Promise<Outcome>): Promise<Outcome> {
        const started = performance.now()
        const outcome = await asking
        durations.observe((performance.now() - started) / 1000, acquirer.name, operation, outcome.kind)
        return outcome
      }
      return {
        ...acquirer,
        authorize: (ask) => time('authorize', acquirer.authorize(ask)),
        move: (ask) => time(ask.kind, acquirer.move(ask)),
      }
    },
  }
}

function codeOf(outcome: Outcome): number | 'none' {
  return outcome.kind === 'declined' ? outcome.code : 'none'
}

function modeOf(test: boolean): (typeof modes)[number] {
  return test ? 'test' : 'live'
}
