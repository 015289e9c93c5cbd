import { Json, type Sql } from '@tollgate/kit/db'

export type Metadata = Record<string, unknown>

/** An account with its identities, as stories see it. What is not here does not leave the table, but for the password's hash. */
export type User = {
  id: string
  aud: string
  role: string
  email: string
  phone: string
  emailConfirmedAt: Date | null
  phoneConfirmedAt: Date | null
  confirmedAt: Date | null
  invitedAt: Date | null
  confirmationSentAt: Date | null
  recoverySentAt: Date | null
  newEmail: string
  emailChangeSentAt: Date | null
  newPhone: string
  phoneChangeSentAt: Date | null
  reauthenticationSentAt: Date | null
  lastSignInAt: Date | null
  appMetadata: Metadata
  userMetadata: Metadata
  createdAt: Date
  updatedAt: Date
  bannedUntil: Date | null
  deletedAt: Date | null
  isAnonymous: boolean
  identities: Identity[]
}

export type Identity = {
  identityId: string
  id: string
  userId: string
  identityData: Metadata
  provider: string
  lastSignInAt: string | null
  createdAt: string
  updatedAt: string
  email: string | null
}

export type NewUser = {
  id: string
  aud: string
  role: string
  email: string | null
  phone: string | null
  passwordHash: string | null
  emailConfirmedAt: Date | null
  phoneConfirmedAt: Date | null
  appMetadata: Metadata
  userMetadata: Metadata
  isAnonymous: boolean
  createdAt: Date
}

/** False when somebody has that address or number already. */
export async function insertUser(sql: Sql, user: NewUser): Promise<boolean> {
  const { count } = await sql`
    insert into auth.users (id, aud, role, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at,
      raw_app_meta_data, raw_user_meta_data, is_anonymous, created_at, updated_at)
    values (${user.id}, ${user.aud}, ${user.role}, ${user.email}, ${user.phone}, ${user.passwordHash},
      ${user.emailConfirmedAt}, ${user.phoneConfirmedAt}, ${new Json(user.appMetadata)}, ${new Json(user.userMetadata)},
      ${user.isAnonymous}, ${user.createdAt}, ${user.createdAt})
    on conflict do nothing`
  return count === 1
}

/** An account, and whether a session of it is still there. */
export async function findUser(
  sql: Sql,
  id: string,
  sessionId: string | null,
): Promise<(User & { sessionExists: boolean }) | undefined> {
  // A dump of an older installation may hold nulls where there is always a text today.
  const [user] = await sql<User & { sessionExists: boolean }>`
    select u.id, coalesce(u.aud, '') as aud, coalesce(u.role, '') as role, coalesce(u.email, '') as email, coalesce(u.phone, '') as phone,
      u.email_confirmed_at as "emailConfirmedAt", u.phone_confirmed_at as "phoneConfirmedAt", u.confirmed_at as "confirmedAt",
      u.invited_at as "invitedAt", u.confirmation_sent_at as "confirmationSentAt", u.recovery_sent_at as "recoverySentAt",
      coalesce(u.email_change, '') as "newEmail", u.email_change_sent_at as "emailChangeSentAt",
      coalesce(u.phone_change, '') as "newPhone", u.phone_change_sent_at as "phoneChangeSentAt",
      u.reauthentication_sent_at as "reauthenticationSentAt", u.last_sign_in_at as "lastSignInAt",
      coalesce(u.raw_app_meta_data, '{}') as "appMetadata", coalesce(u.raw_user_meta_data, '{}') as "userMetadata",
      u.created_at as "createdAt", u.updated_at as "updatedAt", u.banned_until as "bannedUntil", u.deleted_at as "deletedAt",
      u.is_anonymous as "isAnonymous",
      exists (select from auth.sessions s where s.id = ${sessionId} and s.user_id = u.id) as "sessionExists",
      coalesce((
        select json_agg(json_build_object(
          'identityId', i.id, 'id', i.provider_id, 'userId', i.user_id, 'identityData', i.identity_data, 'provider', i.provider,
          'lastSignInAt', i.last_sign_in_at, 'createdAt', i.created_at, 'updatedAt', i.updated_at, 'email', i.email
        ) order by i.created_at, i.id)
        from auth.identities i where i.user_id = u.id
      ), '[]') as identities
    from auth.users u where u.id = ${id}`
  return user
}
