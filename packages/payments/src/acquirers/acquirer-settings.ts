import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Read } from '@tollgate/kit/env'
import { Secret } from '@tollgate/kit/secret'

/** Who is asked about the money of live merchants, and what each of them has to be told. */
export function acquirerSettings(read: Read) {
  return read.group('Acquirers', () => {
    const name = read.choice('ACQUIRER', ['none', 'clearhaus'], 'none', 'Who moves the money of live merchants')
    const askAgainAfter = read.seconds(
      'ASK_AGAIN_AFTER',
      60,
      'How long an operation may be without an answer before its acquirer is asked again',
      { min: 1, max: 3600 },
    )
    const required = { when: name === 'clearhaus', because: 'PAY_ACQUIRER is clearhaus' }
    const settings = {
      name,
      askAgainAfter,
      clearhaus: {
        base: read.parsed(
          'address',
          'CLEARHAUS_URL',
          'https://gateway.clearhaus.com',
          'The address of the gateway; https://gateway.test.clearhaus.com has test accounts',
          parseBase,
          { shown: 'https://gateway.clearhaus.com', example: 'https://gateway.test.clearhaus.com' },
        ),
        apiKey: read.secret('CLEARHAUS_API_KEY', 'The key of the account at the gateway', { required }),
        signingKeyId: read.parsed(
          'text',
          'CLEARHAUS_SIGNING_KEY_ID',
          undefined,
          'What the gateway calls the key that requests are signed with',
          (text) => (/^[\x21-\x7e]+$/.test(text) ? text : { expected: 'printable ASCII characters without spaces' }),
          { required, example: '4390aec7-f76a-4c2f-8597-c87c2d06cb4f' },
        ),
        signingKey: read.parsed(
          'secret',
          'CLEARHAUS_SIGNING_KEY',
          undefined,
          'The private key that requests are signed with: RSA, in PEM; its line breaks may be written as \\n',
          parseSigningKey,
          { required, secret: true, example: '-----BEGIN PRIVATE KEY-----\\n…\\n-----END PRIVATE KEY-----' },
        ),
        timeout: read.seconds(
          'CLEARHAUS_TIMEOUT',
          30,
          'How long the gateway may take to answer; what it has not answered by then has to be found out about later',
          { min: 1, max: 300 },
        ),
      },
    }
    // Otherwise what is still under way could be taken for what never arrived.
    read.insist(
      name === 'none' || askAgainAfter > settings.clearhaus.timeout,
      'PAY_ASK_AGAIN_AFTER must be more than PAY_CLEARHAUS_TIMEOUT',
    )
    return settings
  })
}

export type AcquirerSettings = ReturnType<typeof acquirerSettings>

/** Card numbers travel there: in the open on this machine alone. */
function parseBase(text: string): string | { expected: string } {
  const url = URL.parse(text)
  const fits =
    url &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname))) &&
    url.username + url.password + url.search + url.hash === ''
  return fits
    ? url.href.replace(/\/+$/, '')
    : { expected: 'an address that starts with https:// and has no credentials or query' }
}

function parseSigningKey(text: string): Secret<KeyObject> | { expected: string } {
  const expected = 'an RSA private key of 2048 bits or more, in PEM and without a passphrase'
  try {
    const key = createPrivateKey(text.replaceAll('\\n', '\n'))
    const bits = key.asymmetricKeyType === 'rsa' ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0
    return bits >= 2048 ? new Secret(key) : { expected }
  } catch {
    return { expected }
  }
}
