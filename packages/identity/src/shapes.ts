import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import type { ListedSession } from './store/sessions.ts'
import type { Identity, User } from './store/users.ts'

/** Somebody who is in, as stories hand it over. */
type Entered = { user: User; accessToken: string; expiresAt: number; expiresIn: number; refreshToken: string }

export const Data = Type.Record(Type.String(), Type.Unknown())

const IdentityShape = Type.Object({
  identity_id: Type.String({ format: 'uuid' }),
  id: Type.String({ description: 'How the provider knows the person' }),
  user_id: Type.String({ format: 'uuid' }),
  identity_data: Data,
  provider: Type.String(),
  last_sign_in_at: Type.Optional(Moment),
  created_at: Type.Optional(Moment),
  updated_at: Type.Optional(Moment),
  email: Type.Optional(Type.String()),
})

/** An account as everybody who may see it sees it, in the order in which today's clients get it. */
export const UserShape = Type.Object({
  id: Type.String({ format: 'uuid' }),
  aud: Type.String(),
  role: Type.String(),
  email: Type.String({ description: 'Empty when there is none' }),
  email_confirmed_at: Type.Optional(Moment),
  invited_at: Type.Optional(Moment),
  phone: Type.String({ description: 'Digits without a plus; empty when there is none' }),
  phone_confirmed_at: Type.Optional(Moment),
  confirmation_sent_at: Type.Optional(Moment),
  confirmed_at: Type.Optional(Moment),
  recovery_sent_at: Type.Optional(Moment),
  new_email: Type.Optional(Type.String()),
  email_change_sent_at: Type.Optional(Moment),
  new_phone: Type.Optional(Type.String()),
  phone_change_sent_at: Type.Optional(Moment),
  reauthentication_sent_at: Type.Optional(Moment),
  last_sign_in_at: Type.Optional(Moment),
  app_metadata: Data,
  user_metadata: Data,
  identities: Type.Array(IdentityShape),
  created_at: Moment,
  updated_at: Moment,
  banned_until: Type.Optional(Moment),
  deleted_at: Type.Optional(Moment),
  is_anonymous: Type.Boolean(),
})

export function userReply(user: User) {
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email,
    email_confirmed_at: user.emailConfirmedAt,
    invited_at: user.invitedAt,
    phone: user.phone,
    phone_confirmed_at: user.phoneConfirmedAt,
    confirmation_sent_at: user.confirmationSentAt,
    confirmed_at: user.confirmedAt,
    recovery_sent_at: user.recoverySentAt,
    new_email: user.newEmail || null,
    email_change_sent_at: user.emailChangeSentAt,
    new_phone: user.newPhone || null,
    phone_change_sent_at: user.phoneChangeSentAt,
    reauthentication_sent_at: user.reauthenticationSentAt,
    last_sign_in_at: user.lastSignInAt,
    app_metadata: user.appMetadata,
    user_metadata: user.userMetadata,
    identities: user.identities.map(identityReply),
    created_at: user.createdAt,
    updated_at: user.updatedAt,
    banned_until: user.bannedUntil,
    deleted_at: user.deletedAt,
    is_anonymous: user.isAnonymous,
  }
}

/** PostgreSQL writes moments inside of JSON in a zone of its own choosing. */
function momentOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

function identityReply(identity: Identity) {
  return {
    identity_id: identity.identityId,
    id: identity.id,
    user_id: identity.userId,
    identity_data: identity.identityData,
    provider: identity.provider,
    last_sign_in_at: momentOf(identity.lastSignInAt),
    created_at: momentOf(identity.createdAt),
    updated_at: momentOf(identity.updatedAt),
    email: identity.email,
  }
}

const WeakPassword = Type.Object({ message: Type.String(), reasons: Type.Array(Type.String()) })

/** What somebody who signed in is told. */
export const SessionShape = Type.Object({
  access_token: Type.String({ description: 'A JWT that says who they are' }),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  expires_at: Type.Integer({ description: 'Seconds since 1970' }),
  refresh_token: Type.String({ description: 'Good for one exchange, by grant_type=refresh_token' }),
  user: UserShape,
  provider_token: Type.Optional(Type.String({ description: 'The provider’s own token, where more scopes were asked for' })),
  provider_refresh_token: Type.Optional(Type.String()),
  type: Type.Optional(Type.String({ description: 'What was verified: signup, recovery, invite …' })),
  weak_password: Type.Optional(
    Type.Union([Type.Null(), WeakPassword], { description: 'What is wrong with a password that was right, by today’s rules' }),
  ),
})

export function sessionReply({ user, accessToken, expiresAt, expiresIn, refreshToken }: Entered) {
  return {
    access_token: accessToken,
    token_type: 'bearer' as const,
    expires_in: expiresIn,
    expires_at: expiresAt,
    refresh_token: refreshToken,
    user: userReply(user),
  }
}

/** Beside a session, for proxies and logs that do not read bodies. */
export function sessionHeaders({ user, sessionId, refreshToken }: Entered & { sessionId: string }): Record<string, string> {
  return {
    'sb-auth-user-id': user.id,
    'sb-auth-session-id': sessionId,
    'sb-auth-refresh-token-prefix': refreshToken.slice(0, 5),
  }
}

/** A session as whoever may end it sees it: where it is used from, and nothing that opens it. */
export const ListedSessionShape = Type.Object({
  id: Type.String({ format: 'uuid' }),
  created_at: Moment,
  updated_at: Moment,
  refreshed_at: Type.Optional(Moment),
  not_after: Type.Optional(Moment),
  user_agent: Type.String({ description: 'Of the last sign-in or refresh; empty when it is not known' }),
  ip: Type.String({ description: 'Of the last sign-in or refresh; empty when it is not known' }),
  aal: Type.String({ description: 'How sure it is who they are: aal1, or aal2 with a second factor' }),
  amr: Type.Array(Type.String(), { description: 'How it was entered, newest first: password, otp …' }),
})

export function listedSessionReply(session: ListedSession) {
  return {
    id: session.id,
    created_at: session.createdAt,
    updated_at: session.updatedAt,
    refreshed_at: session.refreshedAt,
    not_after: session.notAfter,
    user_agent: session.userAgent,
    ip: session.address,
    aal: session.level,
    amr: session.methods,
  }
}

/** What bodies may carry besides what they are about. */
export const captchaFields = {
  captcha_token: Type.Optional(Type.String()),
  gotrue_meta_security: Type.Optional(Type.Object({ captcha_token: Type.Optional(Type.String()) })),
}

export const challengeFields = {
  code_challenge: Type.Optional(Type.String({ description: 'PKCE: what only the client that asks now can prove later' })),
  code_challenge_method: Type.Optional(Type.String({ description: 's256 or plain' })),
}

export const redirectQuery = Type.Object({
  redirect_to: Type.Optional(Type.String({ description: 'Where to go in the end, if it is allowed; SITE_URL otherwise' })),
})

export const Empty = Type.Object({})
