import type { App } from '../app.ts'
import { fail, unfit } from '../errors.ts'
import { convert, isStale, type Rate } from '../rules/exchange.ts'

type Exchanged = { gross: number; rate: Rate | undefined }

/** What an amount is worth in another currency, and by which rate. */
export function exchange(
  { config, rates, now }: Pick<App, 'config' | 'rates' | 'now'>,
  amount: number,
  from: string,
  to: string,
  age: 'recent' | 'any age' = 'recent',
): Exchanged {
  if (from === to) return { gross: amount, rate: undefined }
  const rate = rates.find(from, to)
  if (!rate) throw fail('exchange_unavailable', { message: `There is no exchange rate from ${from} to ${to}` })
  if (age === 'recent' && isStale(rate, now(), config.exchange.maxAge))
    throw fail('exchange_unavailable', {
      message: `The newest exchange rate from ${from} to ${to} is of ${rate.day}, too old to use`,
    })
  try {
    return { gross: convert(amount, rate), rate }
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem
    throw unfit('amount', `Too large to be exchanged into ${to}`)
  }
}
