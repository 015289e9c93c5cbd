import { createHash, randomUUID } from 'node:crypto'
import { codeOf } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import type { App } from '../app.ts'
import type { Admin } from '../callers.ts'
import { fail } from '../errors.ts'
import { hashRefusal } from '../passwords/hash-text.ts'
import { requestAudience } from '../rules/audience.ts'
import { parseBanDuration } from '../rules/ban-duration.ts'
import { isOverlong, overlongPassword } from '../rules/password.ts'
import { isUuid, nobody } from '../rules/uuid.ts'
import { Data } from '../shapes.ts'
import { changeAccount, deleteUser, findTaken, scrambleUser } from '../store/user-administration.ts'
import { findUser, type Identity, insertUser, lockUser, type Metadata, type NewUser, type User } from '../store/users.ts'
import { choosePassword } from './choose-password.ts'
import { type AuditNote, auditPayloads, noteAudit } from './note-audit.ts'
import { readEmail, readPhone } from './read-input.ts'
import { originOf } from './start-session.ts'

const longestName = 255

/** What an operator may say of an account. Empty texts say nothing, as today's clients expect. */
export const AccountFields = Type.Object({
  aud: Type.Optional(Type.String({ maxLength: longestName })),
  role: Type.Optional(Type.String({ maxLength: longestName })),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  password_hash: Type.Optional(Type.String({ description: 'bcrypt, argon2, Firebase scrypt or PBKDF2' })),
  email_confirm: Type.Optional(Type.Boolean({ description: 'Whether the address is proved; false changes nothing' })),
  phone_confirm: Type.Optional(Type.Boolean({ description: 'Whether the number is proved; false changes nothing' })),
  user_metadata: Type.Optional(Data),
  app_metadata: Type.Optional(Data),
  ban_duration: Type.Optional(Type.String({ description: 'Such as 24h or 1h30m, from now on; none ends a ban' })),
})

type Given = Type.Static<typeof AccountFields>

/** Whoever administers, by whichever request. */
type By = { who: Admin; request: Incoming }

/** The id in a path. What cannot be one is not found, and not a mistake in the request. */
export function readUserId(text: string): string {
  if (!isUuid(text)) throw fail('validation_failed', { status: 404, message: 'user_id must be an UUID' })
  return text.toLowerCase()
}

export function userNotFound() {
  return fail('user_not_found', { status: 404, message: 'User not found' })
}

/** Makes an account, also where nobody may sign up. Nothing is sent. */
export async function createUser(app: App, by: By, given: Given, id: string = randomUUID()): Promise<User> {
  const account = await newAccount(app, by, given, id)
  const { email, phone } = account
  const note = noteOf(by, 'user_signedup', { id, email: email ?? '', phone: phone ?? '' })
  // Three statements that leave together. An account that somebody has already takes the audit entry back with it.
  const user = await app.db
    .begin(async (tx) => {
      const [created, , user] = await Promise.all([
        insertUser(tx, account),
        noteAudit(app, tx, note, originOf(by.request).address),
        findUser(tx, id),
      ])
      if (!created) throw new AlreadyThere()
      return user as User
    })
    .catch((problem: unknown) => {
      if (problem instanceof AlreadyThere) return undefined
      throw problem
    })
  if (user) return user
  const taken = await findTaken(app.db, { id, email, phone })
  if (taken.email) throw fail('email_exists')
  if (taken.phone) throw phoneExists()
  throw fail('user_already_exists', taken.id ? { message: 'A user with this id already exists' } : {})
}

class AlreadyThere extends Error {}

function phoneExists() {
  return fail('phone_exists', { message: 'Phone number already registered by another user' })
}

