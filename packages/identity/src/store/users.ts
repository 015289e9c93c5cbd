import { Json, type Sql, type Tx } from '@tollgate/kit/db'

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
  isSsoUser: boolean
  identities: Identity[]
}

export type Identity = {
  identityId: string
  id: string
  userId: string
  identityData: Metadata
  provider: string
  lastSignInAt: string | null
  createdAt: string | null
  updatedAt: string | null
  email: string | null
}

export type NewUser = {
  id: string
  aud: string
  role: string
  email: string | null
  phone: string | null
  /** Null: none yet. Empty: somebody who signs in by links and codes, and chose to have none. */
  passwordHash: string | null
  emailConfirmedAt: Date | null
  phoneConfirmedAt: Date | null
  invitedAt?: Date | null
  bannedUntil?: Date | null
  appMetadata: Metadata
  userMetadata: Metadata
  isAnonymous: boolean
  createdAt: Date
  /** An identity each, whose provider-side id is the account's. */
  identities: readonly { provider: 'email' | 'phone'; data: Metadata }[]
}

/** An account with its identities, in one statement. False when somebody has that id, address or number already. */
export async function insertUser(sql: Sql, user: NewUser): Promise<boolean> {
  const { count } = await sql`
    with account as (
      insert into auth.users (id, aud, role, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at,
        banned_until, raw_app_meta_data, raw_user_meta_data, is_anonymous, created_at, updated_at)
      values (${user.id}, ${user.aud}, ${user.role}, ${user.email}, ${user.phone}, ${user.passwordHash}, ${user.emailConfirmedAt},
        ${user.phoneConfirmedAt}, ${user.invitedAt ?? null}, ${user.bannedUntil ?? null}, ${new Json(user.appMetadata)},
        ${new Json(user.userMetadata)}, ${user.isAnonymous}, ${user.createdAt}, ${user.createdAt})
      on conflict do nothing
      returning id
    ), identity as (
      insert into auth.identities (provider_id, user_id, provider, identity_data, last_sign_in_at, created_at, updated_at)
      select account.id::text, account.id, given.provider, given.data, ${user.createdAt}, ${user.createdAt}, ${user.createdAt}
      from account, jsonb_to_recordset(${new Json(user.identities)}) as given (provider text, data jsonb)
    )
    select id from account`
  return count === 1
}

export async function findUser(sql: Sql, id: string): Promise<User | undefined> {
  const [user] = await sql<User>`select * from auth.accounts where id = ${id}`
  return user
}

/** Whose account a token names, and which session. */
export type Bearer = { id: string; sessionId: string | null }

/** An account, and whether the session of it is still there. */
export type Borne = User & { sessionExists: boolean }

export async function findBearers(sql: Sql, bearers: readonly Bearer[]): Promise<(Borne | undefined)[]> {
  const rows = await sql<Borne & { place: number }>`
    select place, a.*, exists (select from auth.sessions s where s.id = bearer.session_id and s.user_id = a.id) as "sessionExists"
    from (
      select * from unnest(${bearers.map(({ id }) => id)}::uuid[], ${bearers.map(({ sessionId }) => sessionId)}::uuid[])
        with ordinality as bearer (id, session_id, place)
      -- So that the planner does not look at each list anew: see exchangeTokens.
      limit ${bearers.length}
    ) bearer
    join auth.accounts a on a.id = bearer.id`
  const found: (Borne | undefined)[] = bearers.map(() => undefined)
  for (const { place, ...user } of rows) found[place - 1] = user
  return found
}

/** An account that nobody else changes until this transaction ends. */
export async function lockUser(tx: Tx, id: string): Promise<User | undefined> {
  const [locked] = await tx`select from auth.users where id = ${id} for update`
  if (!locked) return undefined
  // Read after the lock was had: whoever held it before may have changed anything.
  const [user] = await tx<User>`select * from auth.accounts where id = ${id}`
  return user
}

export type Contact = { email: string; phone?: undefined } | { phone: string; email?: undefined }

