import { electronicFormatIBAN, ValidationErrorsIBAN, validateIBAN } from 'ibantools'

/** An account number in its electronic form: capitals, no blanks. Undefined for what no bank would take. */
export function parseIban(text: string): string | undefined {
  const iban = electronicFormatIBAN(text.trim())
  if (iban === null || !/^[A-Z]{2}[0-9]{2}[A-Z0-9]+$/.test(iban)) return undefined
  // Check digits of a nation's own within the account number are not a promise that all of its banks keep.
  const wrong = validateIBAN(iban).errorCodes.filter((code) => code !== ValidationErrorsIBAN.WrongAccountBankBranchChecksum)
  return wrong.length === 0 ? iban : undefined
}
