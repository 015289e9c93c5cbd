import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AuthorizeAsk, MoveAsk, Simulation } from '../acquirers/acquirer.ts'
import { declineAuthorization, declineMove, isCounted, latencyOf, mishapOf, type Standing } from './simulation.ts'

const now = new Date('2030-01-02T03:04:05.678Z')

const payment: AuthorizeAsk = {
  reference: 'a',
  again: false,
  merchantId: 'm',
  currency: 'EUR',
  amount: 1000,
  descriptor: 'Shop',
  card: { bin: '410000', last4: '0000', expiry: new Date('2030-12-31T23:59:59.999Z'), scheme: 'visa', codePresent: true },
  previous: undefined,
  simulation: undefined,
}

const capture: MoveAsk = {
  reference: 'b',
  again: false,
  merchantId: 'm',
  currency: 'EUR',
  amount: 1000,
  kind: 'capture',
  descriptor: 'Shop',
  authorization: { reference: 'a', acquirerReference: 'a', amount: 1000 },
  endsAuthorization: false,
  simulation: undefined,
}

function decline(change: Partial<AuthorizeAsk>, drawn = 0n) {
  return declineAuthorization({ ...payment, ...change }, { now, drawn })
}

const euros = (value: number, exponent = 2) => ({ currency: 'EUR', exponent, value })

describe('payments', () => {
  test.each<[string, Simulation | undefined, number | undefined]>([
    ['nothing', undefined, undefined],
    ['an empty object', {}, undefined],
    ['all that is well', { card: { scheme: 'supported', code: 'valid', status: 'valid' } }, undefined],
    ['an unsupported scheme', { card: { scheme: 'unsupported' } }, 29],
    ['an unknown scheme', { card: { scheme: 'unknown' } }, 29],
    ['a wrong security code', { card: { code: 'invalid' } }, 4],
    ['an invalid card', { card: { status: 'invalid' } }, 3],
    ['an expired card', { card: { status: 'expired' } }, 6],
    ['a disabled card', { card: { status: 'disabled' } }, 9],
    ['a lost card', { card: { status: 'lost' } }, 10],
    ['a limit of just as much', { card: { limit: euros(1000) } }, undefined],
    ['a limit of a cent less', { card: { limit: euros(999) } }, 25],
    ['a limit of nothing', { card: { limit: euros(0) } }, 25],
    ['a balance of just as much', { card: { balance: euros(1000) } }, undefined],
    ['a balance of a cent less', { card: { balance: euros(999) } }, 7],
    ['a limit in whole euros', { card: { limit: euros(10, 0) } }, undefined],
    ['a limit one tenth of a cent short', { card: { limit: euros(9999, 3) } }, 25],
    ['a limit in another currency', { card: { limit: { currency: 'DKK', exponent: 2, value: 1_000_000 } } }, 25],
    ['a balance in another currency', { card: { balance: { currency: 'DKK', exponent: 2, value: 1_000_000 } } }, 7],
    ['3-D Secure that succeeds', { tds: { status: 'authenticated' } }, undefined],
    ['3-D Secure that is attempted', { tds: { status: 'attempted' } }, undefined],
    ['3-D Secure that is rejected', { tds: { status: 'rejected' } }, 31],
    ['3-D Secure that is unavailable', { tds: { status: 'unavailable' } }, 30],
    ['a bank that says no', { acquirer: { authorize: 'declined' } }, 8],
    ['a bank that says no to captures', { acquirer: { capture: 'declined' } }, undefined],
  ])('%s', (_, simulation, code) => {
    expect(decline({ simulation })).toBe(code)
  })

  test.each([
    ['a card that declines', '410000', '0007', 1000, 7],
    ['a card whose amount says that it is lost', '420000', '0000', 40412, 10],
    ['a card whose amount says nothing', '555555', '4444', 1000, 3],
    ['a card whose amount approves', '420000', '0000', 20000, undefined],
    ['a card that nobody knows', '411111', '1111', 40412, undefined],
  ])('%s', (_, bin, last4, amount, code) => {
    expect(decline({ amount, card: { ...payment.card, bin, last4 } })).toBe(code)
  })

  test('an expiry that has passed is code 6, one millisecond before it is not', () => {
    expect(decline({ card: { ...payment.card, expiry: new Date(now.getTime() - 1) } })).toBe(6)
    expect(decline({ card: { ...payment.card, expiry: now } })).toBeUndefined()
  })

  test('a currency that there is not is code 1', () => {
    expect(decline({ currency: 'XXX' })).toBe(1)
  })

  test('without the customer neither security code nor 3-D Secure can fail, but the card can', () => {
    const previous = { reference: 'first', acquirerReference: undefined }
    expect(decline({ previous, simulation: { card: { code: 'invalid' }, tds: { status: 'rejected' } } })).toBeUndefined()
    expect(decline({ previous, simulation: { card: { status: 'lost' } } })).toBe(10)
  })

  test.each([
    ['JPY', 500, { currency: 'JPY', exponent: 0, value: 500 }, undefined],
    ['JPY', 501, { currency: 'JPY', exponent: 0, value: 500 }, 25],
    ['JPY', 5, { currency: 'JPY', exponent: 2, value: 500 }, undefined],
    ['JPY', 6, { currency: 'JPY', exponent: 2, value: 500 }, 25],
    ['KWD', 5000, { currency: 'KWD', exponent: 2, value: 500 }, undefined],
    ['KWD', 5001, { currency: 'KWD', exponent: 2, value: 500 }, 25],
    ['EUR', Number.MAX_SAFE_INTEGER, euros(Number.MAX_SAFE_INTEGER - 1), 25],
    ['EUR', Number.MAX_SAFE_INTEGER, euros(Number.MAX_SAFE_INTEGER, 0), undefined],
  ])('%s %d against a limit of %j', (currency, amount, limit, code) => {
    expect(decline({ currency, amount, simulation: { card: { limit } } })).toBe(code)
  })

  test('what was drawn before counts against the balance, and not against the limit', () => {
    expect(decline({ simulation: { card: { balance: euros(1500) } } }, 500n)).toBeUndefined()
    expect(decline({ simulation: { card: { balance: euros(1500) } } }, 501n)).toBe(7)
    expect(decline({ simulation: { card: { limit: euros(1000) } } }, 501n)).toBeUndefined()
  })

  test('only a balance makes what came before matter', () => {
    expect(isCounted({ ...payment, simulation: { card: { balance: euros(1) } } })).toBe(true)
    expect(isCounted({ ...payment, simulation: { card: { limit: euros(1) } } })).toBe(false)
    expect(isCounted(payment)).toBe(false)
  })
})

