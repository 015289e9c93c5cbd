import pg from 'pg'

export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | readonly (string | null)[]
  | readonly number[]
  | Json

/** An object or list that goes into a json column. Marked, because a bare list would become a PostgreSQL array. */
export class Json {
  readonly #value: unknown

  constructor(value: unknown) {
    this.#value = value
  }

  toString(): string {
    return JSON.stringify(this.#value)
  }
}

/**
 * A value as the driver sends it. Done before the driver sees it, because one that cannot be written would otherwise fail halfway
 * through a packet; and because the driver writes moments in the local time of this machine.
 */
export function parameterOf(value: Value): unknown {
  if (value instanceof Json) return value.toString()
  // PostgreSQL does not read the plus of a year beyond 9999.
  if (value instanceof Date) return value.toISOString().replace(/^\+0*/, '')
  return value
}

/** Amounts and counters fit a double up to 2^53; beyond that a silent rounding would be worse than an error. */
function parseBigint(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`${text} is too large to be held exactly`)
  return value
}

const parseTexts = pg.types.getTypeParser(1009 as number, 'text') as (text: string) => (string | null)[]
const parseMoment = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text') as (text: string) => unknown

const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: parseBigint,
  1016: (text) => parseTexts(text).map((each) => (each === null ? null : parseBigint(each))),
  // A timestamp without a zone is meant as UTC, whatever the zone of this machine.
  [pg.types.builtins.TIMESTAMP]: (text) => parseMoment(/^-?infinity$/.test(text) ? text : `${text}+00`),
}

/** How the driver reads columns, by their type's number. */
export const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}