async function newAccount(app: App, by: By, given: Given, id: string): Promise<NewUser> {
  if (!given.email && !given.phone)
    throw fail('validation_failed', { message: 'Cannot create a user without either an email or phone' })
  const { email, phone } = readContacts(given)
  const { userMetadata, appMetadata } = readMetadata(given)
  const now = app.now()
  const ban = readBan(given, now)
  const aud = given.aud || requestAudience(by.request.headers['x-jwt-aud'], by.who.claims, app.config.jwt)
  if (Array.from(aud).length > longestName)
    throw fail('validation_failed', { message: `aud: Must be at most ${longestName} characters long` })
  const emailVerified = email !== null && given.email_confirm === true
  const phoneVerified = phone !== null && given.phone_confirm === true
  const verified = { email_verified: emailVerified, phone_verified: phoneVerified }
  const identities = [
    ...(email === null ? [] : [{ provider: 'email' as const, data: { sub: id, email, ...verified } }]),
    ...(phone === null ? [] : [{ provider: 'phone' as const, data: { sub: id, phone, ...verified } }]),
  ]
  const providers = identities.map(({ provider }) => provider)
  return {
    id,
    aud,
    role: given.role || app.config.jwt.defaultGroup,
    email,
    phone,
    // Whoever has none given signs in by links and codes, and is not asked to choose one.
    passwordHash: (await readNewPassword(app, given)) ?? '',
    emailConfirmedAt: emailVerified ? now : null,
    phoneConfirmedAt: phoneVerified ? now : null,
    bannedUntil: ban === 'none' ? null : ban,
    appMetadata: withoutNulls({ provider: providers[0], providers, ...appMetadata }),
    userMetadata: withoutNulls({
      ...userMetadata,
      ...(emailVerified ? { email_verified: true } : {}),
      ...(phoneVerified ? { phone_verified: true } : {}),
    }),
    isAnonymous: false,
    createdAt: now,
    identities,
  }
}

/** An operator's own choice is not measured by the rules for passwords, so that old accounts can be brought along. */
function readNewPassword(app: App, { password, password_hash: hash }: Given): Promise<string> | string | undefined {
  refuseBoth(password, hash)
  if (hash) return hash
  if (!password) return undefined
  if (isOverlong(password)) throw fail('validation_failed', { message: overlongPassword })
  return app.passwords.hash(password)
}

/** Changes what is given of an account, and at once: nothing has to be confirmed, and nothing is sent. */
export async function changeUser(app: App, by: By, id: string, given: Given): Promise<User> {
  const { email, phone } = readContacts(given)
  const { userMetadata, appMetadata } = readMetadata(given)
  const now = app.now()
  const ban = readBan(given, now)
  refuseBoth(given.password, given.password_hash)
  // An account that is not there is not worth the hash of a password.
  if (given.password !== undefined && !(await findUser(app.db, id))) throw userNotFound()
  const passwordHash = given.password === undefined ? given.password_hash || null : await choosePassword(app, given.password)

  const change = app.db.begin(async (tx) => {
    const user = await lockUser(tx, id)
    if (!user) throw userNotFound()
    const providers = { ...providersWith(user, { email, phone }), ...appMetadata }
    refuseOversized({ ...user.appMetadata, ...providers }, appMetadata)
    const called = { id, email: email ?? user.email, phone: phone ?? user.phone }
    await changeAccount(tx, id, {
      role: given.role || null,
      email,
      phone,
      // Where there is nothing to prove, nothing is proved.
      confirmEmail: given.email_confirm === true && called.email !== '',
      confirmPhone: given.phone_confirm === true && called.phone !== '',
      passwordHash,
      ban,
      userMetadata,
      appMetadata: providers,
      audits: auditPayloads(app, [noteOf(by, 'user_modified', called)]),
      address: originOf(by.request).address,
      now,
    })
    return (await findUser(tx, id)) as User
  })
  return change.catch((problem: unknown) => {
    throw takenBy(problem) ?? problem
  })
}

/** Which of the two somebody else has, if that is the problem. */
function takenBy(problem: unknown) {
  if (codeOf(problem) !== '23505') return undefined
  const { constraint } = problem as { constraint?: string }
  if (constraint === 'users_phone_key') return phoneExists()
  return constraint === 'users_email_partial_key' ? fail('email_exists') : undefined
}

/** What app_metadata says of the ways in, once there is one by an address or number that had none. */
function providersWith({ identities }: User, { email, phone }: { email: string | null; phone: string | null }): Metadata {
  const oldestFirst = identities.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  const there = [...new Set(oldestFirst.map(({ provider }) => provider))]
  const asked = [...(email === null ? [] : ['email']), ...(phone === null ? [] : ['phone'])]
  const added = asked.filter((provider) => !there.includes(provider))
  const providers = [...there, ...added]
  return added.length === 0 ? {} : { provider: providers[0], providers }
}

