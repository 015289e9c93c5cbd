import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { identityData } from '../rules/identity-data.ts'
import { deleteCodes, takeLink } from '../store/codes.ts'
import { insertIdentity } from '../store/identities.ts'
import { actorOf, confirmEmail, findUser, lockUser, mergeMetadata, refreshProviders, type User } from '../store/users.ts'
import { noteAudit } from './note-audit.ts'
import type { Arrival, Arrived } from './sign-in-external.ts'
import { isWelcome } from './sign-up.ts'

/** Lets somebody in who was invited and comes by way of a provider, which has to know them by the address that was invited. */
export async function acceptInvite(app: App, { provider, profile, address }: Arrival, linkHash: string): Promise<Arrived> {
  const now = app.now()
  const issuedAfter = new Date(now.getTime() - app.config.smtp.mailer.otpLifetime * 1000)
  const user = await app.db.begin(async (tx) => {
    const taken = await takeLink(tx, { linkHash, types: ['confirmation_token'], issuedAfter })
    const invited = taken && (await lockUser(tx, taken.userId))
    if (!invited || invited.email !== taken.relatesTo) throw fail('invite_not_found')
    if (!isWelcome(app, invited)) throw fail('user_banned')
    if (!profile.emails.some(({ email, verified }) => verified && email === invited.email))
      throw fail('validation_failed', { message: 'Invited email does not match emails from external provider' })
    const data = identityData(profile)
    if (!(await insertIdentity(tx, { provider, providerId: profile.subject, userId: invited.id, identityData: data, now })))
      throw fail('identity_already_exists', { message: 'Identity is already linked to another user' })
    await mergeMetadata(tx, invited.id, { user: data, now })
    await refreshProviders(tx, invited.id)
    await confirmEmail(tx, invited.id, now)
    await deleteCodes(tx, invited.id)
    await noteAudit(app, tx, { action: 'invite_accepted', actor: actorOf(invited), traits: { provider } }, address)
    return (await findUser(tx, invited.id)) as User
  })
  return { user, unproved: false }
}