describe('movements', () => {
  const standing: Standing = { amount: 1000, currency: 'EUR', captured: 600, refunded: 100, voided: 50 }

  test.each([
    ['capture', 350, undefined],
    ['capture', 351, 12],
    ['void', 350, undefined],
    ['void', 351, 12],
    ['refund', 500, undefined],
    ['refund', 501, 12],
    ['capture', 0, 12],
    ['refund', -1, 12],
  ] as const)('a %s of %d gives %s', (kind, amount, code) => {
    expect(declineMove({ ...capture, kind, amount }, standing)).toBe(code)
  })

  test('another currency, or an authorization that there is not, is code 12', () => {
    expect(declineMove({ ...capture, currency: 'DKK', amount: 1 }, standing)).toBe(12)
    expect(declineMove({ ...capture, amount: 1 }, undefined)).toBe(12)
  })

  test('a bank that says no is code 8', () => {
    expect(declineMove({ ...capture, amount: 1, simulation: { acquirer: { capture: 'declined' } } }, standing)).toBe(8)
    expect(declineMove({ ...capture, amount: 1, simulation: { acquirer: { refund: 'declined' } } }, standing)).toBeUndefined()
  })

  test('whatever is asked, no more is moved than there is', () => {
    const kind = fc.constantFrom('capture' as const, 'refund' as const, 'void' as const)
    const moves = fc.array(fc.record({ kind, amount: fc.integer({ min: -5, max: 60 }) }), { maxLength: 40 })
    fc.assert(
      fc.property(moves, (moves) => {
        const books = { amount: 100, currency: 'EUR', captured: 0, refunded: 0, voided: 0 }
        const sums = { capture: 'captured', refund: 'refunded', void: 'voided' } as const
        for (const move of moves) {
          if (declineMove({ ...capture, ...move }, books) === undefined) books[sums[move.kind]] += move.amount
          expect(books.captured + books.voided).toBeLessThanOrEqual(100)
          expect(books.refunded).toBeLessThanOrEqual(books.captured)
          expect(Math.min(books.captured, books.refunded, books.voided)).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})

test('a mishap befalls the operation that it is named for', () => {
  const simulation: Simulation = { acquirer: { authorize: 'lost', capture: 'late', void: 'unanswered' } }
  expect(mishapOf({ ...payment, simulation })).toBe('lost')
  expect(mishapOf({ ...capture, simulation })).toBe('late')
  expect(mishapOf({ ...capture, kind: 'void', simulation })).toBe('unanswered')
  expect(mishapOf({ ...capture, kind: 'refund', simulation })).toBeUndefined()
})

test('no answer takes longer than 30 seconds', () => {
  expect(latencyOf(payment)).toBe(0)
  expect(latencyOf({ ...payment, simulation: { acquirer: { latency: 250 } } })).toBe(250)
  expect(latencyOf({ ...payment, simulation: { acquirer: { latency: 1e9 } } })).toBe(30_000)
})
