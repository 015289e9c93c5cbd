import { createHash } from 'node:crypto'
import { deleteBuckets, putIntoBucket, takeFromBucket } from '@tollgate/kit/buckets'
import { networkOf } from '@tollgate/kit/client-address'
import type { Incoming } from '@tollgate/kit/endpoint'
import { Failure } from '@tollgate/kit/failure'
import type { Rate } from '@tollgate/kit/rate'
import type { Secret } from '@tollgate/kit/secret'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'

type Parts = Pick<App, 'config' | 'db' | 'now' | 'meters'>

/** Refuses a caller who asks too often. */
export async function limitCaller(app: Parts, request: Incoming, what: string, rate: Rate): Promise<void> {
  const key = bucketOf(app, request, what)
  if (key) judge(app, { what, rate }, await takeFromBucket(app.db, key, rate, app.now()))
}

type Attempt = { request: Incoming; payee: { test: boolean }; card: { number: Secret } }

/**
 * Tries a payment, unless too many of this caller's, or of this card's, were declined: trying out numbers, or the codes of one number from
 * many places, is what thieves do with a shop's public key. Whoever succeeds is not counted, so that a till, or an office, can pay all day.
 * What came of an earlier try belongs outside: to be told of it again is not to try again.
 */
export async function limitDeclines<T>(
  app: Parts & Pick<App, 'vault'>,
  { request, payee, card }: Attempt,
  tryIt: () => Promise<T>,
): Promise<T> {
  const { declined: callers, declinedCard: cards } = app.config.rateLimit
  const limits = [
    { what: 'declined', rate: callers, key: bucketOf(app, request, 'declined') },
    // Everybody tries with the same test cards, all day.
    { what: 'declined_card', rate: cards, key: payee.test ? undefined : cardBucketOf(app, card) },
  ].flatMap(({ key, ...limit }) => (key ? [{ ...limit, key }] : []))
  // Counted beforehand and forgiven afterwards: whoever tries many cards at once would otherwise be done before the first is counted.
  for (const limit of limits) judge(app, limit, await takeFromBucket(app.db, limit.key, limit.rate, app.now()))
  let declined = false
  try {
    return await tryIt()
  } catch (problem) {
    declined = isDecline(problem)
    throw problem
  } finally {
    // Whoever has paid is told so, also where this fails: one try less is all that it costs.
    if (!declined) for (const { key, rate } of limits) await putIntoBucket(app.db, key, rate).catch(() => {})
  }
}

/** Whether a payment was tried and came to nothing, and not only asked for wrongly: then a failed transaction is kept of it. */
function isDecline(problem: unknown): boolean {
  return problem instanceof Failure && problem.code === 'processing_failed' && problem.more.response !== undefined
}

/** Forgets callers whose buckets have filled up again, so that they are as good as new. */
export async function forgetCallers({ config, db, now }: Pick<App, 'config' | 'db' | 'now'>, atOnce = 10_000): Promise<void> {
  const { header: _, ...rates } = config.rateLimit
  const longest = Math.max(
    ...Object.values(rates).map(({ most, amount, seconds }) => seconds * Math.ceil(most / Math.max(1, amount))),
  )
  const before = new Date(now().getTime() - longest * 1000)
  while ((await deleteBuckets(db, before, atOnce)) === atOnce);
}

/** Undefined for callers whom nothing tells apart. */
function bucketOf({ config }: Parts, { headers }: Incoming, what: string): Buffer | undefined {
  const value = config.rateLimit.header === undefined ? undefined : headers[config.rateLimit.header.toLowerCase()]
  const first = (Array.isArray(value) ? value.join() : value)?.split(',')[0]?.trim()
  return first
    ? createHash('sha256')
        .update(`${what}\0${networkOf(first)}`)
        .digest()
    : undefined
}

/** Under a key, for all card numbers that there are can be tried in an hour by whoever reads the table without it. */
function cardBucketOf({ vault }: Pick<App, 'vault'>, { number }: Attempt['card']): Buffer | undefined {
  return vault.mark(`declined card ${number.reveal()}`)
}

function judge(
  { now, meters }: Parts,
  { what, rate }: { what: string; rate: Rate },
  { taken, refilledAt }: { taken: boolean; refilledAt: Date },
): void {
  if (taken && rate.most > 0) return
  meters.limited(what)
  const left = Math.max(1, Math.ceil(rate.seconds - (now().getTime() - refilledAt.getTime()) / 1000))
  throw fail('over_rate_limit', { headers: { 'retry-after': String(left) } })
}
