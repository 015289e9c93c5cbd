import { describe, expect, test } from 'vitest'
import { type Order, readWallet, type Wallet, type WalletKind, writeWallet } from './wallet.ts'

const now = new Date('2030-01-02T03:04:05Z')
const wallet = {
  transactionId: 'some-payment',
  expires: now.getTime(),
  number: '4200009876540000',
  month: 12,
  year: 2032,
  cryptogram: 'cryptogram-of-it',
  eci: '5',
  amount: { currency: '978', value: 1050 },
  merchant: undefined as string | undefined,
}
const order: Order = { amount: 1050, currency: 'EUR', merchantNames: ['some-key', 'some-id'], now }

function read(change: object, { kind = 'applepay' as WalletKind, ...asked }: Partial<Order> & { kind?: WalletKind } = {}) {
  return readWallet(kind, writeWallet({ ...wallet, ...change }).reveal(), { ...order, ...asked })
}

test('the card comes out, and cannot be printed', () => {
  const paid = read({}) as Wallet
  expect(paid).toMatchObject({ month: 12, year: 2032, eci: '5', transactionId: 'some-payment', tds: 'full' })
  expect(paid.number.reveal()).toBe(wallet.number)
  expect(paid.cryptogram?.reveal()).toBe(wallet.cryptogram)
  expect(JSON.stringify(paid)).not.toMatch(/4200|cryptogram-of-it/)
})

test('text that nobody of us wrote is refused', () => {
  for (const text of ['', '{}', 'null', '[]', JSON.stringify({ ...wallet, number: 'x' })])
    expect(readWallet('applepay', text, order)).toBe('TOKEN_INVALID')
})

test.each<[string, object, Partial<Order>]>([
  ['another amount', {}, { amount: 1051 }],
  ['another currency', {}, { currency: 'USD' }],
  ['minor units of another currency', { amount: { currency: '392', value: 1050 } }, { currency: 'JPY', amount: 105_000 }],
  ['krónur for aurar', { amount: { currency: '352', value: 100 } }, { currency: 'ISK', amount: 100 }],
  ['what is no currency', {}, { currency: 'XXX' }],
  ['an amount where there should be none', {}, { amount: 0 }],
])('%s is a mismatch', (_, change, asked) => {
  expect(read(change, asked)).toBe('PAYMENT_APPLEPAY_AMOUNT_MISMATCH')
})

test.each<[string, object, Partial<Order>]>([
  ['yen', { amount: { currency: '392', value: 1050 } }, { currency: 'JPY' }],
  ['dinars', { amount: { currency: '048', value: 1050 } }, { currency: 'BHD' }],
  ['krónur, which are hundreds of ours', { amount: { currency: '352', value: 100 } }, { currency: 'ISK', amount: 10_000 }],
  ['nothing', { amount: { currency: '978', value: 0 } }, { amount: 0 }],
  ['an order that leaves the amount open', {}, { amount: undefined }],
  ['a wallet that tells no amount', { amount: undefined }, { amount: 999, currency: 'USD' }],
])('%s: the amounts are the same', (_, change, asked) => {
  expect(read(change, asked)).toHaveProperty('transactionId')
})

test('after the last moment it has expired, which each wallet says in its own way', () => {
  expect(read({ expires: now.getTime() - 1 })).toBe('PAYMENT_APPLEPAY_EXPIRED')
  expect(read({ expires: now.getTime() - 1 }, { kind: 'googlepay' })).toBe('TOKEN_INVALID')
})

test('a token for one merchant does not pay another', () => {
  expect(read({ merchant: 'some-key' })).toHaveProperty('transactionId')
  expect(read({ merchant: 'some-id' })).toHaveProperty('transactionId')
  expect(read({ merchant: 'another-shop' })).toBe('TOKEN_INVALID')
})

describe('how far the payer was authenticated', () => {
  test.each([
    ['5', 'full'],
    ['05', 'full'],
    ['2', 'full'],
    ['02', 'full'],
    ['6', 'attempt'],
    ['01', 'attempt'],
    ['7', 'none'],
    ['07', 'none'],
    ['00', 'none'],
    ['0', 'none'],
    ['99', 'none'],
    ['', 'full'],
    [undefined, 'full'],
  ])('with a cryptogram and eci %s: %s', (eci, tds) => {
    expect(read({ eci })).toMatchObject({ tds })
  })

  test('without a cryptogram: not at all', () => {
    expect(read({ cryptogram: undefined, eci: '5' })).toMatchObject({ tds: 'none' })
  })
})
