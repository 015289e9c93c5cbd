import type { Incoming } from '@tollgate/kit/endpoint'
import type { Failure } from '@tollgate/kit/failure'
import type { App } from '../app.ts'
import { originOf } from './start-session.ts'

/** By what somebody tried to get in, and whose account it was about, as far as that is known. */
type Attempt = { grant: 'password' | 'otp' | 'pkce' | 'oauth' | 'id_token'; user: string | null }

/** Tells whoever watches for guessing whose account it was, why it failed and where it came from, and nothing of what was presented. */
export function noteRefusal({ log }: App, request: Incoming, attempt: Attempt, refusal: Failure): Failure {
  const { address } = originOf(request)
  log.info({ request_id: request.id, ...attempt, reason: refusal.code, address }, 'sign-in refused')
  return refusal
}
