import type { Failure } from '@tollgate/kit/failure'
import { fail } from '../errors.ts'
import { type ProcessingCode, processingError } from '../rules/processing-errors.ts'

/** A payment that was not possible; where a failed transaction is kept of it, the answer tells which. */
export function declined(code: ProcessingCode, transactionId?: string): Failure {
  const kept = transactionId === undefined ? {} : { response: { transaction: { id: transactionId } } }
  return fail('processing_failed', { more: { ...processingError(code), ...kept } })
}

/** Nobody knows yet what became of it. */
export function unanswered(transactionId: string, code: 'outcome_unknown' | 'idempotency_running' = 'outcome_unknown'): Failure {
  return fail(code, { headers: { 'retry-after': '5' }, more: { transactionId } })
}
