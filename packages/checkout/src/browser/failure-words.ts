import type { Words } from '../languages/words.ts'

/** What a payer is told about a refusal, and what there is for them to type anew. */
export type Told = { word: keyof Words; wrong?: 'number' | 'expiry' | 'code' }

const told: Readonly<Record<string, Told>> = {
  PAYMENT_INSUFFICIENT_FUNDS: { word: 'insufficientFunds' },
  PAYMENT_AMOUNT_LIMIT: { word: 'amountLimit' },
  PAYMENT_CARD_EXPIRED: { word: 'cardExpired', wrong: 'expiry' },
  PAYMENT_CARD_DISABLED: { word: 'cardDisabled', wrong: 'number' },
  PAYMENT_CARD_LOST: { word: 'cardLost', wrong: 'number' },
  PAYMENT_CARD_SECURITY_CODE_INVALID: { word: 'codeWrong', wrong: 'code' },
  PAYMENT_CARD_NUMBER_INVALID: { word: 'cardNumberRefused', wrong: 'number' },
  PAYMENT_CARD_SCHEME_UNKNOWN: { word: 'schemeUnsupported', wrong: 'number' },
  PAYMENT_CARD_SCHEME_UNSUPPORTED: { word: 'schemeUnsupported', wrong: 'number' },
  PAYMENT_REJECTED_BY_ISSUER: { word: 'declined' },
  PAYMENT_REJECTED: { word: 'declined' },
  PAYMENT_RECEIVER_BLOCKED: { word: 'declined' },
  PAYMENT_METHOD_ERROR: { word: 'declined' },
  TDSECURE_FAILED: { word: 'authenticationFailed' },
  TDSECURE_REQUIRED: { word: 'authenticationUnavailable' },
  PAYMENT_INTEGRATION_KEY_UNKNOWN: { word: 'merchantUnavailable' },
  PAYMENT_INTEGRATION_DISABLED: { word: 'merchantUnavailable' },
  TEST_MODE_MIXED: { word: 'merchantUnavailable' },
  PAYMENT_CHALLENGE_UNAVAILABLE: { word: 'tookTooLong', wrong: 'number' },
  TOKEN_INVALID: { word: 'tookTooLong', wrong: 'number' },
  TOKEN_TYPE_UNEXPECTED: { word: 'tookTooLong', wrong: 'number' },
}

export function tellFailure(code: string): Told {
  return told[code] ?? { word: 'somethingWrong' }
}

/** Whether a refusal is about the card or the payer's bank, and with it the last word on this payment. */
export function isDecided(code: string): boolean {
  return /^(PAYMENT_|TDSECURE_)/.test(code) && code !== 'PAYMENT_CHALLENGE_UNAVAILABLE'
}
