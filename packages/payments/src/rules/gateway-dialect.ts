import { anyOrigin } from '@tollgate/kit/cors'
import type { Failure } from '@tollgate/kit/failure'

/** The two calls of old integrations, which came from the pages of shops and from their servers alike. */
export function isForGateway(path: string): boolean {
  return /^\/(transactions|cards)\/?$/.test(path)
}

/** Nobody is known here by anything that a browser keeps, so that there is nothing for a foreign page to ride on. */
export const gatewayPages = anyOrigin({
  methods: ['POST', 'OPTIONS'],
  headers: ['Content-Type', 'X-Client', 'Idempotency-Key'],
  exposed: ['X-Request-Id', 'Retry-After'],
  credentials: false,
})

/** Old clients read what is wrong with a field where other servers say Bad Request; a processing error tells its story in the body. */
export function reasonOf({ status, code, message, problems }: Failure): string | undefined {
  if (status !== 400 || code === 'processing_failed') return undefined
  const [problem] = problems
  const reason = problem ? `${problem.path}: ${problem.message}` : message
  // Nothing else can stand in the first line of an answer.
  return reason.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200)
}
