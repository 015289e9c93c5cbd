import { expect, test } from 'vitest'
import { parseRedirect, readLink, readParameters } from './payment-link.ts'

const shop = { test: false, currency: 'DKK' }
const testShop = { test: true, currency: 'EUR' }

const read = (query: string, payee = shop) => readLink(readParameters(query), payee)

test('a link says everything', () => {
  const query = 'currency=EUR&value=12.5&reference=A+1&text=Two%20cups&redirect=https://shop.test/done?a=1%23b&recurring=y'
  expect(read(query)).toEqual({
    currency: 'EUR',
    amount: 1250,
    reference: 'A 1',
    text: 'Two cups',
    redirect: 'https://shop.test/done?a=1#b',
    recurring: true,
  })
})

test('a link without an amount leaves it to the payer, in the currency of the merchant', () => {
  expect(read('value=&recurring=n')).toEqual({ currency: 'DKK', amount: undefined, recurring: false })
})

test.each([
  ['value=12', 1200],
  ['value=0.01', 1],
  ['value=12.345', 1235],
  ['value=0.30000000000000004', 30],
  ['value=12&currency=JPY', 12],
  ['value=1.5&currency=KWD', 1500],
  ['amount=1234', 1234],
  ['amount=99&value=12', 1200],
  ['value=1&value=2', 200],
])('%s is %i minor units', (query, amount) => {
  expect(read(query)).toMatchObject({ amount })
})

test.each([
  ...['0', '0.001', '-1', '1e3', '1,50', '12.', '.5', ' 1', '0x10', 'NaN', '99999999999999999', '1'.repeat(400)].map(
    (each) => `value=${each}`,
  ),
  ...['0', '-1', '1.5', '99999999999999999'].map((each) => `amount=${each}`),
])('%s is no amount', (query) => {
  expect(read(query)).toEqual({ problem: 'amount' })
})

test.each(['eur', 'XXX', 'HRK', '€', 'EURO'])('%s is no currency to pay in', (currency) => {
  expect(read(`currency=${encodeURIComponent(currency)}`)).toEqual({ problem: 'currency' })
})

test('test merchants want test=1, real ones do not', () => {
  expect(read('value=1', testShop)).toEqual({ problem: 'test missing' })
  expect(read('value=1&test=0', testShop)).toEqual({ problem: 'test missing' })
  expect(read('value=1&test=1', testShop)).toMatchObject({ amount: 100 })
  expect(read('value=1&test=1')).toEqual({ problem: 'test unexpected' })
  expect(read('value=1&test=true')).toEqual({ problem: 'test unexpected' })
})

test('a text that goes on for ever is refused', () => {
  expect(read(`text=${'a'.repeat(1025)}`)).toEqual({ problem: 'text' })
  expect(read(`reference=${'a'.repeat(1025)}`)).toEqual({ problem: 'text' })
})

test('percent signs that stand for nothing are taken as they are, for such links are written by hand', () => {
  expect(read('text=100%&value=1')).toMatchObject({ text: '100%' })
})

test('names that objects have by themselves are no parameters', () => {
  expect(readParameters('a=1').constructor).toBeUndefined()
  expect(readParameters('__proto__=1&toString=2').currency).toBeUndefined()
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)//https://shop.test',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'ftp://shop.test/',
  'com.app://open',
  '//shop.test/',
  '/done',
  'shop.test',
  'https:shop.test',
  'https:///shop.test',
  'https:\\\\shop.test',
  'https://shop.test\\@evil.test',
  'https://user@shop.test/',
  'https://user:word@shop.test/',
  'https://@shop.test/',
  'https://:@shop.test/',
  'https://:@shop.test?a@b',
  'https://shop.test/\u0000',
  'https://shop.test/a b',
  'https://',
  `https://shop.test/${'a'.repeat(2048)}`,
])('nobody is sent to %j', (redirect) => {
  expect(parseRedirect(redirect, shop)).toBeUndefined()
  expect(parseRedirect(redirect, testShop)).toBeUndefined()
})

test.each(['https://shop.test/@ann', 'https://shop.test/?to=a@b.test', 'https://shop.test/#@'])(
  'an @ after the host names nobody: %s',
  (redirect) => {
    expect(parseRedirect(redirect, shop)).toBe(redirect)
  },
)

test('plain http is for tests and for the machine that one sits at', () => {
  expect(parseRedirect('http://shop.test/done', shop)).toBeUndefined()
  expect(parseRedirect('http://shop.test/done', testShop)).toBe('http://shop.test/done')
  expect(parseRedirect('http://localhost:3000/done', shop)).toBe('http://localhost:3000/done')
  expect(parseRedirect('http://127.0.0.1:3000/done', shop)).toBe('http://127.0.0.1:3000/done')
  expect(parseRedirect('HTTPS://Shop.test/Done?a=b#c', shop)).toBe('https://shop.test/Done?a=b#c')
})
