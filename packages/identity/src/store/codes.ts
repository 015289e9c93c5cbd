import type { Sql, Tx } from '@tollgate/kit/db'
import type { TokenType } from '../rules/purposes.ts'

export type NewCode = {
  /** Null where there is no account, so that nothing is kept after the same work. */
  userId: string | null
  tokenType: TokenType
  relatesTo: string
  linkHash: string
  codeHash: string
  flowId: string | null
  now: Date
}

/** A code takes the place of the one before it; the account remembers when it was sent. */
export async function putCode(tx: Tx, code: NewCode): Promise<void> {
  const { userId, tokenType, relatesTo, linkHash, codeHash, flowId, now } = code
  await tx`
    with account as (
      update auth.users set
        confirmation_sent_at = case ${tokenType}::text when 'confirmation_token' then ${now} else confirmation_sent_at end,
        recovery_sent_at = case ${tokenType}::text when 'recovery_token' then ${now} else recovery_sent_at end,
        email_change_sent_at = case when ${tokenType}::text in ('email_change_token_new', 'email_change_token_current') then ${now}
          else email_change_sent_at end,
        phone_change_sent_at = case ${tokenType}::text when 'phone_change_token' then ${now} else phone_change_sent_at end,
        reauthentication_sent_at = case ${tokenType}::text when 'reauthentication_token' then ${now} else reauthentication_sent_at end
      where id = ${userId} returning id
    )
    insert into auth.one_time_tokens (user_id, token_type, relates_to, token_hash, code_hash, flow_state_id, created_at, updated_at)
    select id, ${tokenType}::auth.one_time_token_type, ${relatesTo}, ${linkHash}, ${codeHash}, ${flowId}::uuid,
      ${now}::timestamptz at time zone 'UTC', ${now}::timestamptz at time zone 'UTC'
    from account
    on conflict (user_id, token_type, relates_to) do update set token_hash = excluded.token_hash, code_hash = excluded.code_hash,
      flow_state_id = excluded.flow_state_id, attempts = 0, created_at = excluded.created_at, updated_at = excluded.updated_at`
}

/** Counts a guess against every code that it could be meant for. Tells whose codes they are, and the one that it opens. */
export async function attemptCode(
  sql: Sql,
  guess: {
    relatesTo: string
    types: readonly TokenType[]
    codeHash: string
    userId: string | null
    issuedAfter: Date | null
    most: number
  },
): Promise<{ codeId: string | undefined; userId: string | null }> {
  const { relatesTo, types, codeHash, userId, issuedAfter, most } = guess
  const tried = await sql<{ id: string; user: string; matches: boolean }>`
    update auth.one_time_tokens set attempts = attempts + 1
    where relates_to = ${relatesTo} and token_type::text = any(${types}) and attempts < ${most} and code_hash is not null
      and (${userId}::uuid is null or user_id = ${userId})
      and (${issuedAfter}::timestamptz is null or created_at >= ${issuedAfter}::timestamptz at time zone 'UTC')
    returning id, user_id as user, code_hash = ${codeHash} as matches`
  const opened = tried.find(({ matches }) => matches)
  return { codeId: opened?.id, userId: (opened ?? tried[0])?.user ?? null }
}

export type TakenCode = { userId: string; tokenType: TokenType; relatesTo: string; flowId: string | null }

/** Takes a code away, so that of any number of people with the same one exactly one gets in. */
export async function takeCode(tx: Tx, id: string): Promise<TakenCode | undefined> {
  const [taken] = await tx<TakenCode>`
    delete from auth.one_time_tokens where id = ${id}
    returning user_id as "userId", token_type as "tokenType", relates_to as "relatesTo", flow_state_id as "flowId"`
  return taken
}

/** The same for what a link carries. */
export async function takeLink(
  tx: Tx,
  { linkHash, types, issuedAfter }: { linkHash: string; types: readonly TokenType[]; issuedAfter: Date },
): Promise<TakenCode | undefined> {
  const [taken] = await tx<TakenCode>`
    delete from auth.one_time_tokens
    where token_hash = ${linkHash} and token_type::text = any(${types}) and created_at >= ${issuedAfter}::timestamptz at time zone 'UTC'
    returning user_id as "userId", token_type as "tokenType", relates_to as "relatesTo", flow_state_id as "flowId"`
  return taken
}

/** Whoever got in by one of them needs none of the others. */
export async function deleteCodes(tx: Tx, userId: string): Promise<void> {
  await tx`delete from auth.one_time_tokens where user_id = ${userId}`
}

/** Codes for a change that is no longer wanted. */
export async function deleteCodesOf(tx: Tx, userId: string, types: readonly TokenType[]): Promise<void> {
  await tx`delete from auth.one_time_tokens where user_id = ${userId} and token_type::text = any(${types})`
}

/** Whether a link is there, without taking it. */
export async function linkIsGood(sql: Sql, linkHash: string, types: readonly TokenType[]): Promise<boolean> {
  const found = await sql`select from auth.one_time_tokens where token_hash = ${linkHash} and token_type::text = any(${types})`
  return found.length > 0
}
