import { endpoint } from '../app.ts'
import { signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { requestAudience } from '../rules/audience.ts'
import { UserShape, userReply } from '../shapes.ts'

export const user = endpoint({
  method: 'GET',
  path: '/user',
  summary: 'Tell who is signed in',
  tag: 'Account',
  caller: signedIn,
  reply: { 200: UserShape },
  fails: ['validation_failed'],

  run({ config }, { who, request }) {
    const asked = requestAudience(request.headers['x-jwt-aud'], who.claims, config.jwt)
    if (who.claims.aud !== asked) throw fail('validation_failed', { message: "Token audience doesn't match request audience" })
    return userReply(who.user)
  },
})
