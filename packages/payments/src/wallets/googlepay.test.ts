import { defineSettings } from '@tollgate/kit/env'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openGooglePay } from './googlepay.ts'
import { fakeGoogle, fakeRecipient, type Making, message, newKey, signText, spki, type WireToken } from './googlepay-fake.ts'
import { walletSettings } from './wallet-settings.ts'

const settings = defineSettings({ prefix: 'PAY', title: 'the test' }, walletSettings)
const now = new Date('2030-01-02T03:04:05Z')
const google = fakeGoogle()
const [recipient, former] = [fakeRecipient(), fakeRecipient()]

function configure(change: Record<string, string> = {}) {
  return settings.read({
    PAY_GOOGLEPAY_KEYS: `${recipient.setting},${former.setting}`,
    PAY_GOOGLEPAY_ROOT_KEYS: google.rootKeys(),
    PAY_GOOGLEPAY_RECIPIENT: 'gateway:tollgate',
    ...change,
  }).config.googlePay
}

const configured = configure()

function open(token: unknown, { at = now, using = configured } = {}) {
  const opened = openGooglePay(typeof token === 'string' ? token : JSON.stringify(token), using, at)
  return 'wallet' in opened ? JSON.parse(opened.wallet.reveal()) : opened
}

const pay = (making: Making = {}) => google.pay(recipient.publicKey, making)
const refusal = (code: string, reason: string) => ({ refused: `GOOGLEPAY_${code}`, reason: expect.stringContaining(reason) })
const invalid = (reason: string) => refusal('TOKEN_INVALID', reason)
const undecoded = (reason: string) => refusal('DECODING_ERROR', reason)

const unvouched = 'intermediateSigningKey is not signed by Google'
const unsigned = 'signature is of something else, or for somebody else'

describe('a genuine token', () => {
  test('of a device gives the card and its cryptogram', () => {
    expect(open(pay())).toEqual({
      number: '4200009876540000',
      month: 12,
      year: 2032,
      cryptogram: message.paymentMethodDetails.cryptogram,
      eci: '05',
      transactionId: 'AH2EjtcMessage',
      merchant: 'some-shop',
      expires: Date.parse('2030-01-09T00:00:00Z'),
    })
  })

  test('of a card on file gives the card alone, whatever else is said', () => {
    const opened = open(
      pay({ content: { ...message, paymentMethodDetails: { ...message.paymentMethodDetails, authMethod: 'PAN_ONLY' } } }),
    )
    expect(opened).toMatchObject({ number: '4200009876540000' })
    expect(opened).not.toHaveProperty('cryptogram')
    expect(opened).not.toHaveProperty('eci')
  })

  test('may be for any of the keys', () => {
    expect(open(google.pay(former.publicKey))).toHaveProperty('number')
  })

  test('may be for a merchant who is no gateway', () => {
    const using = configure({ PAY_GOOGLEPAY_RECIPIENT: 'merchant:123' })
    expect(open(pay({ recipient: 'merchant:123' }), { using })).toHaveProperty('number')
  })

  test('may carry signatures by roots that we do not know', () => {
    const token = pay()
    const { signedKey, signatures } = token.intermediateSigningKey
    const another = signText(newKey().privateKey, ['Google', 'ECv2', signedKey])
    expect(open({ ...token, intermediateSigningKey: { signedKey, signatures: [another, ...signatures] } })).toHaveProperty(
      'number',
    )
  })
})

describe('what is not set up', () => {
  test('no key at all', () => {
    const using = settings.read({}).config.googlePay
    expect(open(pay(), { using })).toEqual(refusal('CONFIGURATION_INVALID', 'PAY_GOOGLEPAY_KEYS is missing'))
  })

  test('root keys that have all expired', () => {
    const using = configure({ PAY_GOOGLEPAY_ROOT_KEYS: google.rootKeys(String(now.getTime())) })
    expect(open(pay(), { using })).toEqual(refusal('CONFIGURATION_INVALID', 'all of PAY_GOOGLEPAY_ROOT_KEYS have expired'))
    const later = configure({ PAY_GOOGLEPAY_ROOT_KEYS: google.rootKeys(String(now.getTime() + 1)) })
    expect(open(pay(), { using: later })).toHaveProperty('number')
  })
})

