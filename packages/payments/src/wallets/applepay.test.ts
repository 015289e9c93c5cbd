import { defineSettings } from '@tollgate/kit/env'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openApplePay } from './applepay.ts'
import { fakeApple, fakeMerchant, newKey, payment, type Signing, type WireToken } from './applepay-fake.ts'
import { issueCertificate } from './der-fake.ts'
import { walletSettings } from './wallet-settings.ts'

const settings = defineSettings({ prefix: 'PAY', title: 'the test' }, walletSettings)
const now = new Date('2030-01-02T03:04:05Z')
const apple = fakeApple(now)
const [merchant, former, stranger] = [fakeMerchant(), fakeMerchant('merchant.com.example.old'), fakeMerchant()]
const configured = settings.read({ PAY_APPLEPAY_KEYS: `${merchant.setting},${former.setting}`, PAY_APPLEPAY_ROOT: apple.root })
  .config.applePay

function open(token: unknown, { at = now, using = configured } = {}) {
  const opened = openApplePay(typeof token === 'string' ? token : JSON.stringify(token), using, at)
  return 'wallet' in opened ? JSON.parse(opened.wallet.reveal()) : opened
}

const invalid = (reason: string | RegExp) => ({ refused: 'APPLEPAY_TOKEN_INVALID', reason: expect.stringMatching(reason) })
const signed = (signing: Signing) => open(apple.pay(merchant, { signing }))
const minutes = (count: number) => new Date(now.getTime() + count * 60_000)

const unread = 'signature cannot be read'
const unvouched = 'not by somebody whom Apple vouches for'
const unsigned = 'signature is of something else'

describe('a genuine token', () => {
  const token = apple.pay(merchant)
  const content = {
    number: '4200009876540000',
    month: 12,
    year: 2032,
    cryptogram: 'Af9x/QwAA/DjmU65oyc1MAABAAA=',
    eci: '5',
    amount: { currency: '978', value: 1050 },
    transactionId: token.header.transactionId,
    expires: minutes(10).getTime(),
  }

  test('gives the card, the cryptogram, the amount and how long it can be paid with', () => {
    expect(open(token)).toEqual(content)
  })

  test('may stand in the PKPaymentToken that it came with', () => {
    const whole = { paymentData: token, paymentMethod: { network: 'Visa' }, transactionIdentifier: 'x' }
    expect(open(whole)).toEqual(content)
  })

  test('may be signed with lengths that are known, and over application data', () => {
    const applicationData = 'ab'.repeat(32)
    expect(open(apple.pay(merchant, { applicationData }))).toMatchObject({ number: content.number })
    expect(signed({ lengths: 'known' })).toMatchObject({ number: content.number })
  })

  test('may be for any of the keys, each with its own merchant identifier', () => {
    expect(open(apple.pay(former))).toMatchObject({ number: content.number })
    expect(open(apple.pay({ ...former, merchantId: merchant.merchantId }))).toEqual(invalid('cannot be decrypted'))
  })

  test('may lack the eci that not every network sends', () => {
    const { eciIndicator, ...paymentData } = payment.paymentData
    expect(open(apple.pay(merchant, { content: { ...payment, paymentData } }))).not.toHaveProperty('eci')
    expect(eciIndicator).toBe('5')
  })
})

describe('what is not set up', () => {
  test('no key at all', () => {
    const using = settings.read({}).config.applePay
    expect(open(apple.pay(merchant), { using })).toEqual({
      refused: 'APPLEPAY_CONFIGURATION_INVALID',
      reason: 'Apple Pay is not set up here: PAY_APPLEPAY_KEYS is missing',
    })
  })

  test('a key that is not one of ours', () => {
    expect(open(apple.pay(stranger))).toEqual({
      refused: 'APPLEPAY_CONFIGURATION_INVALID',
      reason: 'there is no key for the header.publicKeyHash of this token',
    })
  })
})

