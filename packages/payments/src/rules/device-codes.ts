import type { DeviceCode } from './device-failures.ts'
import type { ProcessingCode } from './processing-errors.ts'

/** What the device of a payer is told for a processing error. */
const byProcessingCode: Partial<Record<ProcessingCode, DeviceCode>> = {
  3: 'PAYMENT_CARD_NUMBER_INVALID',
  4: 'PAYMENT_CARD_SECURITY_CODE_INVALID',
  5: 'PAYMENT_CARD_EXPIRED',
  6: 'PAYMENT_CARD_EXPIRED',
  7: 'PAYMENT_INSUFFICIENT_FUNDS',
  8: 'PAYMENT_REJECTED_BY_ISSUER',
  9: 'PAYMENT_CARD_DISABLED',
  10: 'PAYMENT_CARD_LOST',
  11: 'PAYMENT_REJECTED',
  25: 'PAYMENT_AMOUNT_LIMIT',
  27: 'PAYMENT_INTEGRATION_DISABLED',
  29: 'PAYMENT_CARD_SCHEME_UNSUPPORTED',
  30: 'TDSECURE_REQUIRED',
  31: 'TDSECURE_FAILED',
}

export function deviceCodeOf(code: ProcessingCode): DeviceCode {
  return byProcessingCode[code] ?? 'PAYMENT_METHOD_ERROR'
}

/** Everything that a payment can be declined with. */
export const declineCodes: readonly DeviceCode[] = [...new Set(Object.values(byProcessingCode)), 'PAYMENT_METHOD_ERROR']
