import type { Tx } from '@tollgate/kit/db'
import { Answer } from '@tollgate/kit/endpoint'
import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { admin } from '../callers.ts'
import { fail } from '../errors.ts'
import { pageHeaders, readPage, readSearch } from '../operations/read-page.ts'
import { Data } from '../shapes.ts'
import { type AuditFilter, countAudits, listActions, listAudits } from '../store/audit.ts'
import { limitSearchTime } from '../store/user-search.ts'

const path = '/admin/audit'
const mostCounted = 1_000_000

export const adminAudit = endpoint({
  method: 'GET',
  path,
  summary: 'Show the audit log, newest first',
  description: 'How many entries there are is told in the headers X-Total-Count and Link, exactly up to a million.',
  tag: 'Administration',
  caller: admin,
  query: Type.Object({
    page: Type.Optional(Type.String({ description: 'From 1' })),
    per_page: Type.Optional(Type.String({ description: '50, and 1000 at most' })),
    query: Type.Optional(Type.String({ description: 'author:, action: or type:, and a text that occurs in it' })),
  }),
  reply: {
    200: Type.Array(
      Type.Object({ id: Type.String({ format: 'uuid' }), payload: Data, created_at: Moment, ip_address: Type.String() }),
    ),
  },
  fails: ['validation_failed'],

  async run(app, { query }) {
    const { page, perPage, offset } = readPage(query)
    const scoped = readScope(query.query ?? '')
    // On a connection of its own, and not for ever: a long log must not hold up the short statements of everybody else.
    const { total, entries } = await app.db.begin(async (tx) => {
      await limitSearchTime(tx)
      const filter = scoped && (await filterOf(tx, scoped))
      const total = await countAudits(tx, filter, mostCounted)
      const entries = offset < total || total === mostCounted ? await listAudits(tx, filter, { offset, limit: perPage }) : []
      return { total, entries }
    })
    const body = entries.map(({ id, payload, createdAt, address }) => ({
      id,
      payload,
      created_at: createdAt,
      ip_address: address,
    }))
    return new Answer(200, body, pageHeaders(path, { query: query.query }, { page, perPage, total }))
  },
})

type Scoped = { scope: 'author' | 'action' | 'type'; text: string; pattern: string }

function readScope(query: string): Scoped | undefined {
  if (query === '') return undefined
  const [, scope, text = ''] = /^(author|action|type):(.*)$/s.exec(query) ?? []
  if (scope === undefined)
    throw fail('validation_failed', { message: `Invalid query scope: ${query.split(':')[0]?.slice(0, 40) ?? ''}` })
  return text === '' ? undefined : { scope: scope as Scoped['scope'], text, pattern: readSearch('query', text) }
}

async function filterOf(tx: Tx, { scope, text, pattern }: Scoped): Promise<AuditFilter> {
  if (scope === 'author') return { fields: ['actor_username', 'actor_name'], pattern }
  if (scope === 'type') return { fields: ['log_type', 'log_type'], pattern }
  const actions = await listActions(tx)
  return { actions: actions.filter((action) => action.toLowerCase().includes(text.toLowerCase())) }
}
