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

export type TakenFlow = { userId: string | null; provider: string; method: string }

/** Takes a flow away whose code and proof are right and in time. */
export async function takeFlow(
  tx: Tx,
  { codeHash, challenge, issuedAfter }: { codeHash: string; challenge: string; issuedAfter: Date },
): Promise<TakenFlow | undefined> {
  const [flow] = await tx<TakenFlow>`
    delete from auth.flow_state
    where auth_code = ${codeHash} and code_challenge = ${challenge} and auth_code_issued_at >= ${issuedAfter}
    returning user_id as "userId", provider_type as provider, authentication_method as method`
  return flow
}

export async function findFlow(sql: Sql, codeHash: string): Promise<{ userId: string | null; issuedAt: Date } | undefined> {
  const [flow] = await sql<{ userId: string | null; issuedAt: Date }>`
    select user_id as "userId", auth_code_issued_at as "issuedAt" from auth.flow_state where auth_code = ${codeHash}`
  return flow
}
