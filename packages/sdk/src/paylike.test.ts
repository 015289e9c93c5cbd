import { expect, test } from 'vitest'
import { type Options, Paylike } from './paylike.ts'

test.each([undefined, null, 'the-key', 7])('called with %j, it says how to call it', (options) => {
  expect(() => Paylike(options as unknown as Options)).toThrow("Paylike({ key: '…' })")
})

test.each([undefined, '', '/pay', 'pay.example.com', 'javascript:alert(1)', 'file:///sdk', 'https://'])(
  'where the service is has to be a web address, not %j',
  (url) => {
    expect(() => Paylike({ key: 'key', url } as Options)).toThrow('url: must be the address of the payments service')
  },
)

test('what cannot be paid is told to the callback, after the call has returned', async () => {
  const told: unknown[] = []
  Paylike({ key: 'key', url: 'https://pay.example.com' }).pay({}, (...outcome) => told.push(...outcome))
  expect(told).toEqual([])
  await Promise.resolve()
  expect(told).toEqual([new Error('amount: missing, and so are plan and unplanned; give at least one of them')])
})

test('without a callback it is told to the promise', async () => {
  const shop = Paylike({ key: 'key', url: 'https://pay.example.com' })
  await expect(shop.pay({})).rejects.toThrow('amount: missing')
})

test('a callback that is none is refused at once', () => {
  const { pay } = Paylike({ key: 'key', url: 'https://pay.example.com' })
  expect(() => pay({}, 'paid' as never)).toThrow('pay: the second argument must be a function')
})
