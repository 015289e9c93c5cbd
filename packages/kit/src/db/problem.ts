import pg from 'pg'
import { Unavailable } from '../failure.ts'

/** The SQLSTATE of a database's refusal, or the code of whatever else went wrong. */
export function codeOf(problem: unknown): string {
  return typeof problem === 'object' && problem !== null && 'code' in problem ? String(problem.code) : ''
}

/** What went wrong, in the terms of whoever asked: an outage is nobody's bug and worth another try later. */
export function translate(problem: unknown): unknown {
  if (problem instanceof pg.DatabaseError) {
    // It quotes the values of the row, and nobody can vouch for those in a log. Who knows what it says may ask for it by name.
    Object.defineProperty(problem, 'detail', { value: problem.detail, enumerable: false })
    problem.where = undefined
  }
  return isOutage(problem) ? new Unavailable('the database does not answer', { cause: problem }) : problem
}

/**
 * The connection broke or leads to a server that cannot help: class 08, 53 (out of something), 57 (shut down, or a time limit of
 * the operator's), 25006 (a primary that has become a replica), 25P03 and 25P04 (limits again), an error of the socket, or one of
 * the driver's own sentences about it.
 */
export function isOutage(problem: unknown): boolean {
  if (/^(08|53|57|25006|25P0[34]|E(?!RR_)[A-Z])/.test(codeOf(problem))) return true
  const sentences = /^(Connection terminated|Client (has encountered|was closed)|Query read timeout)/
  return problem instanceof Error && sentences.test(problem.message)
}

/** The database asks to do it again, for it has left nothing behind: a serialisation failure, a deadlock. */
export function asksAgain(problem: unknown): boolean {
  return problem instanceof pg.DatabaseError && (['40001', '40P01'].includes(codeOf(problem)) || isForgotten(problem))
}

/**
 * The prepared statement is not what we take it for: a migration changed what it returns (0A000), it was never made because the
 * statement ahead of it in the same packet failed to make it (26000), or another one made it meanwhile (42P05).
 */
export function isForgotten(problem: unknown): boolean {
  const code = codeOf(problem)
  return code === '26000' || code === '42P05' || (code === '0A000' && (problem as Error).message.includes('cached plan'))
}