/** Whose address or number it is, for the audience that the request speaks for. People of single sign-on are not found by it. */
export async function findUserByContact(sql: Sql, { email, phone }: Contact, aud: string): Promise<User | undefined> {
  // Two statements rather than one with an "or", so that each keeps to its index. The lock keeps the account from being deleted before
  // what hangs on it is written.
  const [user] =
    email === undefined
      ? await sql<User>`select * from auth.accounts where id = (
          select u.id from auth.users u where u.phone = ${phone} and u.aud = ${aud} and not u.is_sso_user for key share)`
      : await sql<User>`select * from auth.accounts where id = (
          select u.id from auth.users u where u.email = ${email} and u.aud = ${aud} and not u.is_sso_user for key share)`
  return user
}

/** The same with the hash of the password: null for none, empty for somebody who chose to have none. */
export async function findUserForSignIn(
  sql: Sql,
  { email, phone }: Contact,
  aud: string,
): Promise<(User & { passwordHash: string | null }) | undefined> {
  const [user] =
    email === undefined
      ? await sql<User & { passwordHash: string | null }>`
          select a.*, u.encrypted_password as "passwordHash" from auth.users u join auth.accounts a on a.id = u.id
          where u.phone = ${phone} and u.aud = ${aud} and not u.is_sso_user`
      : await sql<User & { passwordHash: string | null }>`
          select a.*, u.encrypted_password as "passwordHash" from auth.users u join auth.accounts a on a.id = u.id
          where u.email = ${email} and u.aud = ${aud} and not u.is_sso_user`
  return user
}

export async function findPasswordHash(sql: Sql, id: string): Promise<string | null> {
  const [found] = await sql<{ hash: string | null }>`select encrypted_password as hash from auth.users where id = ${id}`
  return found?.hash ?? null
}

/** Whether somebody else has it. */
export async function contactIsTaken(sql: Sql, { email, phone }: Contact, exceptId: string | null): Promise<boolean> {
  const taken =
    email === undefined
      ? await sql`select from auth.users where phone = ${phone} and id is distinct from ${exceptId}::uuid`
      : await sql`select from auth.users where email = ${email} and not is_sso_user and id is distinct from ${exceptId}::uuid`
  return taken.length > 0
}

/** The email address is proved to be theirs; also what other tables and the metadata say about it. */
export async function confirmEmail(tx: Tx, id: string, now: Date): Promise<void> {
  await tx`
    with account as (
      update auth.users set email_confirmed_at = coalesce(email_confirmed_at, ${now}), is_anonymous = false, updated_at = ${now},
        raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || '{"email_verified": true}'
      where id = ${id} returning id, email
    )
    update auth.identities i set identity_data = i.identity_data || '{"email_verified": true}', updated_at = ${now}
    from account where i.user_id = account.id and i.email = account.email`
}

/** The phone number is proved to be theirs. */
export async function confirmPhone(tx: Tx, id: string, now: Date): Promise<void> {
  await tx`
    with account as (
      update auth.users set phone_confirmed_at = coalesce(phone_confirmed_at, ${now}), is_anonymous = false, updated_at = ${now},
        raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || '{"phone_verified": true}'
      where id = ${id} returning id
    )
    update auth.identities i set identity_data = i.identity_data || '{"phone_verified": true}', updated_at = ${now}
    from account where i.user_id = account.id and i.provider = 'phone'`
}

/** The address that an account is to have, until it is proved. */
export async function setEmailChange(tx: Tx, id: string, email: string): Promise<void> {
  await tx`update auth.users set email_change = ${email}, email_change_confirm_status = 0 where id = ${id}`
}

/** The first of two confirmations; the second one changes the address. */
export async function setEmailChangeHalfConfirmed(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx`
    update auth.users set email_change_confirm_status = 1 where id = ${id} and coalesce(email_change_confirm_status, 0) = 0`
  return count === 1
}

export async function setPhoneChange(tx: Tx, id: string, phone: string): Promise<void> {
  await tx`update auth.users set phone_change = ${phone} where id = ${id}`
}

