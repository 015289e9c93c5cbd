import type { Read } from '@tollgate/kit/env'
import { parseCustomProviders } from './custom-settings.ts'

/** The settings that a provider brings along. */
export function providerSettings(read: Read, provider: { name: string; base?: string }) {
  const block = `EXTERNAL_${provider.name.toUpperCase()}`
  const enabled = read.flag(`${block}_ENABLED`, false, `People can sign in with ${provider.name}`)
  const required = { when: enabled, because: `AUTH_${block}_ENABLED is true` }
  return {
    enabled,
    clientIds: [
      ...read.list(`${block}_CLIENT_ID`, [], 'The client id; further ones are accepted in id tokens', { required }),
      // An app of Apple's goes by its bundle.
      ...(provider.name === 'apple'
        ? read.list('EXTERNAL_IOS_BUNDLE_ID', [], 'Bundles of apps whose id tokens are accepted, too')
        : []),
    ],
    secret: read.secret(`${block}_SECRET`, 'The client secret', { required }),
    redirectUri: read.exactUrl(
      `${block}_REDIRECT_URI`,
      undefined,
      'Where the provider sends people back to: this service and /callback',
      {
        required,
        example: 'https://auth.example.com/callback',
      },
    ),
    base: read.url(`${block}_URL`, provider.base, 'The base address of the provider, where it is not the public one', {
      // Where there is no public one, everybody has to say where theirs is.
      required: provider.base === undefined ? required : false,
      example: provider.base ?? `https://${provider.name}.example.com`,
    }),
    api: read.url(`${block}_API_URL`, undefined, 'The address of its API, where it is not the public one'),
    emailOptional: read.flag(`${block}_EMAIL_OPTIONAL`, false, 'Let people in of whom it tells no email address'),
    skipNonceCheck: read.flag(`${block}_SKIP_NONCE_CHECK`, false, 'Take its id tokens without a nonce'),
  }
}

export type ProviderSettings = ReturnType<typeof providerSettings>

/** Each complaint about them is a line of its own: one setting may hold many mistakes. */
export function customProviders(read: Read) {
  const name = 'EXTERNAL_CUSTOM_PROVIDERS'
  const allowHttp = read.peekFlag('SECURITY_ALLOW_PRIVATE_ADDRESSES', false)
  const { providers: entries, complaints } = read.parsed(
    'JSON',
    name,
    { providers: [], complaints: [] },
    'Providers of your own, by OpenID Connect or OAuth 2.0: a JSON list, see the guide about providers',
    (text) => parseCustomProviders(text, { allowHttp }),
    {
      secret: true,
      example: '[{"identifier":"custom:acme","issuer":"https://id.acme.com","client_id":"…","client_secret":"…"}]',
    },
  )
  for (const complaint of complaints) read.insist(false, `AUTH_${name} has a fault in ${complaint}`)
  return entries
}
