import { anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { providers } from '../providers/all.ts'
import { identifierPattern } from '../providers/custom-settings.ts'

const names = ['anonymous_users', ...providers.map((provider) => provider.name), 'email', 'phone']

export const settings = endpoint({
  method: 'GET',
  path: '/settings',
  summary: 'Tell how this installation lets people sign in',
  tag: 'About',
  caller: anyone,
  reply: {
    200: Type.Object({
      external: Type.Record(Type.String({ pattern: `^(?:${[...names, identifierPattern].join('|')})$` }), Type.Boolean(), {
        description: 'Every way to sign in, and whether it is enabled',
      }),
      disable_signup: Type.Boolean({ description: 'Whether only invited people can join' }),
      autoconfirm: Type.Boolean({ description: 'The same as mailer_autoconfirm' }),
      mailer_autoconfirm: Type.Boolean({ description: 'Whether email addresses count as confirmed without a mail' }),
      phone_autoconfirm: Type.Boolean({ description: 'Whether phone numbers count as confirmed without a code' }),
      sms_provider: Type.String({ description: 'Who delivers SMS; empty when nobody does' }),
      saml_enabled: Type.Boolean(),
      saml_private_key_next_configured: Type.Boolean(),
      passkeys_enabled: Type.Boolean(),
    }),
  },
  fails: [],
  constant: true,

  run({ config }) {
    const enabled = providers.map(({ name }) => [name, config.external.providers.get(name)?.enabled ?? false])
    return {
      external: {
        anonymous_users: config.external.anonymousUsers,
        ...Object.fromEntries(enabled),
        ...Object.fromEntries(config.external.customProviders.map(({ name }) => [name, true])),
        email: config.external.email,
        phone: config.external.phone,
      },
      disable_signup: config.disableSignup,
      autoconfirm: config.smtp.mailer.autoconfirm,
      mailer_autoconfirm: config.smtp.mailer.autoconfirm,
      phone_autoconfirm: config.sms.autoconfirm,
      sms_provider: config.sms.provider ?? '',
      saml_enabled: false,
      saml_private_key_next_configured: false,
      passkeys_enabled: false,
    }
  },
})
