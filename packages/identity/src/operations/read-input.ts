import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { type CodeChallenge, parseCodeChallenge, toS256 } from '../rules/code-challenge.ts'
import { parseEmail } from '../rules/email.ts'
import { parsePhone } from '../rules/phone.ts'

/** What the shapes let pass as text, in its final form, or the refusal that today's clients know. */
export function readEmail(text: string): string {
  return orRefuse(parseEmail(text))
}

export function readPhone(text: string): string {
  return orRefuse(parsePhone(text))
}

type ChallengeFields = { code_challenge?: string | undefined; code_challenge_method?: string | undefined }

/** Kept as S256 whatever the client chose, because a plain challenge is the proof itself. */
export function readChallenge({ config }: App, fields: ChallengeFields): CodeChallenge | undefined {
  const challenge = orRefuse(parseCodeChallenge(fields.code_challenge, fields.code_challenge_method))
  if (challenge?.method !== 'plain') return challenge
  if (config.security.plainChallenges) return toS256(challenge)
  throw fail('validation_failed', { message: 'code_challenge_method has to be S256' })
}

/** Whether a code goes by WhatsApp instead of SMS. */
export function readWhatsapp({ config }: App, channel: string | undefined): boolean {
  if (channel === undefined || channel === '' || channel === 'sms') return false
  if (channel === 'whatsapp' && config.sms.provider === 'twilio') return true
  throw fail('validation_failed', {
    message:
      "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
  })
}

function orRefuse<T>(parsed: T | { message: string }): T {
  if (typeof parsed === 'object' && parsed !== null && 'message' in parsed)
    throw fail('validation_failed', { message: parsed.message })
  return parsed as T
}

/** What is ours in the query of a sign-in with a provider; the rest is for the provider. */
const ours = [
  'provider',
  'scopes',
  'redirect_to',
  'invite_token',
  'code_challenge',
  'code_challenge_method',
  'skip_http_redirect',
  'apikey',
]

export function otherParameters({ query }: Incoming): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(query)].filter(([name]) => !ours.includes(name)))
}
