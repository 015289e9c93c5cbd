import { failures } from '@tollgate/kit/failure'
import { deviceFailures } from './rules/device-failures.ts'

/** Every refusal of the payments service: error code → status and message. */
export const failureTable = {
  bad_request: [400, 'This is not an HTTP request that can be understood'],
  bad_json: [400, 'The body could not be read'],
  validation_failed: [400, 'A field is missing or not as it should be'],
  processing_failed: [400, 'The payment was not possible; the body tells the processing error'],
  unauthorized: [
    401,
    'Send the key of your app as the password of HTTP Basic authentication with an empty user name, or an access token as Bearer token',
  ],
  not_found: [404, 'There is nothing here that you can see'],
  method_not_allowed: [405, 'This path does not answer that method; the Allow header names those it does'],
  conflict: [409, 'Something else happened to this at the same moment; look at it and decide again'],
  idempotency_running: [409, 'What this Idempotency-Key stands for is still under way; ask again in a moment'],
  request_entity_too_large: [413, 'The body is larger than 1048576 bytes'],
  idempotency_mismatch: [422, 'This Idempotency-Key was used for another request'],
  over_rate_limit: [429, 'Too many of these from where you are; wait for as long as Retry-After says'],
  exchange_unavailable: [503, 'There is no exchange rate for this that is recent enough; ask again later'],
  outcome_unknown: [504, 'The acquirer has not told yet what became of this; it is being found out, and will not be done twice'],
  request_timeout: [504, 'This took too long; ask again in a moment'],
  unavailable: [503, 'The service is too busy or cannot reach what it needs; ask again in a moment'],
  vault_missing: [503, 'Customers cannot pay here yet: whoever runs this service has to set PAY_VAULT_KEYS'],
  unexpected_failure: [500, 'Something went wrong on our side; the log has more under the id of this request'],
  ...deviceFailures,
} as const

export type FailureCode = keyof typeof failureTable

export const fail = failures(failureTable)

/** One field that is not as it should be, found out by a story and not by a shape. */
export function unfit(path: string, message: string) {
  return fail('validation_failed', { problems: [{ path, kind: 'value', message }] })
}
