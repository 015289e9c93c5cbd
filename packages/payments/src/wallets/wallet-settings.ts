import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Read } from '@tollgate/kit/env'
import { Secret } from '@tollgate/kit/secret'
import Type from 'typebox'
import type { ApplePayKey } from './applepay-cipher.ts'
import { type GooglePayRootKey, Milliseconds, publicKeyOf } from './googlepay-signature.ts'
import { jsonReader } from './json.ts'

/** What the tokens of wallets are opened with, and whose signatures they have to have. */
export function walletSettings(read: Read) {
  return read.group('Wallets', () => {
    const applePayKeys = read.parsed(
      'secret',
      'APPLEPAY_KEYS',
      undefined,
      'The private keys of payment processing certificates, each behind the merchant identifier that it belongs to, with commas in between; ' +
        'line breaks may be written as \\n',
      parseApplePayKeys,
      { secret: true, example: 'merchant.com.example=-----BEGIN PRIVATE KEY-----\\n…\\n-----END PRIVATE KEY-----' },
    )
    const googlePayKeys = read.parsed(
      'secret',
      'GOOGLEPAY_KEYS',
      undefined,
      'The private keys whose public halves Google was given, in PEM, with commas in between; line breaks may be written as \\n',
      parseGooglePayKeys,
      { secret: true, example: '-----BEGIN PRIVATE KEY-----\\n…\\n-----END PRIVATE KEY-----' },
    )
    const forApplePay = { when: applePayKeys !== undefined, because: 'PAY_APPLEPAY_KEYS is set' }
    const forGooglePay = { when: googlePayKeys !== undefined, because: 'PAY_GOOGLEPAY_KEYS is set' }
    return {
      applePay: {
        keys: applePayKeys,
        root: read.parsed(
          'PEM',
          'APPLEPAY_ROOT',
          undefined,
          'The certificate "Apple Root CA - G3", in PEM, from https://www.apple.com/certificateauthority/; line breaks may be written as \\n',
          parseRoot,
          { required: forApplePay, example: '-----BEGIN CERTIFICATE-----\\n…\\n-----END CERTIFICATE-----' },
        ),
        maxAge: read.seconds('APPLEPAY_MAX_AGE', 600, 'How long after the payer agreed an Apple Pay token can be paid with', {
          min: 60,
          max: 3600,
        }),
      },
      googlePay: {
        keys: googlePayKeys,
        rootKeys: read.parsed(
          'JSON',
          'GOOGLEPAY_ROOT_KEYS',
          [] as readonly GooglePayRootKey[],
          "Google's root signing keys, as https://payments.developers.google.com/paymentmethodtoken/keys.json has them",
          parseRootKeys,
          {
            required: forGooglePay,
            example: '{"keys":[{"keyValue":"…","protocolVersion":"ECv2","keyExpiration":"2154841200000"}]}',
          },
        ),
        recipient: read.parsed(
          'text',
          'GOOGLEPAY_RECIPIENT',
          undefined,
          'Whom Google knows this service as: gateway:<id> where it is a gateway, merchant:<id> where it is one merchant',
          (text) => (/^(gateway|merchant):[\x21-\x7e]{1,128}$/.test(text) ? text : { expected: 'gateway:<id> or merchant:<id>' }),
          { required: forGooglePay, example: 'gateway:example' },
        ),
      },
    }
  })
}

export type WalletSettings = ReturnType<typeof walletSettings>

const pem = '-----BEGIN [A-Z ]+-----[A-Za-z0-9+/=\\s]+-----END [A-Z ]+-----'
const applePayEntry = new RegExp(`^\\s*([A-Za-z0-9._-]{1,255})=\\s*(${pem})\\s*$`)
const pemEntry = new RegExp(`^\\s*(${pem})\\s*$`)

const keyShape = 'a private key on the curve P-256, in PEM and without a passphrase'

function parseApplePayKeys(text: string): Secret<readonly ApplePayKey[]> | { expected: string } {
  return parseEntries(text, `<merchant identifier>=<${keyShape}>`, (entry) => {
    const [, merchantId = '', encoded = ''] = applePayEntry.exec(entry) ?? []
    const privateKey = privateKeyOf(encoded)
    return privateKey && { merchantId, privateKey, publicKeyHash: hashOf(privateKey) }
  })
}

function parseGooglePayKeys(text: string): Secret<readonly KeyObject[]> | { expected: string } {
  return parseEntries(text, keyShape, (entry) => privateKeyOf(pemEntry.exec(entry)?.[1] ?? ''))
}

/** What is wrong is told by place, for whatever stands there may be a key. */
function parseEntries<T>(text: string, shape: string, parse: (entry: string) => T | undefined) {
  const entries = text.replaceAll('\\n', '\n').split(',').map(parse)
  const wrong = entries.indexOf(undefined)
  if (wrong >= 0) return { expected: `${shape}, or several of them with commas in between (look at entry ${wrong + 1})` }
  return new Secret(entries.filter((entry) => entry !== undefined))
}

function privateKeyOf(encoded: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(encoded)
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}

/** Tokens say by it which key they were encrypted for. */
function hashOf(key: KeyObject): string {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return createHash('sha256').update(spki).digest('base64')
}

/** Kept as text: what is configured is frozen, and a frozen certificate cannot be read any more. */
function parseRoot(text: string): string | { expected: string } {
  const expected = 'the certificate of a certificate authority, in PEM'
  try {
    const [certificate] = pemEntry.exec(text.replaceAll('\\n', '\n')) ?? []
    return certificate !== undefined && new X509Certificate(certificate).ca ? certificate : { expected }
  } catch {
    return { expected }
  }
}

const readRootKeys = jsonReader(
  Type.Object({
    keys: Type.Array(
      Type.Object({
        keyValue: Type.String(),
        protocolVersion: Type.String(),
        keyExpiration: Type.Optional(Milliseconds),
      }),
    ),
  }),
)

function parseRootKeys(text: string): readonly GooglePayRootKey[] | { expected: string } {
  const expected = 'JSON as Google publishes it: {"keys":[…]}, with at least one key on the curve P-256 of protocolVersion ECv2'
  const read = readRootKeys(text)
  if ('wrong' in read) return { expected: `${expected} (${read.wrong})` }
  const keys = read.value.keys.filter(({ protocolVersion }) => protocolVersion === 'ECv2')
  const fit = keys.every(({ keyValue }) => publicKeyOf(Buffer.from(keyValue, 'base64')))
  if (keys.length === 0 || !fit) return { expected }
  return keys.map(({ keyValue, keyExpiration }) => ({
    keyValue,
    expires: keyExpiration === undefined ? undefined : Number(keyExpiration),
  }))
}
