import { randomUUID } from 'node:crypto'
import { Json, type Sql } from '@tollgate/kit/db'

export type AuditEntry = {
  action: string
  logType: 'account' | 'team' | 'token' | 'user' | 'factor'
  actor: { id: string; username: string; name?: string | undefined }
  traits?: Record<string, unknown>
  now: Date
}

/** Who did what and when; what was done with is in the traits, and no secret ever. */
export async function insertAudit(sql: Sql, { action, logType, actor, traits, now }: AuditEntry): Promise<void> {
  const payload = new Json({
    actor_id: actor.id,
    actor_via_sso: false,
    actor_username: actor.username,
    ...(actor.name ? { actor_name: actor.name } : {}),
    action,
    log_type: logType,
    ...(traits ? { traits } : {}),
  })
  await sql`insert into auth.audit_log_entries (id, payload, created_at) values (${randomUUID()}, ${payload}, ${now})`
}
