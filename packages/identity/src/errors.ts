import { failures } from '@tollgate/kit/failure'

/** Every refusal of the identity service: error code → status and message. */
export const failureTable = {
  bad_request: [400, 'This is not an HTTP request that can be understood'],
  bad_json: [400, 'Could not parse request body as JSON'],
  validation_failed: [400, 'A parameter is missing or not as it should be'],
  refresh_token_not_found: [400, 'Invalid Refresh Token: Refresh Token Not Found'],
  refresh_token_already_used: [400, 'Invalid Refresh Token: Already Used'],
  session_not_found: [403, 'Session from session_id claim in JWT does not exist'],
  session_expired: [400, 'Invalid Refresh Token: Session Expired'],
  no_authorization: [401, 'This endpoint requires a valid Bearer token'],
  bad_jwt: [403, 'invalid JWT: unable to parse or verify signature'],
  user_not_found: [403, 'User from sub claim in JWT does not exist'],
  user_banned: [403, 'User is banned'],
  not_found: [404, 'No endpoint answers this path; /docs lists those that exist'],
  method_not_allowed: [405, 'This path does not answer that method; the Allow header names those it does'],
  request_entity_too_large: [413, 'Request body too large (max 1048576 bytes)'],
  request_timeout: [504, 'Processing this request timed out, please retry after a moment.'],
  unavailable: [503, 'The service is too busy or cannot reach what it needs, please retry after a moment'],
  unexpected_failure: [500, 'Unexpected failure, please check server logs for more information'],
} as const

export type FailureCode = keyof typeof failureTable

export const fail = failures(failureTable)
