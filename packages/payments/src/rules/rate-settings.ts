import type { Read } from '@tollgate/kit/env'
import { isHeaderName } from '@tollgate/kit/header-names'
import { parseRate, type Rate } from '@tollgate/kit/rate'

/** How often one caller may try. Callers are told apart by a header that the operator's proxy sets; without one, none of them is limited. */
export function rateSettings(read: Read) {
  const rate = (name: string, shown: string, sentence: string): Rate =>
    read.parsed(
      'rate',
      name,
      parseRate(shown) as Rate,
      `${sentence}: a number an hour, or a number and how often one more may be`,
      (text) => parseRate(text) ?? { expected: 'a number an hour such as 30, or a rate such as 10/5m' },
      { shown, example: '10/5m' },
    )
  return read.group('Rate limits', () => ({
    header: read.parsed(
      'header',
      'RATE_LIMIT_HEADER',
      undefined,
      'The header that tells callers apart, set by your proxy; without it no caller is limited',
      (text) => (isHeaderName(text) ? text : { expected: 'the name of a header' }),
      { example: 'X-Forwarded-For' },
    ),
    declined: rate('RATE_LIMIT_DECLINED', '20/1m', 'How many payments of one caller may be declined before no more are tried'),
    declinedCard: rate(
      'RATE_LIMIT_DECLINED_CARD',
      '10/2h',
      'How many payments with one card may be declined, whoever tries, before no more are tried; for live merchants, and without the header as well',
    ),
    vault: rate('RATE_LIMIT_VAULT', '60/2s', 'How many tokens one caller may have made'),
    newcomers: rate('RATE_LIMIT_NEWCOMERS', '30', 'How many apps and merchants one caller may make, and people invite'),
  }))
}
