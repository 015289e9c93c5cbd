import { failures } from '@tollgate/kit/failure'

/** Every refusal of the payments service: error code → status and message. */
export const failureTable = {
  bad_request: [400, 'This is not an HTTP request that can be understood'],
  bad_json: [400, 'The body could not be read'],
  validation_failed: [400, 'A field is missing or not as it should be'],
  unauthorized: [401, 'Send the key of your app as the password of HTTP Basic authentication, with an empty user name'],
  not_found: [404, 'There is nothing here that you can see'],
  method_not_allowed: [405, 'This path does not answer that method; the Allow header names those it does'],
  request_entity_too_large: [413, 'The body is larger than 1048576 bytes'],
  request_timeout: [504, 'This took too long; ask again in a moment'],
  unavailable: [503, 'The service is too busy or cannot reach what it needs; ask again in a moment'],
  unexpected_failure: [500, 'Something went wrong on our side; the log has more under the id of this request'],
} as const

export type FailureCode = keyof typeof failureTable

export const fail = failures(failureTable)
