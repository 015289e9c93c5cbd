import { compileInput, type Problem } from '@tollgate/kit/shape'
import { expect, test } from 'vitest'
import type { Simulation } from '../acquirers/acquirer.ts'
import { SimulationShape } from './simulation-shape.ts'

const read = compileInput(SimulationShape, {
  absent: (value) => value === null || value === false || value === '',
  convertJson: true,
  caseInsensitive: false,
})

function take(input: unknown) {
  const problems: Problem[] = []
  const value: Simulation = read(input, 'json', problems)
  return problems.length > 0 ? problems.map(({ path, message }) => [path, message]) : value
}

test('everything can be told, and nothing has to be', () => {
  const all: Simulation = {
    card: {
      scheme: 'unsupported',
      code: 'invalid',
      status: 'lost',
      limit: { currency: 'EUR', exponent: 2, value: 0 },
      balance: { currency: 'JPY', exponent: 0, value: Number.MAX_SAFE_INTEGER },
    },
    fingerprint: 'timeout',
    tds: { fingerprint: 'unavailable', challenge: false, status: 'attempted' },
    acquirer: { latency: 30_000, authorize: 'lost', capture: 'unanswered', refund: 'late', void: 'declined' },
  }
  expect(take(all)).toEqual(all)
  expect(take({})).toEqual({})
  expect(take({ card: {}, tds: null, acquirer: { latency: 0 } })).toEqual({ card: {}, acquirer: { latency: 0 } })
})

test.each([
  [{ card: { status: 'stolen' } }, 'card.status', 'Must be one of valid, invalid, expired, disabled, lost'],
  [{ card: { scheme: 'visa' } }, 'card.scheme', 'Must be one of supported, unsupported, unknown'],
  [{ card: { code: 123 } }, 'card.code', 'Must be one of valid, invalid'],
  [{ card: 'lost' }, 'card', 'Must be an object'],
  [{ card: { limit: 100 } }, 'card.limit', 'Must be an object'],
  [{ card: { limit: { currency: 'EUR', value: 1 } } }, 'card.limit.exponent', 'Required'],
  [{ card: { limit: { currency: 'EUR', exponent: -1, value: 1 } } }, 'card.limit.exponent', 'Must be at least 0'],
  [{ card: { limit: { currency: 'EUR', exponent: 31, value: 1 } } }, 'card.limit.exponent', 'Must be at most 30'],
  [{ card: { limit: { currency: 'EUR', exponent: 2, value: 0.5 } } }, 'card.limit.value', 'Must be a whole number'],
  [{ card: { limit: { currency: 'EUR', exponent: 2, value: -1 } } }, 'card.limit.value', 'Must be at least 0'],
  [{ card: { balance: { currency: 'eur', exponent: 2, value: 1 } } }, 'card.balance.currency', 'Must be a valid currency'],
  [{ card: { balance: { currency: 'XXX', exponent: 2, value: 1 } } }, 'card.balance.currency', 'Must be a valid currency'],
  [{ tds: { status: 'yes' } }, 'tds.status', 'Must be one of authenticated, rejected, unavailable, attempted'],
  [{ tds: { challenge: 'perhaps' } }, 'tds.challenge', 'Must be true or false'],
  [{ fingerprint: 'unavailable' }, 'fingerprint', 'Must be one of success, timeout'],
  [{ acquirer: { latency: 30_001 } }, 'acquirer.latency', 'Must be at most 30000'],
  [{ acquirer: { latency: -1 } }, 'acquirer.latency', 'Must be at least 0'],
  [{ acquirer: { capture: 'slow' } }, 'acquirer.capture', 'Must be one of lost, unanswered, late, declined'],
])('%j is refused, and the field is named', (input, path, message) => {
  expect(take(input)).toEqual([[path, message]])
})
