import { defineSettings } from '@tollgate/kit/env'
import { expect, test } from 'vitest'
import { payoutSettings } from './payout-settings.ts'

const settings = defineSettings({ prefix: 'PAY', title: 'payments' }, payoutSettings)

test('nobody is paid unless an operator says so; then from four on, looked for every ten minutes', () => {
  expect(settings.read({}).config).toEqual({
    ...{ enabled: false, hour: 4, interval: 600 },
    debtor: { name: undefined, iban: undefined, bic: undefined },
  })
})

test('an account is taken as people write it', () => {
  const env = {
    PAY_PAYOUTS: 'on',
    PAY_PAYOUTS_DEBTOR_NAME: 'Bølgen',
    PAY_PAYOUTS_DEBTOR_IBAN: 'dk50 0040 0440 1162 43',
    PAY_PAYOUTS_DEBTOR_BIC: 'dabadkkk',
  }
  expect(settings.read(env).config).toMatchObject({
    enabled: true,
    debtor: { name: 'Bølgen', iban: 'DK5000400440116243', bic: 'DABADKKK' },
  })
})

test.each([
  [{ PAY_PAYOUTS: 'perhaps' }, 'PAY_PAYOUTS must be true or false'],
  [{ PAY_PAYOUTS_HOUR: '24' }, 'PAY_PAYOUTS_HOUR must be a whole number from 0 to 23'],
  [{ PAY_PAYOUTS_INTERVAL: '0' }, 'PAY_PAYOUTS_INTERVAL must be seconds or a duration such as 1h30m, at least 1s'],
  [{ PAY_PAYOUTS_DEBTOR_NAME: '日本' }, 'PAY_PAYOUTS_DEBTOR_NAME must be a name that can be written in Latin letters'],
  [{ PAY_PAYOUTS_DEBTOR_IBAN: 'DK5100400440116243' }, 'PAY_PAYOUTS_DEBTOR_IBAN must be the IBAN of an account'],
  [{ PAY_PAYOUTS_DEBTOR_BIC: 'DANSKE' }, 'PAY_PAYOUTS_DEBTOR_BIC must be the BIC of a bank'],
])('%j is refused: %s', (env, complaint) => {
  expect(() => settings.read(env)).toThrow(complaint)
})
