import { generateKeyPairSync } from 'node:crypto'
import { type ConfigProblem, defineSettings } from '@tollgate/kit/env'
import { expect, test } from 'vitest'
import { fakeApple, fakeMerchant, newKey, pem } from './applepay-fake.ts'
import { issueCertificate } from './der-fake.ts'
import { fakeGoogle, fakeRecipient } from './googlepay-fake.ts'
import { walletSettings } from './wallet-settings.ts'

const settings = defineSettings({ prefix: 'PAY', title: 'the test' }, walletSettings)
const apple = fakeApple(new Date('2030-01-02T03:04:05Z'))
const google = fakeGoogle()

const complete = {
  PAY_APPLEPAY_KEYS: fakeMerchant('merchant.com.example').setting,
  PAY_APPLEPAY_ROOT: apple.root,
  PAY_GOOGLEPAY_KEYS: fakeRecipient().setting,
  PAY_GOOGLEPAY_ROOT_KEYS: google.rootKeys('2154841200000'),
  PAY_GOOGLEPAY_RECIPIENT: 'gateway:tollgate',
}

function complaints(env: Record<string, string>): readonly string[] {
  try {
    settings.read(env)
    return []
  } catch (problem) {
    return (problem as ConfigProblem).complaints
  }
}

test('nothing is required where no wallet is taken', () => {
  const { applePay, googlePay } = settings.read({}).config
  expect(applePay).toEqual({ keys: undefined, root: undefined, maxAge: 600 })
  expect(googlePay).toEqual({ keys: undefined, rootKeys: [], recipient: undefined })
})

test('several keys are taken, with line breaks as they are or written as \\n, in either form of PEM', () => {
  const older = newKey('P-256').privateKey.export({ format: 'pem', type: 'sec1' })
  const list = `${complete.PAY_APPLEPAY_KEYS.replaceAll('\n', '\\n')}, merchant.com.example.old=${older}`
  const keys = settings.read({ ...complete, PAY_APPLEPAY_KEYS: list }).config.applePay.keys?.reveal() ?? []
  expect(keys.map(({ merchantId }) => merchantId)).toEqual(['merchant.com.example', 'merchant.com.example.old'])
  const twice = `${complete.PAY_GOOGLEPAY_KEYS},${fakeRecipient().setting}`
  expect(settings.read({ ...complete, PAY_GOOGLEPAY_KEYS: twice }).config.googlePay.keys?.reveal()).toHaveLength(2)
})

test("of Google's keys those of the protocol are kept", () => {
  expect(settings.read(complete).config.googlePay.rootKeys).toEqual([{ keyValue: expect.any(String), expires: 2154841200000 }])
})

test('whoever has keys needs to know whom to believe', () => {
  const { PAY_APPLEPAY_KEYS, PAY_GOOGLEPAY_KEYS } = complete
  expect(complaints({ PAY_APPLEPAY_KEYS, PAY_GOOGLEPAY_KEYS })).toEqual([
    expect.stringContaining('PAY_APPLEPAY_ROOT is not set although PAY_APPLEPAY_KEYS is set'),
    expect.stringContaining('PAY_GOOGLEPAY_ROOT_KEYS is not set although PAY_GOOGLEPAY_KEYS is set'),
    expect.stringContaining('PAY_GOOGLEPAY_RECIPIENT is not set although PAY_GOOGLEPAY_KEYS is set'),
  ])
})

const { leaf } = apple.certificates
const otherCurve = String(newKey('P-384').privateKey.export({ format: 'pem', type: 'pkcs8' }))
const rsa = String(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }))
const publicHalf = String(newKey('P-256').publicKey.export({ format: 'pem', type: 'spki' }))

test.each([
  ['PAY_APPLEPAY_KEYS', complete.PAY_GOOGLEPAY_KEYS, 'look at entry 1'],
  ['PAY_APPLEPAY_KEYS', `${complete.PAY_APPLEPAY_KEYS},`, 'look at entry 2'],
  ['PAY_APPLEPAY_KEYS', `merchant.com.example=${otherCurve}`, 'look at entry 1'],
  ['PAY_APPLEPAY_KEYS', `${complete.PAY_APPLEPAY_KEYS},merchant.com.example=${rsa}`, 'look at entry 2'],
  ['PAY_APPLEPAY_KEYS', `merchant.com.example=${publicHalf}`, 'look at entry 1'],
  ['PAY_APPLEPAY_KEYS', 'merchant.com.example=secret', 'look at entry 1'],
  ['PAY_GOOGLEPAY_KEYS', otherCurve, 'look at entry 1'],
  ['PAY_GOOGLEPAY_KEYS', 'secret', 'look at entry 1'],
  ['PAY_APPLEPAY_ROOT', 'x', 'the certificate of a certificate authority'],
  ['PAY_APPLEPAY_ROOT', pem(issueCertificate(leaf)), 'the certificate of a certificate authority'],
  ['PAY_APPLEPAY_ROOT', pem(Buffer.from('3000', 'hex')), 'the certificate of a certificate authority'],
  ['PAY_APPLEPAY_MAX_AGE', '5', 'PAY_APPLEPAY_MAX_AGE'],
  ['PAY_GOOGLEPAY_RECIPIENT', 'tollgate', 'gateway:<id> or merchant:<id>'],
  ['PAY_GOOGLEPAY_ROOT_KEYS', 'x', 'it is not JSON'],
  ['PAY_GOOGLEPAY_ROOT_KEYS', '{"keys":[]}', 'at least one key'],
  ['PAY_GOOGLEPAY_ROOT_KEYS', '{"keys":[{"keyValue":"AAAA","protocolVersion":"ECv2"}]}', 'at least one key'],
  ['PAY_GOOGLEPAY_ROOT_KEYS', '{"keys":[{"keyValue":"AAAA","protocolVersion":"ECv1"}]}', 'at least one key'],
  ['PAY_GOOGLEPAY_ROOT_KEYS', '{"keys":[{"protocolVersion":"ECv2"}]}', 'keys.0.keyValue: Required'],
])('%s is complained about when it is none (%#), without a word of a key', (name, value, expected) => {
  const [complaint, ...others] = complaints({ ...complete, [name]: value })
  expect(complaint).toContain(expected)
  expect(complaint).not.toContain('secret')
  if (name.endsWith('PAY_KEYS')) expect(complaint).not.toMatch(/MI[GHI]/)
  expect(others).toEqual([])
})
