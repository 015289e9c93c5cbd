import { createHash } from 'node:crypto'
import { isUuid } from '../rules/uuid.ts'
import type { Position } from '../store/user-search.ts'

/** What a list is of: a cursor of another one leads nowhere in it. */
type ListOf = readonly (string | undefined)[]

/** Where a list goes on, as a text that says nothing to whoever holds it. */
export function writeCursor({ at, id }: Position, list: ListOf): string {
  return Buffer.from(JSON.stringify([at, id, fingerprint(list)])).toString('base64url')
}

/** The place that a cursor stands for; undefined for one that was not made here, or for another list. */
export function readCursor(text: string, list: ListOf): Position | undefined {
  if (!/^[\w-]{1,200}$/.test(text)) return undefined
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined
  const [at, id, print] = parts as unknown[]
  if (print !== fingerprint(list) || !isUuid(id) || !(at === null || isMoment(at))) return undefined
  return { at, id }
}

/** To the microsecond, and a day that exists: the database would refuse another. */
function isMoment(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text)) return false
  const milliseconds = `${text.slice(0, 23)}Z`
  const moment = new Date(milliseconds)
  return !Number.isNaN(moment.getTime()) && moment.toISOString() === milliseconds && !text.startsWith('0000')
}

function fingerprint(list: ListOf): string {
  return createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 12)
}
