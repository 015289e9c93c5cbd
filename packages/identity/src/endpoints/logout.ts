import { Nothing } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { originOf } from '../operations/start-session.ts'
import { deleteSessions } from '../store/sessions.ts'
import { actorOf } from '../store/users.ts'

export const logout = endpoint({
  method: 'POST',
  path: '/logout',
  summary: 'End sessions',
  description: 'Refresh tokens of the sessions end at once; access tokens that were issued stay valid until they expire.',
  tag: 'Account',
  caller: signedIn,
  query: Type.Object({
    scope: Type.Optional(Type.String({ description: 'global (all sessions, the default), local (this one) or others' })),
  }),
  reply: { 204: Nothing },
  fails: ['validation_failed'],

  async run(app, { who: { user, sessionId }, query: { scope = 'global' }, request }) {
    const which = sessionsOf(scope || 'global', sessionId)
    await app.db.begin((tx) =>
      Promise.all([
        noteAudit(app, tx, { action: 'logout', actor: actorOf(user) }, originOf(request).address),
        deleteSessions(tx, user.id, which),
      ]),
    )
  },
})

/** A token without a session can only mean all of them. */
function sessionsOf(scope: string, sessionId: string | undefined): { only?: string; except?: string } {
  if (scope === 'global') return {}
  if (scope === 'local') return sessionId === undefined ? {} : { only: sessionId }
  if (scope === 'others') return sessionId === undefined ? {} : { except: sessionId }
  throw fail('validation_failed', { message: `Unsupported logout scope ${JSON.stringify(scope.slice(0, 40))}` })
}
