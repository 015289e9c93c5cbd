import { expect, test } from 'vitest'
import { type LinkWishes, makeLink } from './link-address.ts'
import { readLink, readParameters } from './payment-link.ts'

const key = '6d0cd4c2-1111-4222-8333-444455556666'
const shop = { key, test: false, currency: 'DKK', name: null, website: 'https://shop.test' }
const testShop = { ...shop, test: true, currency: 'EUR', name: 'Tea & Toast' }
const pos = 'https://pay.example.com/pos'

const make = (wishes: LinkWishes, payee: Parameters<typeof makeLink>[1] = shop, posUrl = pos) => makeLink(posUrl, payee, wishes)

test('without any wish the link names the merchant, and the payer says how much', () => {
  expect(make({})).toEqual({ url: `${pos}?key=${key}`, label: 'Pay https://shop.test' })
  expect(make({}, testShop)).toEqual({ url: `${pos}?key=${key}&test=1`, label: 'Pay Tea & Toast' })
})

test('the page reads back all that was wished', () => {
  const wishes = { currency: 'EUR', value: '12.50', reference: 'A 1', text: 'Brød & smør?', locale: 'da', recurring: true }
  const made = make({ ...wishes, redirect: 'https://shop.test/done?a=1&b=2#c' }, testShop)
  if ('field' in made) throw new Error(made.message)
  const parameters = readParameters(new URL(made.url).search)
  expect({ ...parameters }).toMatchObject({ key, test: '1', value: '12.5', locale: 'da' })
  expect(readLink(parameters, testShop)).toEqual({
    currency: 'EUR',
    amount: 1250,
    reference: 'A 1',
    text: 'Brød & smør?',
    redirect: 'https://shop.test/done?a=1&b=2#c',
    recurring: true,
  })
  expect(made.label).toBe('Pay Tea & Toast: EUR 12.5')
})

test.each<[LinkWishes, string]>([
  [{ amount: 1250 }, 'currency=DKK&value=12.5'],
  [{ amount: 1250, currency: 'JPY' }, 'currency=JPY&value=1250'],
  [{ amount: 1250, currency: 'KWD' }, 'currency=KWD&value=1.25'],
  [{ value: '12' }, 'currency=DKK&value=12'],
  [{ value: '0.30000000000000004' }, 'currency=DKK&value=0.3'],
  [{ currency: 'EUR' }, 'currency=EUR'],
  [{ recurring: false }, ''],
])('%j is written %s', (wishes, written) => {
  expect(make(wishes)).toMatchObject({ url: `${pos}?key=${key}${written && `&${written}`}` })
})

test('what the address of the page has already is kept', () => {
  expect(make({ value: '1' }, shop, 'https://pos.example.com/?skin=dark')).toMatchObject({
    url: `https://pos.example.com/?skin=dark&key=${key}&currency=DKK&value=1`,
  })
})

test.each<[LinkWishes, keyof LinkWishes, RegExp]>([
  [{ currency: 'HRK' }, 'currency', /^Must be the code of a currency/],
  [{ currency: 'eur' }, 'currency', /^Must be the code of a currency/],
  [{ value: '12,50' }, 'value', /with a point before its decimals/],
  [{ value: '-1' }, 'value', /^Must be an amount/],
  [{ value: '0' }, 'value', /^Must be an amount/],
  [{ value: '99999999999999999' }, 'value', /^Must be an amount/],
  [{ amount: 0 }, 'amount', /^Must be a whole number of at least 1/],
  [{ amount: 5, value: '5' }, 'value', /^Cannot be there together with amount/],
  [{ redirect: 'javascript:alert(1)' }, 'redirect', /begins with https:\/\/$/],
  [{ redirect: 'shop://done' }, 'redirect', /^Must be a web address/],
  [{ redirect: 'http://shop.test' }, 'redirect', /^Must be a web address/],
  [{ redirect: '//shop.test' }, 'redirect', /^Must be a web address/],
  [{ locale: 'Danish' }, 'locale', /^Must be a language/],
  [{ locale: 'da&x=y' }, 'locale', /^Must be a language/],
  [{ text: 'x'.repeat(1025) }, 'text', /^Must be at most 1024 characters long$/],
  [{ reference: 'x'.repeat(1025) }, 'reference', /^Must be at most 1024 characters long$/],
  [{ text: 'ø'.repeat(1024), reference: 'a' }, 'text', /^Must be shorter: a QR code holds 2331 characters, and .* have \d{4}$/],
  [{ text: 'a', redirect: `https://shop.test/${'ø'.repeat(700)}` }, 'redirect', /^Must be shorter/],
])('%j is refused at %s', (wishes, field, message) => {
  expect(make(wishes)).toEqual({ field, message: expect.stringMatching(message) })
})

test('a test merchant may send payers to an address that is not encrypted', () => {
  expect(make({ redirect: 'http://shop.test' }, testShop)).toMatchObject({
    url: `${pos}?key=${key}&test=1&redirect=http%3A%2F%2Fshop.test%2F`,
  })
})
