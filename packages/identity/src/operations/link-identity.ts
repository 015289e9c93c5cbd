import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { chosenEmail, identityData } from '../rules/identity-data.ts'
import { findIdentityOwner } from '../store/external.ts'
import { insertIdentity } from '../store/identities.ts'
import { actorOf, contactIsTaken, findUser, lockUser, refreshProviders, setEmail, type User } from '../store/users.ts'
import { noteAudit } from './note-audit.ts'
import { notifyUser } from './notify-user.ts'
import { orTaken } from './settle-contact.ts'
import type { Arrival, Arrived } from './sign-in-external.ts'
import { isWelcome } from './sign-up.ts'

/** Adds an identity to the account of somebody who asked for that while they were signed in. */
export async function linkIdentity(app: App, arrival: Arrival, userId: string): Promise<Arrived> {
  const user = await app.db.begin((tx) => link(app, tx, arrival, userId))
  return { user, unproved: false }
}

async function link(app: App, tx: Tx, { provider, profile, address }: Arrival, userId: string): Promise<User> {
  const user = await lockUser(tx, userId)
  if (!user || user.deletedAt) throw fail('user_not_found', { status: 422, message: 'Linking target user not found' })
  if (!isWelcome(app, user)) throw fail('user_banned')
  const now = app.now()
  const identity = { provider, providerId: profile.subject, userId, identityData: identityData(profile), now }
  if (!(await insertIdentity(tx, identity))) {
    const mine = (await findIdentityOwner(tx, provider, profile.subject)) === userId
    throw fail('identity_already_exists', mine ? {} : { message: 'Identity is already linked to another user' })
  }
  const email = chosenEmail(profile)
  // Whoever has no address takes over the one that the provider vouches for, and is somebody from then on.
  if (user.email === '' && email?.verified) {
    if (await contactIsTaken(tx, { email: email.email }, userId)) throw fail('email_exists', { status: 400 })
    await orTaken('email_exists', setEmail(tx, userId, email.email, { confirmed: true, now }))
  }
  await refreshProviders(tx, userId)
  await noteAudit(app, tx, { action: 'identity_linked', actor: actorOf(user), traits: { provider } }, address)
  await notifyUser(app, tx, user, { kind: 'identity_linked_notification', facts: { provider } })
  return (await findUser(tx, userId)) as User
}