describe('a token that was tampered with is refused', () => {
  const flip = (text: string, encoding: 'base64' | 'hex') => {
    const bytes = Buffer.from(text, encoding)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    return bytes.toString(encoding)
  }
  const [token, other] = [apple.pay(merchant), apple.pay(merchant)]
  const header = (change: Partial<WireToken['header']>) => ({ ...token, header: { ...token.header, ...change } })

  test.each<[string, unknown, string]>([
    ['data', { ...token, data: flip(token.data, 'base64') }, unsigned],
    ['data of another', { ...token, data: other.data }, unsigned],
    ['signature of another', { ...token, signature: other.signature }, unsigned],
    ['ephemeral key', header({ ephemeralPublicKey: flip(token.header.ephemeralPublicKey, 'base64') }), unsigned],
    ['ephemeral key of another', header({ ephemeralPublicKey: other.header.ephemeralPublicKey }), unsigned],
    ['transaction id', header({ transactionId: flip(token.header.transactionId, 'hex') }), unsigned],
    ['application data', header({ applicationData: 'ab'.repeat(32) }), unsigned],
    ['key of another of ours', header({ publicKeyHash: apple.pay(former).header.publicKeyHash }), 'cannot be decrypted'],
    ['bytes moved over the border', { ...header({ transactionId: `00${token.header.transactionId}` }) }, unsigned],
    ['version RSA_v1', { ...token, version: 'RSA_v1' }, 'version: Must be EC_v1'],
    ['no version', { ...token, version: undefined }, 'version: Required'],
    ['no data', { ...token, data: undefined }, 'data: Required'],
    ['no header', { ...token, header: undefined }, 'header.ephemeralPublicKey: Required'],
    ['data that is no Base64', { ...token, data: '***' }, 'data: Must be Base64'],
    ['signature that is no Base64', { ...token, signature: `${token.signature}=` }, 'signature: Must be Base64'],
    ['signature that is no DER', { ...token, signature: 'AAAA' }, unread],
    ['transaction id that is no hexadecimal', header({ transactionId: 'xyz' }), 'header.transactionId: Must be hexadecimal'],
    ['a number for data', { ...token, data: 5 }, 'data: Must be text'],
    ['not JSON', '{', 'it is not JSON'],
    ['a list', [], 'Must be an object'],
    ['null', 'null', 'Must be an object'],
    ['paymentData that is text', { paymentData: JSON.stringify(token) }, 'Must be an object'],
  ])('%s', (_, tampered, reason) => {
    expect(open(tampered)).toEqual(invalid(reason))
  })

  test('whichever byte of the signature is another: nothing throws, and what passes pays the same', () => {
    const genuine = open(token)
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const signature = Buffer.from(token.signature, 'base64')
        const at = place % signature.length
        signature[at] = (signature[at] ?? 0) ^ change
        const opened = open({ ...token, signature: signature.toString('base64') })
        if ('refused' in opened) expect(opened.refused).toBe('APPLEPAY_TOKEN_INVALID')
        else expect(opened).toEqual(genuine)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the chain of certificates', () => {
  const { leaf, intermediate } = apple.certificates
  const imposter = newKey('P-256')
  const chain = (change: { leaf?: object; intermediate?: object }) =>
    signed({
      certificates: [
        issueCertificate({ ...leaf, ...change.leaf }),
        issueCertificate({ ...intermediate, ...change.intermediate }),
      ],
    })

  test('is found whatever its order, beside others', () => {
    expect(chain({})).toHaveProperty('number')
    expect(signed({ certificates: [...apple.chain].reverse() })).toHaveProperty('number')
    const another = issueCertificate({ ...leaf, marks: [] })
    expect(signed({ certificates: [another, ...apple.chain] })).toHaveProperty('number')
  })

  test.each<[string, () => unknown]>([
    ['a leaf without its mark', () => chain({ leaf: { marks: [] } })],
    ['an intermediate without its mark', () => chain({ intermediate: { marks: [] } })],
    ['marks the wrong way round', () => chain({ leaf: { marks: intermediate.marks }, intermediate: { marks: leaf.marks } })],
    [
      'a leaf with both marks alone',
      () => signed({ certificates: [issueCertificate({ ...leaf, marks: [...leaf.marks, ...intermediate.marks] })] }),
    ],
    ['a leaf that somebody else signed', () => chain({ leaf: { privateKey: imposter.privateKey } })],
    ['an intermediate that somebody else signed', () => chain({ intermediate: { privateKey: imposter.privateKey } })],
    ['a leaf of another issuer', () => chain({ leaf: { issuer: 'Else' } })],
    ['an intermediate of another issuer', () => chain({ intermediate: { issuer: 'Else' } })],
    ['an intermediate that may not vouch', () => chain({ intermediate: { ca: false } })],
    ['a leaf that has expired', () => chain({ leaf: { to: minutes(-1) } })],
    ['a leaf that is not valid yet', () => chain({ leaf: { from: minutes(1) } })],
    ['an intermediate that has expired', () => chain({ intermediate: { to: minutes(-1) } })],
    ['two leaves', () => signed({ certificates: [...apple.chain, ...apple.chain.slice(0, 1)] })],
    ['no leaf', () => signed({ certificates: apple.chain.slice(1) })],
    ['no intermediate', () => signed({ certificates: apple.chain.slice(0, 1) })],
    ['none at all', () => signed({ certificates: [] })],
    ['something that is none', () => signed({ certificates: [Buffer.from('3000', 'hex')] })],
    ['another root', () => open(fakeApple(now).pay(merchant))],
  ])('%s is refused', (_, opened) => {
    expect(opened()).toEqual(invalid(unvouched))
  })

  test('a leaf of another key has not signed this', () => {
    expect(chain({ leaf: { publicKey: imposter.publicKey } })).toEqual(invalid(unsigned))
  })
})

describe('the signature', () => {
  const attributes = (change: (own: Buffer[]) => Buffer[]) => signed({ attributes: change })

  test('is of the last ten minutes', () => {
    expect(signed({ time: minutes(-10) })).toMatchObject({ expires: now.getTime() })
    expect(signed({ time: minutes(-10.1) })).toEqual(invalid('too long ago'))
    expect(signed({ time: minutes(10.1) })).toEqual(invalid('too long ago'))
    expect(open(apple.pay(merchant), { at: minutes(11) })).toEqual(invalid('too long ago'))
  })

  test.each<[string, () => unknown]>([
    ['without a time', () => signed({ time: undefined })],
    ['without attributes', () => attributes(() => [])],
    ['without a content type', () => attributes(([, ...rest]) => rest)],
    ['without a digest', () => attributes((own) => own.slice(0, -1))],
    ['with two times', () => attributes((own) => [...own, ...own.slice(1, 2)])],
    ['with two digests', () => attributes((own) => [...own, ...own.slice(-1)])],
    ['with what it signs in it', () => signed({ content: Buffer.from('hello') })],
    ['of two signers', () => signed({ signers: 2 })],
  ])('%s is not one', (_, opened) => {
    expect(opened()).toEqual(invalid(unread))
  })
})

describe('what was encrypted', () => {
  test.each<[string, unknown, string]>([
    ['not JSON', '4200009876540000', 'in its data, Must be an object'],
    [
      'a number that is none',
      { ...payment, applicationPrimaryAccountNumber: '4200 0098 7654 0000' },
      'applicationPrimaryAccountNumber: Invalid',
    ],
    ['no number', { ...payment, applicationPrimaryAccountNumber: undefined }, 'applicationPrimaryAccountNumber: Required'],
    ['a thirteenth month', { ...payment, applicationExpirationDate: '321331' }, 'applicationExpirationDate: Invalid'],
    ['half a cent', { ...payment, transactionAmount: 10.5 }, 'transactionAmount: Must be a whole number'],
    ['a currency of letters', { ...payment, currencyCode: 'EUR' }, 'currencyCode: Invalid'],
    ['EMV data', { ...payment, paymentDataType: 'EMV' }, 'paymentDataType: Must be one of 3DSecure'],
    ['no cryptogram', { ...payment, paymentData: {} }, 'paymentData.onlinePaymentCryptogram: Required'],
  ])('%s is refused, and nothing of it told', (_, content, reason) => {
    const opened = open(apple.pay(merchant, { content }))
    expect(opened).toEqual(invalid(reason))
    expect(JSON.stringify(opened)).not.toMatch(/4200|9876/)
  })
})
