import { Answer, anyone, Nothing } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { fail } from '../errors.ts'
import { findDestination } from '../operations/find-destination.ts'
import { leadToProvider } from '../operations/lead-to-provider.ts'
import { otherParameters, readChallenge } from '../operations/read-input.ts'
import { hashLinkToken } from '../rules/code.ts'
import { challengeFields } from '../shapes.ts'
import { linkIsGood } from '../store/codes.ts'

export const authorize = endpoint({
  method: 'GET',
  path: '/authorize',
  summary: 'Sign in with a provider',
  description: 'Leads to the provider, which leads to /callback. Parameters that are not named here are handed on to it.',
  tag: 'Sign in',
  caller: anyone,
  query: Type.Object({
    provider: Type.Optional(Type.String()),
    scopes: Type.Optional(Type.String({ description: 'More scopes than the usual ones, divided by commas' })),
    redirect_to: Type.Optional(Type.String()),
    invite_token: Type.Optional(Type.String({ description: 'What an invitation’s link carries' })),
    skip_http_redirect: Type.Optional(Type.String({ description: 'true to be told the address instead of being sent to it' })),
    ...challengeFields,
  }),
  reply: { 200: Type.Object({ url: Type.String() }), 302: Nothing },
  fails: ['user_not_found'],

  async run(app, { query, request }) {
    const challenge = readChallenge(app, query)
    const inviteToken = query.invite_token ? hashLinkToken(query.invite_token) : undefined
    if (inviteToken !== undefined && !(await linkIsGood(app.db, inviteToken, ['confirmation_token'])))
      throw fail('user_not_found', { status: 404, message: 'User identified by token not found' })
    const url = await leadToProvider(app, {
      providerName: query.provider ?? '',
      scopes: query.scopes,
      more: otherParameters(request),
      challenge,
      destination: findDestination(app, request, query.redirect_to),
      inviteToken,
    })
    return query.skip_http_redirect === 'true' ? { url } : new Answer(302, undefined, { location: url })
  },
})
