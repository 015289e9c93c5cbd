import { anyOrigin } from '@tollgate/kit/cors'
import type { Failure } from '@tollgate/kit/failure'
import type { Wire } from '@tollgate/kit/serve'
import { deviceFailures } from './device-failures.ts'

/** What the browsers and phones of payers call, from the pages of any shop. */
export function isForDevices(path: string): boolean {
  return /^\/(payments|vault|applepay|googlepay|3dsecure)(\/|$)/.test(path)
}

/** Nobody is known here by anything that a browser keeps, so that there is nothing for a foreign page to ride on. */
export const devices = anyOrigin({
  methods: ['POST', 'OPTIONS'],
  headers: ['Content-Type', 'Accept-Version', 'X-Client'],
  exposed: ['X-Request-Id', 'Retry-After', 'X-Status-Code'],
  credentials: false,
})

/** How devices are told what is refused. Some of their clients take every code that they do not know for a crash. */
export function wordForDevices(failure: Failure): Wire {
  const { code, message, more, errors } = translate(failure)
  const headers = { ...failure.headers, 'x-status-code': code }
  // Clients take an error in JSON for the last word, and try again after any other.
  if (isPassing(failure))
    return {
      status: failure.status === 409 ? 503 : failure.status,
      headers,
      body: `${message}\n`,
      contentType: 'text/plain; charset=utf-8',
    }
  const status = code === 'ENDPOINT_NOT_FOUND' ? 404 : failure.status
  return { status, headers, body: `${JSON.stringify({ code, message, ...more, ...(errors && { errors }) })}\n` }
}

/** Whether the same request may fare better in a moment. */
function isPassing({ code, status }: Failure): boolean {
  return (status >= 500 && code !== 'vault_missing') || code === 'idempotency_running' || status === 429
}

type Told = { code: string; message: string; more?: Readonly<Record<string, unknown>>; errors?: readonly string[] }

function translate({ code, status, message, more, problems }: Failure): Told {
  if (Object.hasOwn(deviceFailures, code)) return { code, message, more }
  if (code === 'idempotency_running')
    return { code: 'INTERNAL_ERROR', message: 'This payment is under way; ask again in a moment' }
  if (status >= 500 || status === 429) return { code: 'INTERNAL_ERROR', message }
  if (code === 'not_found' || code === 'method_not_allowed') return { code: 'ENDPOINT_NOT_FOUND', message }
  if (code === 'validation_failed') {
    const errors = problems.map((each) => (each.path === '' ? each.message : `${each.path}: ${each.message}`))
    return { code: 'REQUEST_INVALID', message: `Invalid request: ${errors.join(', ') || message}`, errors }
  }
  return { code: 'BODY_INVALID', message: `Invalid request body: ${message}` }
}
