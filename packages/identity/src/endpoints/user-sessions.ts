import { Nothing } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { originOf } from '../operations/start-session.ts'
import { isUuid } from '../rules/uuid.ts'
import { ListedSessionShape, listedSessionReply } from '../shapes.ts'
import { deleteSessions, listSessions, mostListedSessions } from '../store/sessions.ts'
import { actorOf } from '../store/users.ts'

const OwnSession = Type.Object({
  ...ListedSessionShape.properties,
  current: Type.Boolean({ description: 'Whether it is the one that is asking' }),
})

export const userSessions = endpoint({
  method: 'GET',
  path: '/user/sessions',
  summary: 'List where one is signed in',
  description: `The session that was used last comes first. Those past their time are left out; of very many, the ${mostListedSessions} that were used last are shown.`,
  tag: 'Account',
  caller: signedIn,
  reply: { 200: Type.Object({ sessions: Type.Array(OwnSession) }) },
  fails: [],

  async run(app, { who }) {
    const sessions = await listSessions(app.db, who.user.id, app.config.sessions, app.now())
    const current = who.sessionId?.toLowerCase()
    return { sessions: sessions.map((session) => ({ ...listedSessionReply(session), current: session.id === current })) }
  },
})

export const endSession = endpoint({
  method: 'DELETE',
  path: '/user/sessions/{session_id}',
  summary: 'End one of one’s sessions',
  description: 'Its refresh token ends at once; an access token that was issued stays valid until it expires.',
  tag: 'Account',
  caller: signedIn,
  params: Type.Object({ session_id: Type.String({ description: 'A UUID' }) }),
  reply: { 204: Nothing },
  fails: ['validation_failed', 'session_not_found'],

  async run(app, { who: { user }, params: { session_id: sessionId }, request }) {
    if (!isUuid(sessionId)) throw fail('validation_failed', { status: 404, message: 'session_id must be an UUID' })
    await app.db.begin(async (tx) => {
      // Somebody else's is answered like one that is not there, so that nobody can probe for sessions.
      if ((await deleteSessions(tx, user.id, { only: sessionId })) === 0)
        throw fail('session_not_found', { status: 404, message: 'No session of yours has this id' })
      const traits = { session_id: sessionId.toLowerCase() }
      await noteAudit(app, tx, { action: 'logout', actor: actorOf(user), traits }, originOf(request).address)
    })
  },
})