function orderOf({ createdAt, provider }: Identity): string {
  return `${createdAt} ${provider}`
}

/** Takes an account away, with all that hangs on it. */
export async function removeUser(app: App, by: By, id: string): Promise<void> {
  await app.db.begin(async (tx) => {
    const gone = await deleteUser(tx, id)
    if (!gone) throw userNotFound()
    await noteAudit(app, tx, noteOf(by, 'user_deleted', { id, ...gone }), originOf(by.request).address)
  })
}

/** Leaves the row of an account, and nobody who could be recognised in it or get in by it. */
export async function forgetUser(app: App, by: By, id: string): Promise<void> {
  await app.db.begin(async (tx) => {
    const user = await lockUser(tx, id)
    if (!user) throw userNotFound()
    // What is left of somebody who is forgotten would only be scrambled again.
    if (user.deletedAt) return
    await Promise.all([
      noteAudit(app, tx, noteOf(by, 'user_deleted', user), originOf(by.request).address),
      scrambleUser(tx, id, remainsOf(user, app.now())),
    ])
  })
}

const longestPhone = 15

/** Where there was nothing, nothing is left: a scrambled nothing would look like an address or number. */
function remainsOf(user: User, now: Date) {
  const scramble = (value: string) => (value === '' ? '' : createHash('sha256').update(`${user.id}${value}`).digest('base64url'))
  return {
    email: scramble(user.email),
    phone: scramble(user.phone).slice(0, longestPhone),
    newEmail: scramble(user.newEmail),
    newPhone: scramble(user.newPhone).slice(0, longestPhone),
    identities: user.identities.map(({ identityId, provider, id }) => ({
      id: identityId,
      providerId: scramble(`${provider}:${id}`),
    })),
    now,
  }
}

function noteOf({ who }: By, action: AuditNote['action'], { id, email, phone }: { id: string; email: string; phone: string }) {
  return { action, actor: who.actor, traits: { user_id: id, user_email: email, user_phone: phone } }
}

function readContacts({ email, phone }: Given): { email: string | null; phone: string | null } {
  return { email: email ? readEmail(email) : null, phone: phone ? readPhone(phone) : null }
}

function refuseBoth(password: string | undefined, hash: string | undefined) {
  if (password && hash) throw fail('validation_failed', { message: 'Only a password or a password hash should be provided' })
  const refusal = hash ? hashRefusal(hash) : undefined
  if (refusal) throw fail('validation_failed', { message: `password_hash: ${refusal}` })
}

function readBan({ ban_duration: text }: Given, now: Date): Date | 'none' | null {
  if (!text) return null
  const seconds = parseBanDuration(text)
  if (typeof seconds === 'object') throw fail('validation_failed', { message: seconds.message })
  return seconds === 'none' ? 'none' : new Date(now.getTime() + seconds * 1000)
}

function readMetadata({ user_metadata: userMetadata = {}, app_metadata: appMetadata = {} }: Given) {
  refuseOversized(appMetadata, appMetadata)
  return { userMetadata, appMetadata }
}

const mostAppMetadata = 8192

/** Every access token carries it, and travels in a header. */
function refuseOversized(whole: Metadata, given: Metadata) {
  if (Object.keys(given).length === 0 || Buffer.byteLength(JSON.stringify(withoutNulls(whole))) <= mostAppMetadata) return
  throw fail('validation_failed', { message: `app_metadata: Must be at most ${mostAppMetadata} bytes of JSON in all` })
}

function withoutNulls(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
}

/** The id that a body wishes for. */
export function readWishedId(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  if (!isUuid(text)) throw fail('validation_failed', { message: 'ID must conform to the uuid v4 format' })
  return refuseNil(text.toLowerCase())
}

export function refuseNil(id: string): string {
  if (id === nobody) throw fail('validation_failed', { message: 'ID cannot be a nil uuid' })
  return id
}
