/** Why a payment was not possible: code → text, whether the payer may be at fault, whether the merchant may be. */
const catalogue = {
  1: ['Invalid currency', true, true],
  2: ['Invalid card details', true, false],
  3: ['Invalid card number', true, false],
  4: ['Invalid security code (CSC)', true, false],
  5: ['Invalid expire date', true, false],
  6: ['Card expired', true, false],
  7: ['Insufficient funds', true, false],
  8: ['Declined by cardholder bank', true, false],
  9: ['Card restricted', true, false],
  10: ['Card rejected', true, false],
  11: ['Transaction rejected', true, true],
  12: ['Error, please try again or contact us', true, true],
  13: ['Invalid descriptor', false, true],
  14: ['Invalid amount', true, true],
  15: ['Missing amount', true, true],
  16: ['Missing currency', true, true],
  17: ['Missing card number', true, false],
  18: ['Missing card expiry month', true, false],
  19: ['Missing card expiry year', true, false],
  20: ['Missing card security code (CSC)', true, false],
  21: ['Missing secure connection (https)', false, true],
  22: ['Amount is bigger than allowed, please contact us', false, true],
  25: ['Card amount limit exceeded', true, false],
  26: ['Invalid merchant public key, please contact us', false, true],
  27: ['The merchant is not allowed to create transactions', false, true],
  28: ['The merchant is not allowed to save cards', false, true],
  29: ['Invalid card number or card not supported', true, false],
  30: ['3-D Secure is required', true, false],
  31: ['3-D Secure failed', true, false],
} as const satisfies Record<number, readonly [string, boolean, boolean]>

export type ProcessingCode = keyof typeof catalogue

export type ProcessingError = { code: ProcessingCode; message: string; text: string; client: boolean; merchant: boolean }

/** Some clients read the text as `message`, others as `text`. */
export function processingError(code: ProcessingCode): ProcessingError {
  const [message, client, merchant] = catalogue[code]
  return { code, message, text: message, client, merchant }
}

export function isProcessingCode(code: number): code is ProcessingCode {
  return Object.hasOwn(catalogue, code)
}
