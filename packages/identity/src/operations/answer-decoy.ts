import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { decoyId } from '../rules/decoy.ts'
import { userReply } from '../shapes.ts'
import { putDecoy } from '../store/decoys.ts'
import type { Contact, Metadata, User } from '../store/users.ts'
import { ownClaims } from './sign-up.ts'

type Sought = { user: User | undefined; contact: Contact; data: Metadata; aud: string }

/**
 * What somebody is told who signs up for an account that exists: field for field what a newcomer is told, and the same again when they ask
 * again, so that nobody can probe for accounts.
 */
export async function answerDecoy(app: App, tx: Tx, { user, contact, data, aud }: Sought) {
  const { config, secrets } = app
  const now = app.now()
  const address = contact.email ?? contact.phone
  const id = decoyId(secrets.decoys, address)
  const identityData = { ...data, ...ownClaims(id, contact, false) }
  const told = user
    ? await putDecoy(tx, { userId: user.id, address, userMetadata: identityData, now })
    : { createdAt: now, userMetadata: identityData }
  const provider = contact.email === undefined ? 'phone' : 'email'
  const moment = told.createdAt.toISOString()
  const identity = {
    identityId: decoyId(secrets.decoys, address, 'identity'),
    id,
    userId: id,
    identityData: told.userMetadata,
    provider,
    lastSignInAt: moment,
    createdAt: moment,
    updatedAt: moment,
    email: contact.email ?? null,
  }
  return userReply({
    id,
    aud,
    role: config.jwt.defaultGroup,
    email: contact.email ?? '',
    phone: contact.phone ?? '',
    emailConfirmedAt: null,
    phoneConfirmedAt: null,
    confirmedAt: null,
    invitedAt: null,
    confirmationSentAt: now,
    recoverySentAt: null,
    newEmail: '',
    emailChangeSentAt: null,
    newPhone: '',
    phoneChangeSentAt: null,
    reauthenticationSentAt: null,
    lastSignInAt: null,
    appMetadata: { provider, providers: [provider] },
    userMetadata: told.userMetadata,
    createdAt: told.createdAt,
    updatedAt: told.createdAt,
    bannedUntil: null,
    deletedAt: null,
    isAnonymous: false,
    isSsoUser: false,
    // The reference's clients tell by the empty list; whoever wants that has to say so.
    identities: config.security.signupDecoy === 'reference' ? [] : [identity],
  })
}
