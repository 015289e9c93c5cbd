import type { Clock } from '@tollgate/kit/clock'
import type { Metrics } from '@tollgate/kit/metrics'
import type { Acquirer, Outcome } from './acquirers/acquirer.ts'

type Kind = 'capture' | 'refund' | 'void'

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
  timed: (acquirer) => acquirer,
}

const modes = ['live', 'test'] as const
const kinds: readonly Kind[] = ['capture', 'refund', 'void']
const dayLength = 86_400_000

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
      name: 'tollgate_exchange_rates_age_days',
      help: 'Age of the exchange rates in use; not a number where there are none',
      over: 'max',
    },
    () => Math.floor(age(new Date(day() ?? Number.NaN)) / dayLength),
  )

  // What may happen any day is there from the start: a rate over a counter that is yet to appear misses its first step.
  for (const mode of modes) {
    for (const outcome of ['approved', 'unknown']) authorizations.add(0, outcome, 'none', mode)
    for (const kind of kinds) for (const outcome of ['approved', 'unknown']) movements.add(0, kind, outcome, 'none', mode)
    for (const outcome of ['opened', 'won', 'lost']) disputes.add(0, outcome, mode)
  }
  for (const outcome of ['replayed', 'mismatch']) replays.add(0, outcome)
  for (const outcome of ['made', 'failed']) payouts.add(0, outcome)
  for (const outcome of ['delivered', 'postponed', 'refused']) invitations.add(0, outcome)

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