/** Throws a unique violation when somebody else has taken the address meanwhile. */
export async function setEmail(
  tx: Tx,
  id: string,
  email: string,
  { confirmed, now }: { confirmed: boolean; now: Date },
): Promise<void> {
  const told = new Json({ email, email_verified: confirmed })
  await tx`
    update auth.users set email = ${email}, email_change = '', email_change_confirm_status = 0, updated_at = ${now},
      email_confirmed_at = case when ${confirmed} then ${now}::timestamptz else email_confirmed_at end,
      is_anonymous = is_anonymous and not ${confirmed},
      raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || ${told}
    where id = ${id}`
}

/** Throws a unique violation when somebody else has taken the number meanwhile. */
export async function setPhone(
  tx: Tx,
  id: string,
  phone: string,
  { confirmed, now }: { confirmed: boolean; now: Date },
): Promise<void> {
  const told = new Json({ phone, phone_verified: confirmed })
  await tx`
    update auth.users set phone = ${phone}, phone_change = '', updated_at = ${now},
      phone_confirmed_at = case when ${confirmed} then ${now}::timestamptz else phone_confirmed_at end,
      is_anonymous = is_anonymous and not ${confirmed},
      raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || ${told}
    where id = ${id}`
}

/** With a new password, whatever was under way under the old one is over. */
export async function setPassword(tx: Tx, id: string, hash: string, now: Date): Promise<void> {
  await tx`
    with code as (delete from auth.one_time_tokens where user_id = ${id}),
      flow as (delete from auth.flow_state where user_id = ${id})
    update auth.users set encrypted_password = ${hash}, email_change = '', email_change_confirm_status = 0, phone_change = '',
      confirmation_sent_at = null, recovery_sent_at = null, email_change_sent_at = null, phone_change_sent_at = null,
      reauthentication_sent_at = null, updated_at = ${now}
    where id = ${id}`
}

/** Merges the given keys into the metadata; a null takes a key away. */
export async function mergeMetadata(
  tx: Tx,
  id: string,
  { user = {}, app = {}, now }: { user?: Metadata | undefined; app?: Metadata | undefined; now: Date },
): Promise<void> {
  await tx`
    update auth.users set updated_at = ${now},
      raw_user_meta_data = (coalesce(raw_user_meta_data, '{}') || ${new Json(user)}) - ${nullKeys(user)}::text[],
      raw_app_meta_data = (coalesce(raw_app_meta_data, '{}') || ${new Json(app)}) - ${nullKeys(app)}::text[]
    where id = ${id}`
}

function nullKeys(metadata: Metadata): string[] {
  return Object.keys(metadata).filter((key) => metadata[key] === null)
}

/** Metadata as it would come back, without being kept: keys have another order there than whoever sent them gave them. */
export async function asKept(tx: Tx, metadata: Metadata): Promise<Metadata> {
  const [row] = await tx<{ metadata: Metadata }>`select ${new Json(metadata)}::jsonb as metadata`
  return row?.metadata ?? metadata
}

/** What app_metadata says about the ways in, read off the identities. */
export async function refreshProviders(tx: Tx, id: string): Promise<void> {
  await tx`
    update auth.users u set raw_app_meta_data = coalesce(u.raw_app_meta_data, '{}')
      || jsonb_build_object('provider', given.providers ->> 0, 'providers', given.providers)
    from (
      select jsonb_agg(first.provider order by first.created_at, first.provider) as providers
      from (select provider, min(created_at) as created_at from auth.identities where user_id = ${id} group by provider) first
    ) given
    where u.id = ${id} and given.providers is not null`
}

/** How an account is meant for whoever leads the audit log. */
export function actorOf(user: Pick<User, 'id' | 'email' | 'phone' | 'userMetadata'>) {
  const { full_name: name } = user.userMetadata
  return { id: user.id, username: user.phone || user.email, ...(typeof name === 'string' && name !== '' ? { name } : {}) }
}

export async function setInvited(tx: Tx, id: string, now: Date): Promise<void> {
  await tx`update auth.users set invited_at = ${now}, updated_at = ${now} where id = ${id}`
}

/** For somebody who had none. False when they have one by now. */
export async function setFirstPassword(tx: Tx, id: string, hash: string): Promise<boolean> {
  const { count } = await tx`update auth.users set encrypted_password = ${hash} where id = ${id} and encrypted_password is null`
  return count === 1
}
