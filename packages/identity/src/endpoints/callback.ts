import { Answer, anyone, type Incoming, Nothing } from '@tollgate/kit/endpoint'
import { Failure, Unavailable } from '@tollgate/kit/failure'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { audienceOf } from '../callers.ts'
import { fail } from '../errors.ts'
import { noteRefusal } from '../operations/note-refusal.ts'
import {
  type Callback,
  claimCallback,
  RefusedThere,
  type Returned,
  returnFromProvider,
} from '../operations/return-from-provider.ts'
import { callbackAnswers, sessionAnswers, withFragment, withQuery } from '../rules/redirect-answer.ts'

const story = {
  summary: 'Come back from a provider',
  description:
    'Leads on to where redirect_to said, with a session in the fragment; or, for a client that sent a code_challenge, with a code in the query. What goes wrong is told in both.',
  tag: 'Sign in',
  caller: anyone,
  reply: { 302: Nothing, 303: Nothing },
  fails: [],
} as const

export const callback = endpoint({
  ...story,
  method: 'GET',
  path: '/callback',
  run: (app, { request }) => comeBack(app, request, Object.fromEntries(new URLSearchParams(request.query))),
})

/** Apple sends people back with a form. */
export const formCallback = endpoint({
  ...story,
  method: 'POST',
  path: '/callback',
  forms: true,
  body: Type.Record(Type.String(), Type.Unknown()),
  run(app, { request, body }) {
    const texts = Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    return comeBack(app, request, Object.fromEntries(texts))
  },
})

async function comeBack(app: App, request: Incoming, brought: Callback): Promise<Answer<undefined>> {
  const flow = await claimCallback(app, brought).catch((problem: unknown) => refusalOf(problem))
  // Nobody knows where somebody without a flow of ours was going, so they are told on the site.
  if (flow instanceof Failure) {
    noteRefusal(app, request, { grant: 'oauth', user: null }, flow)
    return redirect(303, withQuery(app.config.siteUrl, callbackAnswers(flow)))
  }
  const destination = app.config.external.destination ?? flow.destination
  try {
    const returned = await returnFromProvider(app, request, flow, brought, audienceOf(app, request))
    return redirect(
      302,
      'code' in returned ? withQuery(destination, returned) : withFragment(destination, enteredAnswers(returned)),
    )
  } catch (problem) {
    const refusal = noteRefusal(app, request, { grant: 'oauth', user: null }, refusalOf(problem))
    const answers = { ...callbackAnswers(refusal), ...(refusal instanceof RefusedThere ? { error: refusal.error } : {}) }
    return redirect(302, withFragment(withQuery(destination, answers), { ...answers, sb: '' }))
  }
}

/** Whatever else is thrown is a bug, and answered as such. */
function refusalOf(problem: unknown): Failure {
  if (problem instanceof Failure) return problem
  if (problem instanceof Unavailable) return fail('unavailable')
  throw problem
}

function enteredAnswers({ session, provider, tokens }: Exclude<Returned, { code: string }>): Record<string, string> {
  const { providerToken, providerRefreshToken } = tokens
  return {
    ...sessionAnswers(session),
    provider,
    ...(providerToken ? { provider_token: providerToken } : {}),
    ...(providerRefreshToken ? { provider_refresh_token: providerRefreshToken } : {}),
  }
}

function redirect(status: 302 | 303, location: string) {
  return new Answer(status, undefined, { location })
}
