import { type ConfigOf, defineSettings } from '@tollgate/kit/env'
import { serviceSettings } from '@tollgate/kit/service-settings'

const family = { prefix: 'PAY', title: 'the payments service' }

export const settings = defineSettings(family, (read) => ({
  ...read.group('General', () => ({
    environment: read.choice(
      'ENV',
      ['development', 'production'],
      'production',
      'Where this runs: `payments seed` is refused in production',
    ),
  })),

  ...serviceSettings(read, { port: 8082, namespace: 'pay', bareNamespace: false, driverRequired: false }),
}))

export type Config = ConfigOf<typeof settings>
