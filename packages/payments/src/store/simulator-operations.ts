import type { Sql } from '@tollgate/kit/db'
import type { ProcessingCode } from '../rules/processing-errors.ts'

/** An authorization. */
type Named = { merchantId: string; reference: string }

/** An operation, by the authorization whose money it moves; an authorization moves its own. */
type Placed = Named & { authorizationReference: string }

export type Heard = Placed & {
  kind: 'authorize' | 'capture' | 'refund' | 'void'
  amount: number
  currency: string
  created: Date
}

/** Neither approved nor with a code: it was asked for, and nothing was done. */
export type Operation = Heard & { approved: boolean; code: ProcessingCode | null }

/** Writes down that something was asked for, and nothing done about it yet. False when it was asked for before. */
export async function insertHeard(tx: Sql, heard: Heard): Promise<boolean> {
  const { merchantId, reference, authorizationReference, kind, amount, currency, created } = heard
  const { count } = await tx`
    insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
    values (${merchantId}, ${reference}, ${authorizationReference}, ${kind}, ${amount}, ${currency}, false, ${created})
    on conflict (merchant_id, authorization_reference, reference) do nothing`
  return count === 1
}

export async function lockOperation(
  tx: Sql,
  { merchantId, authorizationReference, reference }: Placed,
): Promise<Operation | undefined> {
  const [operation] = await tx<Operation>`
    select merchant_id as "merchantId", reference, authorization_reference as "authorizationReference", kind, amount, currency,
      approved, code, created
    from pay.simulator_operations
    where merchant_id = ${merchantId} and authorization_reference = ${authorizationReference} and reference = ${reference}
    for update`
  return operation
}

/** Without a code it is approved. */
export async function setDecided(
  tx: Sql,
  { merchantId, authorizationReference, reference }: Placed,
  { code, decided }: { code: ProcessingCode | undefined; decided: Date },
): Promise<void> {
  await tx`
    update pay.simulator_operations set approved = ${code === undefined}, code = ${code ?? null}, created = ${decided}
    where merchant_id = ${merchantId} and authorization_reference = ${authorizationReference} and reference = ${reference}`
}

/** What was moved of an authorization. */
export async function sumMoved(
  sql: Sql,
  { merchantId, reference }: Named,
): Promise<{ captured: number; refunded: number; voided: number }> {
  const [moved] = await sql<{ captured: number; refunded: number; voided: number }>`
    select coalesce(sum(amount) filter (where kind = 'capture'), 0)::bigint as captured,
      coalesce(sum(amount) filter (where kind = 'refund'), 0)::bigint as refunded,
      coalesce(sum(amount) filter (where kind = 'void'), 0)::bigint as voided
    from pay.simulator_operations
    where merchant_id = ${merchantId} and authorization_reference = ${reference} and approved`
  return moved ?? { captured: 0, refunded: 0, voided: 0 }
}

/**
 * The first authorization of the series that an approved one belongs to. Whoever else wants to add to the series waits until the
 * transaction ends.
 */
export async function lockSeries(tx: Sql, { merchantId, reference }: Named): Promise<Named | undefined> {
  const [first] = await tx<Named>`
    select first.merchant_id as "merchantId", first.reference
    from pay.simulator_operations member
    join pay.simulator_operations first
      on first.merchant_id = member.merchant_id and first.authorization_reference = coalesce(member.series_reference, member.reference)
      and first.reference = first.authorization_reference
    where member.merchant_id = ${merchantId} and member.authorization_reference = ${reference} and member.reference = ${reference}
      and member.approved
    for update of first`
  return first
}

/** Makes an authorization one of a series, by the reference of the first. */
export async function setSeries(tx: Sql, { merchantId, reference }: Named, first: Named): Promise<void> {
  await tx`
    update pay.simulator_operations set series_reference = ${first.reference}
    where merchant_id = ${merchantId} and authorization_reference = ${reference} and reference = ${reference}`
}

/** What a series has taken from its card and not given back, by the reference of its first authorization. */
export async function sumDrawn(sql: Sql, { merchantId, reference }: Named): Promise<bigint> {
  const [sum] = await sql<{ drawn: string }>`
    with series as (
      select reference, amount from pay.simulator_operations
      where merchant_id = ${merchantId} and reference = authorization_reference and approved
        and (authorization_reference = ${reference} or series_reference = ${reference})
    ), given_back as (
      select amount from pay.simulator_operations
      where merchant_id = ${merchantId} and authorization_reference in (select reference from series)
        and kind in ('refund', 'void') and approved
    )
    select (select coalesce(sum(amount), 0) from series) - (select coalesce(sum(amount), 0) from given_back) as drawn`
  return BigInt(sum?.drawn ?? 0)
}
