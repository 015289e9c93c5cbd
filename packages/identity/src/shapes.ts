import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import type { Identity, User } from './store/users.ts'

const Data = Type.Record(Type.String(), Type.Unknown())

const IdentityShape = Type.Object({
  identity_id: Type.String({ format: 'uuid' }),
  id: Type.String({ description: 'How the provider knows the person' }),
  user_id: Type.String({ format: 'uuid' }),
  identity_data: Data,
  provider: Type.String(),
  last_sign_in_at: Type.Optional(Type.String({ format: 'date-time' })),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
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

function identityReply(identity: Identity) {
  return {
    identity_id: identity.identityId,
    id: identity.id,
    user_id: identity.userId,
    identity_data: identity.identityData,
    provider: identity.provider,
    last_sign_in_at: identity.lastSignInAt,
    created_at: identity.createdAt,
    updated_at: identity.updatedAt,
    email: identity.email,
  }
}
