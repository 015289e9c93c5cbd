import { Answer, Nothing } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { findDestination } from '../operations/find-destination.ts'
import { leadToProvider } from '../operations/lead-to-provider.ts'
import { otherParameters, readChallenge } from '../operations/read-input.ts'
import { challengeFields } from '../shapes.ts'

export const linkByProvider = endpoint({
  method: 'GET',
  path: '/user/identities/authorize',
  summary: 'Add a way in to one’s account, by a provider',
  tag: 'Account',
  caller: signedIn,
  query: Type.Object({
    provider: Type.Optional(Type.String()),
    scopes: Type.Optional(Type.String({ description: 'More scopes than the usual ones, divided by commas' })),
    redirect_to: Type.Optional(Type.String()),
    skip_http_redirect: Type.Optional(Type.String({ description: 'true to be told the address instead of being sent to it' })),
    ...challengeFields,
  }),
  reply: { 200: Type.Object({ url: Type.String() }), 302: Nothing },
  fails: ['manual_linking_disabled'],

  async run(app, { who, query, request }) {
    if (!app.config.security.manualLinking) throw fail('manual_linking_disabled')
    const url = await leadToProvider(app, {
      providerName: query.provider ?? '',
      scopes: query.scopes,
      more: otherParameters(request),
      challenge: readChallenge(app, query),
      destination: findDestination(app, request, query.redirect_to),
      linkTo: who.user.id,
    })
    return query.skip_http_redirect === 'true' ? { url } : new Answer(302, undefined, { location: url })
  },
})
