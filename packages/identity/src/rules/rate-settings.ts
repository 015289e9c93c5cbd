import type { Read } from '@tollgate/kit/env'
import { callerRate, parseRate, type Rate } from '@tollgate/kit/rate'

/** How often something may be in all. */
export function rate(read: Read, name: string, sentence: string): Rate {
  return read.parsed(
    'rate',
    name,
    { most: 30, amount: 30, seconds: 3600 },
    `${sentence}: a number an hour, or a number and how often one more may be`,
    (text) => parseRate(text) ?? { expected: 'a number an hour such as 30, or a rate such as 10/5m' },
    { shown: '30', example: '10/5m' },
  )
}

/** Up to thirty at once. */
export function perCaller(read: Read, name: string, fallback: number, what: string): Rate {
  return callerRate(read.number(name, fallback, `How often one caller may ask for ${what} in five minutes`), 300, 30)
}

export function hourlyPerCaller(read: Read, name: string, fallback: number, what: string): Rate {
  const count = read.number(name, fallback, `How many ${what} one caller may make in an hour`)
  return callerRate(count, 3600, Math.max(1, Math.floor(count)))
}
