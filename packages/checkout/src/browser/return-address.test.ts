import { expect, test } from 'vitest'
import { returnAddress } from './return-address.ts'

test.each([
  ['https://shop.test', 'https://shop.test/?transactionId=abc'],
  ['https://shop.test/done', 'https://shop.test/done?transactionId=abc'],
  ['https://shop.test/done?order=1&name=a%20b+c', 'https://shop.test/done?order=1&name=a%20b+c&transactionId=abc'],
  ['https://shop.test/done?flag#part', 'https://shop.test/done?flag&transactionId=abc#part'],
])('%s becomes %s', (before, after) => {
  expect(returnAddress(before, 'abc')).toBe(after)
})
