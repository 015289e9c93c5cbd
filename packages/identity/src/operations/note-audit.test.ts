import { randomUUID } from 'node:crypto'
import { keptLog } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { startIdentity } from '../testing.ts'
import { type AuditNote, auditPayloads, noteAudit } from './note-audit.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())
beforeEach(() => service.app.db`truncate auth.audit_log_entries`)

const actor = { id: randomUUID(), username: 'ann@site.test' }
const login: AuditNote = { action: 'login', actor, traits: { provider: 'email' } }
const rows = () => service.app.db`select payload, created_at, ip_address from auth.audit_log_entries`

test('who did what, when and from where is written down', async () => {
  await noteAudit(service.app, service.app.db, login, '192.0.2.7')
  const payload = {
    actor_id: actor.id,
    actor_via_sso: false,
    actor_username: 'ann@site.test',
    action: 'login',
    log_type: 'account',
    traits: { provider: 'email' },
  }
  expect(await rows()).toEqual([{ payload, created_at: service.now(), ip_address: '192.0.2.7' }])
})

test('what is not known is left out, and an address that is not known is empty', async () => {
  await noteAudit(service.app, service.app.db, { action: 'user_deleted', actor }, null)
  const payload = {
    actor_id: actor.id,
    actor_via_sso: false,
    actor_username: 'ann@site.test',
    action: 'user_deleted',
    log_type: 'team',
  }
  expect(await rows()).toEqual([{ payload, created_at: service.now(), ip_address: '' }])
})

test('a name, and that somebody came by single sign-on, are told', () => {
  const [payload] = auditPayloads(service.app, [{ action: 'logout', actor: { ...actor, name: 'Ann', viaSso: true } }])
  expect(payload).toMatchObject({ actor_name: 'Ann', actor_via_sso: true, log_type: 'account' })
  expect(auditPayloads(service.app, [{ action: 'logout', actor: { ...actor, name: '' } }])[0]).not.toHaveProperty('actor_name')
})

test('a story that is rolled back was never told of', async () => {
  const changed = service.app.db.begin(async (tx) => {
    await noteAudit(service.app, tx, login, null)
    throw new Error('changed my mind')
  })
  await expect(changed).rejects.toThrow('changed my mind')
  expect(await rows()).toEqual([])
})

test('where the operator wants no table, the log has it all and the table nothing', async () => {
  const { log, lines } = keptLog()
  const app: App = { ...service.app, log, config: { ...service.app.config, auditInDatabase: false } }
  await noteAudit(app, app.db, login, '192.0.2.7')
  expect(await rows()).toEqual([])
  expect(lines).toMatchObject([
    { level: 'info', message: 'audit', auth_audit_event: { action: 'login', log_type: 'account', actor_id: actor.id } },
  ])
  expect(auditPayloads(app, [login, login])).toEqual([])
  expect(lines).toHaveLength(3)
})

test('several are written together, each for itself', async () => {
  const notes: AuditNote[] = [{ action: 'user_signedup', actor }, login]
  expect(auditPayloads(service.app, notes).map(({ action, log_type }) => [action, log_type])).toEqual([
    ['user_signedup', 'team'],
    ['login', 'account'],
  ])
})
