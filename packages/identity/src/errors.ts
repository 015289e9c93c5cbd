import { failures } from '@tollgate/kit/failure'

/** Every refusal of the identity service: error code → status and message. */
export const failureTable = {
  bad_request: [400, 'This is not an HTTP request that can be understood'],
  bad_json: [400, 'Could not parse request body as JSON'],
  validation_failed: [400, 'A parameter is missing or not as it should be'],
  not_found: [404, 'No endpoint answers this path; /docs lists those that exist'],
  method_not_allowed: [405, 'This path does not answer that method; the Allow header names those it does'],
  request_entity_too_large: [413, 'Request body too large (max 1048576 bytes)'],
  request_timeout: [504, 'Processing this request timed out, please retry after a moment.'],
  unavailable: [503, 'The service cannot reach its database, please retry after a moment'],
  unexpected_failure: [500, 'Unexpected failure, please check server logs for more information'],
} as const

export type FailureCode = keyof typeof failureTable

export const fail = failures(failureTable)
