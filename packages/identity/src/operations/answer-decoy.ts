import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { decoyId } from '../rules/decoy.ts'
import { userReply } from '../shapes.ts'
import { asKept, type Contact, type Metadata, type User } from '../store/users.ts'
import { ownClaims } from './sign-up.ts'

type Sought = { newcomer: User | undefined; contact: Contact; data: Metadata; aud: string; joinedAt: Date }

/**
 * What somebody is told who signs up for an account that exists: field for field what they would be told if it did not, so that nobody can
 * probe for accounts, nor read in them. Only the id is that of the account, where it waits to be confirmed; it is the same again when they
 * ask again, and says nothing by itself.
 */
export async function answerDecoy(app: App, tx: Tx, { newcomer, contact, data, aud, joinedAt }: Sought) {
  const { config, secrets } = app
  const address = contact.email ?? contact.phone
  const provider = contact.email === undefined ? 'phone' : 'email'
  const id = newcomer?.id ?? decoyId(secrets.decoys, address)
  const own = newcomer?.identities.find((identity) => identity.provider === provider)
  const metadata = await asKept(tx, { ...data, ...ownClaims(id, contact, false) })
  const moment = joinedAt.toISOString()
  const identity = {
    identityId: own?.identityId ?? decoyId(secrets.decoys, address, 'identity'),
    id,
    userId: id,
    identityData: metadata,
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
    confirmationSentAt: app.now(),
    recoverySentAt: null,
    newEmail: '',
    emailChangeSentAt: null,
    newPhone: '',
    phoneChangeSentAt: null,
    reauthenticationSentAt: null,
    lastSignInAt: null,
    appMetadata: { provider, providers: [provider] },
    userMetadata: metadata,
    createdAt: joinedAt,
    updatedAt: joinedAt,
    bannedUntil: null,
    deletedAt: null,
    isAnonymous: false,
    isSsoUser: false,
    // The reference's clients tell by the empty list; whoever wants that has to say so.
    identities: config.security.signupDecoy === 'reference' && !newcomer ? [] : [identity],
  })
}