describe('a token that was tampered with is refused', () => {
  const [token, other] = [pay(), pay()]
  const { signedKey, signatures } = token.intermediateSigningKey
  const intermediate = (change: Partial<WireToken['intermediateSigningKey']>) => ({
    ...token,
    intermediateSigningKey: { ...token.intermediateSigningKey, ...change },
  })
  const imposter = newKey()
  const forgedKey = JSON.stringify({ keyValue: spki(imposter.publicKey).toString('base64'), keyExpiration: '9999999999999' })
  const signedBy = (recipient: string) => signText(imposter.privateKey, ['Google', recipient, 'ECv2', token.signedMessage])

  test.each<[string, unknown, string]>([
    ['message', { ...token, signedMessage: `${token.signedMessage} ` }, unsigned],
    ['message of another', { ...token, signedMessage: other.signedMessage }, unsigned],
    ['signature of another', { ...token, signature: other.signature }, unsigned],
    ['signature by another', { ...token, signature: signedBy('gateway:tollgate') }, unsigned],
    ['signature that is none', { ...token, signature: 'AAAA' }, unsigned],
    ['signed key', intermediate({ signedKey: `${signedKey} ` }), unvouched],
    ['forged key', { ...intermediate({ signedKey: forgedKey }), signature: signedBy('gateway:tollgate') }, unvouched],
    [
      'forged key that vouches for itself',
      intermediate({ signedKey: forgedKey, signatures: [signText(imposter.privateKey, ['Google', 'ECv2', forgedKey])] }),
      unvouched,
    ],
    ['signature of a message for that of a key', intermediate({ signatures: [token.signature] }), unvouched],
    ['no signature of the key', intermediate({ signatures: [] }), 'intermediateSigningKey.signatures: Must have at least 1'],
    ['too many of them', intermediate({ signatures: Array(6).fill(signatures[0]) }), 'signatures: Must have at most 5'],
    ['protocol ECv1', { ...token, protocolVersion: 'ECv1' }, 'protocolVersion: Must be ECv2'],
    ['no protocol', { ...token, protocolVersion: undefined }, 'protocolVersion: Required'],
    ['no intermediate key', { ...token, intermediateSigningKey: undefined }, 'intermediateSigningKey.signedKey: Required'],
    ['a signature that is no Base64', { ...token, signature: '?' }, 'signature: Must be Base64'],
    ['not JSON', 'x', 'it is not JSON'],
    ['a list', [], 'Must be an object'],
  ])('%s', (_, tampered, reason) => {
    expect(open(tampered)).toEqual(invalid(reason))
  })

  test('a token for somebody else is refused', () => {
    expect(open(pay({ recipient: 'gateway:another' }))).toEqual(invalid(unsigned))
    expect(open(pay({ recipient: 'merchant:tollgate' }))).toEqual(invalid(unsigned))
    expect(open(pay({ recipient: '' }))).toEqual(invalid(unsigned))
  })

  test('an intermediate key counts until it expires, and only in the form that Google gives it', () => {
    expect(open(pay({ keyExpiration: String(now.getTime() + 1) }))).toHaveProperty('number')
    expect(open(pay({ keyExpiration: String(now.getTime()) }))).toEqual(invalid('intermediateSigningKey has expired'))
    expect(open(pay({ keyExpiration: 'never' }))).toEqual(invalid('signedKey, keyExpiration: Invalid'))
    expect(open(pay({ signedKey: '{}' }))).toEqual(invalid('signedKey, keyValue: Required'))
    const garbage = JSON.stringify({ keyValue: 'AAAA', keyExpiration: '9999999999999' })
    expect(open(pay({ signedKey: garbage }))).toEqual(invalid(unsigned))
  })

  test('whatever stands where, nothing throws', () => {
    const fields = ['protocolVersion', 'signature', 'intermediateSigningKey', 'signedMessage']
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.oneof(fc.jsonValue(), fc.base64String()), (field, value) => {
        expect(open({ ...token, [field]: value })).toHaveProperty('refused')
      }),
      { numRuns: 300 },
    )
  })
})

describe('what was encrypted', () => {
  const encrypted = JSON.parse(pay().signedMessage)

  test.each<[string, string, string]>([
    ['not JSON', 'x', 'in its signedMessage, it is not JSON'],
    ['no tag', JSON.stringify({ ...encrypted, tag: undefined }), 'in its signedMessage, tag: Required'],
    ['a short tag', JSON.stringify({ ...encrypted, tag: 'AAAA' }), 'not encrypted for any of the keys'],
    [
      'another tag',
      JSON.stringify({ ...encrypted, tag: JSON.parse(pay().signedMessage).tag }),
      'not encrypted for any of the keys',
    ],
    ['no point on the curve', JSON.stringify({ ...encrypted, ephemeralPublicKey: 'BAAA' }), 'not encrypted for any of the keys'],
    [
      'a point beside the curve',
      JSON.stringify({
        ...encrypted,
        ephemeralPublicKey: Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64'),
      }),
      'not encrypted for any of the keys',
    ],
  ])('a signed message with %s is refused', (_, signedMessage, reason) => {
    expect(open(pay({ signedMessage }))).toEqual(undecoded(reason))
  })

  test('a message for a key that we do not have is refused', () => {
    expect(open(google.pay(fakeRecipient().publicKey))).toEqual(undecoded('not encrypted for any of the keys'))
  })

  const details = (change: object) => ({ ...message, paymentMethodDetails: { ...message.paymentMethodDetails, ...change } })

  test.each<[string, unknown, string]>([
    ['text', '4200009876540000', 'in its message, Must be an object'],
    ['no card', { ...message, paymentMethod: 'BANK' }, 'paymentMethod: Must be one of CARD'],
    ['no id', { ...message, messageId: undefined }, 'messageId: Required'],
    ['a number that is none', details({ pan: '4200-0098' }), 'paymentMethodDetails.pan: Invalid'],
    ['a thirteenth month', details({ expirationMonth: 13 }), 'expirationMonth: Must be at most 12'],
    ['another way to authenticate', details({ authMethod: 'NONE' }), 'authMethod: Must be one of'],
    ['no cryptogram', details({ cryptogram: undefined }), 'paymentMethodDetails.cryptogram: Required'],
  ])('%s is refused, and nothing of it told', (_, content, reason) => {
    const opened = open(pay({ content }))
    expect(opened).toEqual(undecoded(reason))
    expect(JSON.stringify(opened)).not.toMatch(/4200|9876/)
  })

  test('a message that has expired is refused', () => {
    const expiring = (at: number) => open(pay({ content: { ...message, messageExpiration: String(at) } }))
    expect(expiring(now.getTime() + 1)).toHaveProperty('number')
    expect(expiring(now.getTime())).toEqual(invalid('it has expired'))
  })
})
