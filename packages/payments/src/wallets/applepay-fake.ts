import { createCipheriv, createHash, diffieHellman, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { tagged } from './der.ts'
import { der, ecdsaWithSha256, integer, issueCertificate, name, octets, openDer, sequence, set, utcTime } from './der-fake.ts'

const marks = { leaf: '1.2.840.113635.100.6.29', intermediate: '1.2.840.113635.100.6.2.14' }
const sha256 = sequence(name('2.16.840.1.101.3.4.2.1'))
const data = name('1.2.840.113549.1.7.1')

/** A token as it goes over the wire. */
export type WireToken = {
  version: string
  data: string
  signature: string
  header: { ephemeralPublicKey: string; publicKeyHash: string; transactionId: string; applicationData?: string }
}

export type Signing = {
  /** When, if at all. */
  time?: Date | undefined
  attributes?(own: Buffer[]): Buffer[]
  certificates?: readonly Buffer[]
  content?: Buffer
  signers?: 1 | 2
  lengths?: 'open' | 'known'
}

export const payment = {
  applicationPrimaryAccountNumber: '4200009876540000',
  applicationExpirationDate: '321231',
  currencyCode: '978',
  transactionAmount: 1050,
  deviceManufacturerIdentifier: '040010030273',
  paymentDataType: '3DSecure',
  paymentData: { onlinePaymentCryptogram: 'Af9x/QwAA/DjmU65oyc1MAABAAA=', eciIndicator: '5' },
}

/** Somebody who does what Apple does, with keys of their own: they vouch for, sign and encrypt payments. */
export function fakeApple(now: Date) {
  const [root, intermediate, leaf] = [newKey('P-384'), newKey('P-256'), newKey('P-256')]
  const certificates = {
    root: { subject: 'Root', issuer: 'Root', publicKey: root.publicKey, privateKey: root.privateKey, ca: true },
    intermediate: {
      subject: 'Intermediate',
      issuer: 'Root',
      publicKey: intermediate.publicKey,
      privateKey: root.privateKey,
      ca: true,
      marks: [marks.intermediate],
    },
    leaf: {
      subject: 'Leaf',
      issuer: 'Intermediate',
      publicKey: leaf.publicKey,
      privateKey: intermediate.privateKey,
      ca: false,
      marks: [marks.leaf],
    },
  }
  const chain = [issueCertificate(certificates.leaf), issueCertificate(certificates.intermediate)]

  /** RFC 5652, with the open lengths that Apple writes. */
  function signatureOf(content: Buffer, signing: Signing): Buffer {
    const { certificates = chain, signers = 1, lengths = 'open' } = signing
    const own = [
      attribute('1.2.840.113549.1.9.3', data),
      ...('time' in signing && !signing.time ? [] : [attribute('1.2.840.113549.1.9.5', utcTime(signing.time ?? now))]),
      attribute('1.2.840.113549.1.9.4', octets(createHash('sha256').update(content).digest())),
    ]
    const attributes = signing.attributes?.(own) ?? own
    const signature = octets(sign('sha256', set(...attributes), leaf.privateKey))
    const signer = sequence(integer(1), sequence(), sha256, der(tagged(0), ...attributes), ecdsaWithSha256, signature)
    const wrap = lengths === 'open' ? openDer : der
    const enclosed = signing.content ? [wrap(tagged(0), octets(signing.content))] : []
    const body = wrap(
      0x30,
      integer(1),
      set(sha256),
      wrap(0x30, data, ...enclosed),
      wrap(tagged(0), ...certificates),
      set(...Array.from({ length: signers }, () => signer)),
    )
    return wrap(0x30, name('1.2.840.113549.1.7.2'), wrap(tagged(0), body))
  }

  /** Encrypts for whoever has the key, and signs. */
  function pay(
    merchant: { merchantId: string; publicKey: KeyObject },
    { content = payment, signing = {}, applicationData }: { content?: unknown; signing?: Signing; applicationData?: string } = {},
  ): WireToken {
    const ephemeral = newKey('P-256')
    const ephemeralPublicKey = ephemeral.publicKey.export({ format: 'der', type: 'spki' })
    const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: merchant.publicKey })
    const info = Buffer.concat([Buffer.from('\x0did-aes256-GCMApple'), sha256Of(merchant.merchantId)])
    const key = sha256Of(Buffer.concat([Buffer.from([0, 0, 0, 1]), shared, info]))
    const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(16))
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const encrypted = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
    const transactionId = sha256Of(ephemeralPublicKey)
    const signed = Buffer.concat([ephemeralPublicKey, encrypted, transactionId, Buffer.from(applicationData ?? '', 'hex')])
    return {
      version: 'EC_v1',
      data: encrypted.toString('base64'),
      signature: signatureOf(signed, signing).toString('base64'),
      header: {
        ephemeralPublicKey: ephemeralPublicKey.toString('base64'),
        publicKeyHash: publicKeyHash(merchant.publicKey),
        transactionId: transactionId.toString('hex'),
        ...(applicationData !== undefined && { applicationData }),
      },
    }
  }

  return { root: pem(issueCertificate(certificates.root)), certificates, chain, pay }
}

/** Somebody who accepts payments, and what they put into their settings. */
export function fakeMerchant(merchantId = 'merchant.com.example.shop') {
  const { publicKey, privateKey } = newKey('P-256')
  const setting = `${merchantId}=${privateKey.export({ format: 'pem', type: 'pkcs8' })}`
  return { merchantId, publicKey, setting }
}

export function newKey(namedCurve: 'P-256' | 'P-384') {
  return generateKeyPairSync('ec', { namedCurve })
}

export function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function attribute(type: string, value: Buffer): Buffer {
  return sequence(name(type), set(value))
}

function publicKeyHash(key: KeyObject): string {
  return sha256Of(key.export({ format: 'der', type: 'spki' })).toString('base64')
}

function sha256Of(content: Buffer | string): Buffer {
  return createHash('sha256').update(content).digest()
}
