import { randomUUID } from 'node:crypto'
import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { isBanned } from '../rules/ban.ts'
import { type Contact, findUserByContact, insertUser, type Metadata, type User } from '../store/users.ts'

export type NewAccount = {
  contact: Contact
  aud: string
  /** Null: none yet. Empty: none wanted. */
  passwordHash: string | null
  data: Metadata
  confirmed: boolean
  invited?: boolean
}

/**
 * The account of an address or number: a new one, or whose it is already. Undefined when it is somebody's whom this request cannot see,
 * because they are of another audience.
 */
export async function findOrCreateUser(
  app: App,
  tx: Tx,
  account: NewAccount,
): Promise<{ user: User | undefined; created: boolean }> {
  // One after the other in one round trip.
  const [created, user] = await Promise.all([
    insertUser(tx, newUser(app, account)),
    findUserByContact(tx, account.contact, account.aud),
  ])
  return { user, created: created && user !== undefined }
}

function newUser({ config, now }: App, { contact, aud, passwordHash, data, confirmed, invited }: NewAccount) {
  const id = randomUUID()
  const moment = now()
  const { email = null, phone = null } = contact
  const provider = email === null ? ('phone' as const) : ('email' as const)
  // Whoever gives data cannot give these: they say what has been proved.
  const identityData = { ...data, ...ownClaims(id, contact, confirmed) }
  return {
    id,
    aud,
    role: config.jwt.defaultGroup,
    email,
    phone,
    passwordHash,
    emailConfirmedAt: confirmed && email !== null ? moment : null,
    phoneConfirmedAt: confirmed && phone !== null ? moment : null,
    invitedAt: invited ? moment : null,
    appMetadata: { provider, providers: [provider] },
    userMetadata: identityData,
    isAnonymous: false,
    createdAt: moment,
    identities: [{ provider, data: identityData }],
  }
}

/** What metadata says of an account that begins with an address or number. */
export function ownClaims(id: string, { email, phone }: Contact, confirmed: boolean): Metadata {
  return email === undefined
    ? { sub: id, phone, email_verified: false, phone_verified: confirmed }
    : { sub: id, email, email_verified: confirmed, phone_verified: false }
}

/** Whether somebody is let in: not banned, not deleted. */
export function isWelcome({ now }: App, user: User): boolean {
  return user.deletedAt === null && !isBanned(user, now())
}
