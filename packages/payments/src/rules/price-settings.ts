import type { Read } from '@tollgate/kit/env'
import { fundingCurrencies } from './currencies.ts'
import type { Price } from './fees.ts'
import { parseMajor } from './money.ts'

/** What new merchants pay. Those that are there already keep their price. */
export function priceSettings(read: Read): Price {
  return read.group('Prices', () => ({
    rate: read.parsed(
      'fraction',
      'PRICE_RATE',
      '0.025',
      'The share of every captured amount that a new merchant pays: 0.025 is 2.5 %',
      parseFraction,
      { shown: '0.025' },
    ),
    flat: read.parsed(
      'amount of money',
      'PRICE_FLAT',
      { currency: 'EUR', amount: 25 },
      'What a new merchant pays for every capture besides',
      parseSum,
      { shown: 'EUR 0.25' },
    ),
    dispute: read.parsed(
      'amount of money',
      'PRICE_DISPUTE',
      { currency: 'EUR', amount: 1500 },
      'What a dispute costs a new merchant, unless it is won',
      parseSum,
      { shown: 'EUR 15' },
    ),
  }))
}

type Expected = { expected: string }

/** Kept as text, for a binary number would not be exactly what somebody agreed to. */
export function parseFraction(text: string): string | Expected {
  return /^0(\.\d{1,8})?$/.test(text) ? text : { expected: 'a fraction below 1 with at most eight decimals, such as 0.025' }
}

/** `EUR 0.25` → `{ currency: 'EUR', amount: 25 }`. Every currency that merchants are paid in has two decimals. */
export function parseSum(text: string): { currency: string; amount: number } | Expected {
  const [, currency = '', number = ''] = /^([A-Z]{3}) (\d{1,10}(?:\.\d{1,2})?)$/.exec(text) ?? []
  const amount = fundingCurrencies.includes(currency) ? parseMajor(number, currency) : undefined
  if (amount === undefined)
    return { expected: `a currency among ${fundingCurrencies.join(', ')} and an amount, such as EUR 0.25` }
  return { currency, amount }
}
