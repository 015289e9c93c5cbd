import { parseDuration } from '@tollgate/kit/duration'

/** So many events in so many seconds. */
export type Rate = { events: number; seconds: number }

/** `30` is thirty an hour; `10/5m` is ten in five minutes. */
export function parseRate(text: string): Rate | undefined {
  const [, events, , duration] = /^(\d{1,9})(\/(.+))?$/.exec(text) ?? []
  if (events === undefined) return undefined
  const seconds = duration === undefined ? 3600 : parseDuration(duration)
  return seconds === undefined || seconds <= 0 ? undefined : { events: Number(events), seconds }
}
