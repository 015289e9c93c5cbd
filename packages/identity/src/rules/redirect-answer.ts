/** An address with answers in its fragment, in the order of the alphabet; a fragment that was there gives way. */
export function withFragment(address: string, answers: Readonly<Record<string, string>>): string {
  return `${address.replace(/#.*$/s, '')}#${formOf(answers)}`
}

/** An address with answers added to its query. What was there under the same names gives way: whoever made the link does not answer for us. */
export function withQuery(address: string, answers: Readonly<Record<string, string>>): string {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(address) ?? []
  const kept = query.split('&').filter((part) => part !== '' && !Object.hasOwn(answers, nameOf(part)))
  return `${path}?${[...kept, formOf(answers)].join('&')}${fragment}`
}

/** As pages read it. */
function nameOf(part: string): string {
  const [name = ''] = new URLSearchParams(part).keys()
  return name
}

function formOf(answers: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(answers).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return new URLSearchParams(sorted).toString()
}

const names: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/** A refusal as pages read it from their address. */
export function refusalAnswers({
  status,
  code,
  message,
}: {
  status: number
  code: string
  message: string
}): Record<string, string> {
  const error = names[status]
  return { ...(error ? { error } : {}), error_code: code, error_description: message }
}

/** Refusals of a sign-in with a provider that are about the person, whatever their status. */
const denied = new Set(['signup_disabled', 'user_banned', 'provider_email_needs_verification'])

/** The same for somebody who comes back from a provider. */
export function callbackAnswers({
  status,
  code,
  message,
}: {
  status: number
  code: string
  message: string
}): Record<string, string> {
  const error = denied.has(code) ? 'access_denied' : (names[status] ?? 'server_error')
  return { error, error_code: code, error_description: message }
}

type Entered = { accessToken: string; expiresAt: number; expiresIn: number; refreshToken: string }

/** A session as pages read it from their address; the empty mark tells them that it is ours. */
export function sessionAnswers({ accessToken, expiresAt, expiresIn, refreshToken }: Entered): Record<string, string> {
  return {
    access_token: accessToken,
    expires_at: String(expiresAt),
    expires_in: String(expiresIn),
    refresh_token: refreshToken,
    sb: '',
    token_type: 'bearer',
  }
}
