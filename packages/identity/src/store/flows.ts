import type { Sql, Tx } from '@tollgate/kit/db'

export type NewFlow = {
  id: string
  userId: string | null
  challenge: string
  /** `email`, or the name of a provider. */
  provider: string
  /** How the session will be entered. */
  method: string
  now: Date
}

/** A flow that a client began and can end with the proof of it. */
export async function insertFlow(tx: Tx, flow: NewFlow): Promise<void> {
  await tx`
    insert into auth.flow_state (id, user_id, code_challenge, code_challenge_method, provider_type, authentication_method, created_at, updated_at)
    values (${flow.id}, ${flow.userId}, ${flow.challenge}, 's256', ${flow.provider}, ${flow.method}, ${flow.now}, ${flow.now})`
}

/** The account has been proved; whoever began the flow may fetch the session with this code. */
export async function setFlowCode(tx: Tx, id: string, { codeHash, now }: { codeHash: string; now: Date }): Promise<boolean> {
  const { count } = await tx`
    update auth.flow_state set auth_code = ${codeHash}, auth_code_issued_at = ${now}, updated_at = ${now} where id = ${id}`
  return count === 1
}

export type TakenFlow = { id: string; userId: string | null; provider: string; method: string; sealed: Buffer | null }

/** Takes a flow away whose code and proof are right and in time. */
export async function takeFlow(
  tx: Tx,
  { codeHash, challenge, issuedAfter }: { codeHash: string; challenge: string; issuedAfter: Date },
): Promise<TakenFlow | undefined> {
  const [flow] = await tx<TakenFlow>`
    delete from auth.flow_state
    where auth_code = ${codeHash} and code_challenge = ${challenge} and auth_code_issued_at >= ${issuedAfter}
    returning id, user_id as "userId", provider_type as provider, authentication_method as method, sealed`
  return flow
}

export async function findFlow(sql: Sql, codeHash: string): Promise<{ userId: string | null; issuedAt: Date } | undefined> {
  const [flow] = await sql<{ userId: string | null; issuedAt: Date }>`
    select user_id as "userId", auth_code_issued_at as "issuedAt" from auth.flow_state where auth_code = ${codeHash}`
  return flow
}

export type NewExternalFlow = {
  id: string
  provider: string
  /** What the client that asks will prove later; null where it takes the session from the fragment. */
  challenge: string | null
  destination: string
  /** What has to be remembered until the person comes back. */
  sealed: Buffer
  inviteToken: string | null
  /** To whose account the identity is to be added. */
  linkTo: string | null
  now: Date
}

/** A flow that leads somebody to a provider. */
export async function insertExternalFlow(sql: Sql, flow: NewExternalFlow): Promise<void> {
  await sql`
    insert into auth.flow_state (id, code_challenge, code_challenge_method, provider_type, authentication_method, referrer, sealed,
      invite_token, linking_target_id, created_at, updated_at)
    values (${flow.id}, ${flow.challenge}, case when ${flow.challenge}::text is null then null else 's256'::auth.code_challenge_method end,
      ${flow.provider}, 'oauth', ${flow.destination}, ${flow.sealed}, ${flow.inviteToken}, ${flow.linkTo}, ${flow.now}, ${flow.now})`
}

export type ExternalFlow = {
  id: string
  provider: string
  challenge: string | null
  destination: string
  sealed: Buffer
  inviteToken: string | null
  linkTo: string | null
}

/** Takes a flow for whoever comes back first with its state, in time. */
export async function claimFlow(
  sql: Sql,
  id: string,
  { begunAfter, now }: { begunAfter: Date; now: Date },
): Promise<ExternalFlow | undefined> {
  const [flow] = await sql<ExternalFlow>`
    update auth.flow_state set claimed_at = ${now}, updated_at = ${now}
    where id = ${id} and claimed_at is null and created_at >= ${begunAfter} and sealed is not null
    returning id, provider_type as provider, code_challenge as challenge, referrer as destination, sealed, invite_token as "inviteToken",
      linking_target_id as "linkTo"`
  return flow
}

export async function findFlowState(sql: Sql, id: string): Promise<{ claimed: boolean; proved: boolean } | undefined> {
  const [flow] = await sql<{ claimed: boolean; proved: boolean }>`
    select claimed_at is not null as claimed, code_challenge is not null as proved from auth.flow_state where id = ${id}`
  return flow
}

/** Whoever began the flow may fetch the session of this account with a code, and the provider's tokens with it. */
export async function setExternalFlowCode(
  tx: Tx,
  id: string,
  { userId, codeHash, sealed, now }: { userId: string; codeHash: string; sealed: Buffer | null; now: Date },
): Promise<void> {
  await tx`
    update auth.flow_state set user_id = ${userId}, auth_code = ${codeHash}, auth_code_issued_at = ${now}, sealed = ${sealed}, updated_at = ${now}
    where id = ${id}`
}

export async function deleteFlow(sql: Sql, id: string): Promise<void> {
  await sql`delete from auth.flow_state where id = ${id}`
}
