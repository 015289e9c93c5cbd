import { type Incoming, Nothing } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { type Admin, admin } from '../callers.ts'
import { fail } from '../errors.ts'
import { readUserId, userNotFound } from '../operations/administer-user.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { originOf } from '../operations/start-session.ts'
import { isUuid } from '../rules/uuid.ts'
import { ListedSessionShape, listedSessionReply } from '../shapes.ts'
import { endSessions, listSessions, mostListedSessions } from '../store/sessions.ts'
import { findUser } from '../store/users.ts'

const path = '/admin/users/{user_id}/sessions'
const tag = 'Administration'
const params = Type.Object({ user_id: Type.String({ description: 'A UUID' }) })

export const adminSessions = endpoint({
  method: 'GET',
  path,
  summary: 'List where somebody is signed in',
  description: `The session that was used last comes first. Those past their time are left out; of very many, the ${mostListedSessions} that were used last are shown.`,
  tag,
  caller: admin,
  params,
  reply: { 200: Type.Object({ sessions: Type.Array(ListedSessionShape) }) },
  fails: ['validation_failed', 'user_not_found'],

  async run(app, { params }) {
    const id = readUserId(params.user_id)
    const sessions = await listSessions(app.db, id, app.config.sessions, app.now())
    if (sessions.length === 0 && !(await findUser(app.db, id))) throw userNotFound()
    return { sessions: sessions.map(listedSessionReply) }
  },
})

export const adminEndSessions = endpoint({
  method: 'DELETE',
  path,
  summary: 'Sign somebody out everywhere',
  description: 'Refresh tokens end at once; access tokens that were issued stay valid until they expire.',
  tag,
  caller: admin,
  params,
  reply: { 204: Nothing },
  fails: ['validation_failed', 'user_not_found'],

  run: (app, { who, request, params }) => end(app, { who, request }, readUserId(params.user_id)),
})

export const adminEndSession = endpoint({
  method: 'DELETE',
  path: `${path}/{session_id}`,
  summary: 'End a session of somebody',
  description: 'Its refresh token ends at once; an access token that was issued stays valid until it expires.',
  tag,
  caller: admin,
  params: Type.Object({ ...params.properties, session_id: Type.String({ description: 'A UUID' }) }),
  reply: { 204: Nothing },
  fails: ['validation_failed', 'user_not_found', 'session_not_found'],

  run(app, { who, request, params: { user_id: userId, session_id: sessionId } }) {
    const id = readUserId(userId)
    if (!isUuid(sessionId)) throw fail('validation_failed', { status: 404, message: 'session_id must be an UUID' })
    return end(app, { who, request }, id, sessionId.toLowerCase())
  },
})

async function end(app: App, by: { who: Admin; request: Incoming }, userId: string, sessionId?: string): Promise<void> {
  await app.db.begin(async (tx) => {
    const found = await endSessions(tx, userId, sessionId)
    if (!found) throw userNotFound()
    if (sessionId !== undefined && found.ended === 0)
      throw fail('session_not_found', { status: 404, message: 'This user has no session with this id' })
    const traits = {
      user_id: userId,
      user_email: found.email,
      user_phone: found.phone,
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
    }
    await noteAudit(app, tx, { action: 'logout', actor: by.who.actor, traits }, originOf(by.request).address)
  })
}
