import { type ConfigOf, defineSettings } from '@tollgate/kit/env'
import { serviceSettings } from '@tollgate/kit/service-settings'
import { acquirerSettings } from './acquirers/acquirer-settings.ts'
import { customerSettings } from './rules/customer-settings.ts'
import { exchangeSettings } from './rules/exchange-settings.ts'
import { mailSettings } from './rules/mail-settings.ts'
import { outsideSettings } from './rules/outside-settings.ts'
import { payoutSettings } from './rules/payout-settings.ts'
import { peopleSettings } from './rules/people-settings.ts'
import { priceSettings } from './rules/price-settings.ts'
import { rateSettings } from './rules/rate-settings.ts'
import { vaultSettings } from './vault/vault-settings.ts'
import { walletSettings } from './wallets/wallet-settings.ts'

const family = { prefix: 'PAY', title: 'the payments service' }

export const settings = defineSettings(family, (read) => {
  const general = read.group('General', () => ({
    environment: read.choice(
      'ENV',
      ['development', 'production'],
      'production',
      'Where this runs: `payments seed` is refused in production',
    ),
  }))
  return {
    ...general,

    ...serviceSettings(read, { port: 8082, namespace: 'pay', bareNamespace: false, driverRequired: false }),
    transactions: read.group('Transactions', () => ({
      expireDays: read.whole(
        'AUTHORIZATION_DAYS',
        29,
        'After how many days what was reserved and not captured is voided; some acquirers void nothing that is 30 days old',
        { min: 1, max: 365 },
      ),
    })),
    customers: customerSettings(read),
    vault: vaultSettings(read),
    wallets: walletSettings(read),
    acquirer: acquirerSettings(read),
    price: priceSettings(read),
    exchange: exchangeSettings(read),
    payouts: payoutSettings(read),
    people: peopleSettings(read, general),
    rateLimit: rateSettings(read),
    mail: mailSettings(read),
    outside: outsideSettings(read),
  }
})

export type Config = ConfigOf<typeof settings>
