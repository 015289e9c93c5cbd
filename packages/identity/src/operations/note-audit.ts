import type { Sql } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { type AuditAction, auditActions } from '../rules/audit-actions.ts'
import { type AuditPayload, insertAudits } from '../store/audit.ts'

export type Actor = { id: string; username: string; name?: string; viaSso?: boolean }

export type AuditNote = { action: AuditAction; actor: Actor; traits?: Readonly<Record<string, unknown>> }

/** Writes down who did what: in the story's own transaction, or in the log where the operator wants no table of it. */
export async function noteAudit(app: App, sql: Sql, note: AuditNote, address: string | null): Promise<void> {
  const payloads = auditPayloads(app, [note])
  if (payloads.length > 0) await insertAudits(sql, payloads, { now: app.now(), address })
}

/** The same as what a statement that does more than this writes. Empty where the log has it all. */
export function auditPayloads({ config, log }: App, notes: readonly AuditNote[]): AuditPayload[] {
  const payloads = notes.map(({ action, actor, traits }) => ({
    actor_id: actor.id,
    actor_via_sso: actor.viaSso ?? false,
    actor_username: actor.username,
    ...(actor.name ? { actor_name: actor.name } : {}),
    action,
    log_type: auditActions[action],
    ...(traits ? { traits } : {}),
  }))
  if (config.auditInDatabase) return payloads
  for (const payload of payloads) log.info({ auth_audit_event: payload }, 'audit')
  return []
}
