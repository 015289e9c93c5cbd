import { parseDuration } from './duration.ts'

/** A bucket that holds `most`, and gets `amount` back every `seconds`. */
export type Rate = { most: number; amount: number; seconds: number }

/** `30` is thirty an hour, the next thirty an hour later. `10/5m` is ten at once, and one more every five minutes. */
export function parseRate(text: string): Rate | undefined {
  const [, count, , duration] = /^(\d{1,9})(\/(.+))?$/.exec(text) ?? []
  if (count === undefined) return undefined
  const most = Number(count)
  if (duration === undefined) return { most, amount: most, seconds: 3600 }
  const seconds = parseDuration(duration)
  return seconds === undefined || seconds <= 0 ? undefined : { most, amount: 1, seconds }
}

/** For one caller: so many in so many seconds, one after the other, and up to `burst` of them at once. */
export function callerRate(count: number, seconds: number, burst: number): Rate {
  return count <= 0 ? { most: 0, amount: 0, seconds: 1 } : { most: burst, amount: 1, seconds: seconds / count }
}
