import type { Read } from '@tollgate/kit/env'
import { isValidBIC } from 'ibantools'
import { bankText } from './bank-text.ts'
import { parseIban } from './iban.ts'

/** When merchants are paid, and from which account. */
export function payoutSettings(read: Read) {
  return read.group('Payouts', () => ({
    enabled: read.flag('PAYOUTS', false, 'Pay merchants what they are owed, every day. Off: only when `payments payouts` is run'),
    hour: read.whole('PAYOUTS_HOUR', 4, "The hour, in UTC, from which the day's payouts are made", { max: 23 }),
    interval: read.seconds('PAYOUTS_INTERVAL', 600, "How often to look whether the day's payouts have been made", {
      min: 1,
      max: 86_400,
    }),
    debtor: {
      name: read.parsed(
        'text',
        'PAYOUTS_DEBTOR_NAME',
        undefined,
        'Whose account payouts are paid from, as its bank knows them. Needed for bank files',
        (text) => (/[A-Za-z0-9]/.test(bankText(text)) ? text : { expected: 'a name that can be written in Latin letters' }),
        { example: 'Tollgate ApS' },
      ),
      iban: read.parsed(
        'IBAN',
        'PAYOUTS_DEBTOR_IBAN',
        undefined,
        'The number of the account that payouts are paid from. Needed for bank files',
        (text) => parseIban(text) ?? { expected: 'the IBAN of an account' },
        { example: 'DK5000400440116243' },
      ),
      bic: read.parsed(
        'BIC',
        'PAYOUTS_DEBTOR_BIC',
        undefined,
        'The bank of that account. Not set: it is told by the IBAN',
        (text) => (isValidBIC(text.toUpperCase()) ? text.toUpperCase() : { expected: 'the BIC of a bank' }),
        { example: 'DABADKKK' },
      ),
    },
  }))
}
