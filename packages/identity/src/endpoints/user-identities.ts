import { codeOf, type Tx } from '@tollgate/kit/db'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { notifyUser } from '../operations/notify-user.ts'
import { originOf } from '../operations/start-session.ts'
import { requestAudience } from '../rules/audience.ts'
import { emailAfterUnlinking } from '../rules/unlinking.ts'
import { isUuid } from '../rules/uuid.ts'
import { Empty, UserShape, userReply } from '../shapes.ts'
import { clearPhone, deleteIdentity, listTakenEmails, promoteEmail } from '../store/identities.ts'
import { actorOf, type Identity, lockUser, refreshProviders, type User } from '../store/users.ts'

export const userIdentities = endpoint({
  method: 'GET',
  path: '/user/identities',
  summary: 'List the ways in to one’s account',
  tag: 'Account',
  caller: signedIn,
  reply: { 200: Type.Object({ identities: UserShape.properties.identities }) },
  fails: [],

  run: (_, { who }) => ({ identities: userReply(who.user).identities }),
})

export const unlinkIdentity = endpoint({
  method: 'DELETE',
  path: '/user/identities/{identity_id}',
  summary: 'Take a way in from one’s account',
  description:
    'The last one stays. The number of an account goes with its phone identity; an email address that no other identity has is replaced by that of another one.',
  tag: 'Account',
  caller: signedIn,
  params: Type.Object({ identity_id: Type.String() }),
  reply: { 200: Empty },
  fails: [
    'manual_linking_disabled',
    'validation_failed',
    'unexpected_audience',
    'single_identity_not_deletable',
    'identity_not_found',
    'email_conflict_identity_not_deletable',
    'over_email_send_rate_limit',
  ],

  async run(app, { who, params: { identity_id: identityId }, request }) {
    const { security, jwt } = app.config
    if (!security.manualLinking) throw fail('manual_linking_disabled')
    if (!isUuid(identityId)) throw fail('validation_failed', { status: 404, message: 'identity_id must be an UUID' })
    if (who.claims.aud !== requestAudience(request.headers['x-jwt-aud'], who.claims, jwt)) throw fail('unexpected_audience')
    await app.db.begin(async (tx) => {
      // Of two people who take the last two identities at once, the second one waits here, and finds one left.
      const user = await lockUser(tx, who.user.id)
      if (!user || user.deletedAt) throw fail('user_not_found')
      if (user.identities.length <= 1) throw fail('single_identity_not_deletable')
      const identity = user.identities.find((each) => each.identityId === identityId.toLowerCase())
      if (!identity) throw fail('identity_not_found')
      await deleteIdentity(tx, identity.identityId)
      if (identity.provider === 'phone') await clearPhone(tx, user.id, app.now())
      else await settleEmail(app, tx, user, identity)
      await refreshProviders(tx, user.id)
      const { provider } = identity
      const traits = { identity_id: identity.identityId, provider, provider_id: identity.id }
      await noteAudit(app, tx, { action: 'identity_unlinked', actor: actorOf(user), traits }, originOf(request).address)
      await notifyUser(app, tx, user, { kind: 'identity_unlinked_notification', facts: { provider } })
    })
    app.nudge()
    return {}
  },
})

async function settleEmail(app: App, tx: Tx, user: User, gone: Identity): Promise<void> {
  const remaining = user.identities
    .filter((identity) => identity !== gone)
    .map(({ email, identityData }) => ({ email, verified: identityData.email_verified === true }))
  const taken = await listTakenEmails(
    tx,
    remaining.flatMap(({ email }) => email ?? []),
    user.id,
  )
  const promotion = emailAfterUnlinking(user.email, remaining, (email) => taken.includes(email))
  if (promotion.outcome === 'conflict') throw fail('email_conflict_identity_not_deletable')
  if (promotion.outcome === 'kept') return
  const { email, verified } = promotion
  const confirmed = email !== null && (verified || app.config.smtp.mailer.autoconfirm)
  await promoteEmail(tx, user.id, { email, verified, confirmed, now: app.now() }).catch((problem: unknown) => {
    // Somebody else has just taken the address.
    throw codeOf(problem) === '23505' ? fail('email_conflict_identity_not_deletable') : problem
  })
}
