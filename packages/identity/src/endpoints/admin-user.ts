import Type from 'typebox'
import { endpoint } from '../app.ts'
import { admin } from '../callers.ts'
import { fail } from '../errors.ts'
import {
  AccountFields,
  changeUser,
  createUser,
  forgetUser,
  readUserId,
  readWishedId,
  refuseNil,
  removeUser,
  userNotFound,
} from '../operations/administer-user.ts'
import { Empty, UserShape, userReply } from '../shapes.ts'
import { findUser } from '../store/users.ts'

const path = '/admin/users/{user_id}'
const tag = 'Administration'
const params = Type.Object({ user_id: Type.String({ description: 'A UUID' }) })

export const adminUser = endpoint({
  method: 'GET',
  path,
  summary: 'Show an account',
  tag,
  caller: admin,
  params,
  reply: { 200: UserShape },
  fails: ['validation_failed', 'user_not_found'],

  async run(app, { params }) {
    const user = await findUser(app.db, readUserId(params.user_id))
    if (!user) throw userNotFound()
    return userReply(user)
  },
})

export const adminCreateUserWithId = endpoint({
  method: 'POST',
  path,
  summary: 'Create an account with the given id',
  description: 'As POST /admin/users does, which chooses an id itself.',
  tag,
  caller: admin,
  params,
  body: Type.Object({ ...AccountFields.properties, id: Type.Optional(Type.String()) }),
  reply: { 200: UserShape },
  fails: ['email_exists', 'phone_exists', 'user_already_exists'],

  async run(app, { who, request, params, body }) {
    const id = refuseNil(readUserId(params.user_id))
    if ((readWishedId(body.id) ?? id) !== id)
      throw fail('validation_failed', { message: 'id: Must be the one in the path, or left out' })
    return userReply(await createUser(app, { who, request }, body, id))
  },
})

export const adminChangeUser = endpoint({
  method: 'PUT',
  path,
  summary: 'Change an account',
  description:
    'What is left out stays. Metadata is merged key by key, and a null takes a key away. A new password ends all sessions. A new address or number counts at once, and nothing is sent.',
  tag,
  caller: admin,
  params,
  body: AccountFields,
  reply: { 200: UserShape },
  fails: ['user_not_found', 'email_exists', 'phone_exists', 'weak_password'],

  async run(app, { who, request, params, body }) {
    return userReply(await changeUser(app, { who, request }, readUserId(params.user_id), body))
  },
})

export const adminDeleteUser = endpoint({
  method: 'DELETE',
  path,
  summary: 'Delete an account',
  description:
    'With should_soft_delete its row stays, without a password, metadata, sessions or anything by which somebody could be recognised.',
  tag,
  caller: admin,
  params,
  body: Type.Object({ should_soft_delete: Type.Optional(Type.Boolean()) }),
  reply: { 200: Empty },
  fails: ['user_not_found'],

  async run(app, { who, request, params, body }) {
    const end = body.should_soft_delete === true ? forgetUser : removeUser
    await end(app, { who, request }, readUserId(params.user_id))
    return {}
  },
})
