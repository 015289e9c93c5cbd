import type { Tx } from '@tollgate/kit/db'
import { isId } from '@tollgate/kit/id'
import type { PageOf, Place } from '../../store/verify/place.ts'

/** Where what is found goes. */
export type Findings = { now: Date; breach(sentence: string): void; warn(sentence: string): void }

/** One table from its first row to its last; says how many rows that were. */
export type Pass = (tx: Tx, findings: Findings, pageSize: number) => Promise<number>

type Table<Row> = {
  read(tx: Tx, page: PageOf): Promise<Row[]>
  placeOf(row: Row): Place
  check(row: Row, findings: Findings): void
  /** How many rows this one stands for. */
  countOf?(row: Row): number
}

/** Holds one page at a time, however many there are. */
export function passOver<Row>({ read, placeOf, check, countOf = () => 1 }: Table<Row>): Pass {
  return async (tx, findings, pageSize) => {
    let count = 0
    let after: Place = ['', '']
    for (;;) {
      const rows = await read(tx, { after, limit: pageSize })
      for (const row of rows) {
        check(row, findings)
        count += countOf(row)
      }
      const last = rows.at(-1)
      if (!last) return count
      after = placeOf(last)
    }
  }
}

/** Clocks of several machines differ a little. */
const tolerance = 5 * 60_000

export function checkMade(what: string, { id, created }: { id: string; created: Date | string }, findings: Findings) {
  if (!isId(id)) findings.breach(`${what} has an id that is not 24 hex digits`)
  checkPast(what, created, findings)
}

export function checkPast(what: string, created: Date | string, { now, breach }: Findings) {
  const moment = new Date(created)
  // A moment that is none, such as the database's infinity, is no moment of the past either.
  if (!(moment.getTime() <= now.getTime() + tolerance)) breach(`${what} was created in the future, at ${tellMoment(moment)}`)
}

export function tellMoment(moment: Date): string {
  return Number.isNaN(moment.getTime()) ? 'no moment at all' : moment.toISOString()
}

/** Exact however large, for what is wrong may be anything. */
export function sumOf(amounts: Iterable<string | bigint>): bigint {
  let sum = 0n
  for (const amount of amounts) sum += BigInt(amount)
  return sum
}
