import { Failure } from '@tollgate/kit/failure'

/** What is told of an error of the database, named as today's clients read it. */
type Told = { code: string; message: string; hint?: string; detail?: string }

/** A trigger or constraint of the operator's that does not let something happen. */
export class DatabaseRefusal extends Failure {
  readonly told: Told

  constructor(status: number, message: string, told: Told) {
    super('unexpected_failure', status, message)
    this.told = told
  }
}

/** What strangers are told of a constraint: PostgreSQL's own words name columns, and hold values of rows that are not theirs. */
const plainWords = new Map([
  ['23000', 'A constraint of the database does not allow this'],
  ['23001', 'Something that is still needed would be gone'],
  ['23502', 'A value that is required is missing'],
  ['23503', 'Something that is referred to is missing, or still referred to'],
  ['23505', 'Something that has to be unique exists already'],
  ['23514', 'A value is not allowed'],
  ['23P01', 'Something conflicts with what exists already'],
])

/** Their detail is the whole row, and that of an account holds the hash of its password: too much for anybody. */
const quotesRow = new Set(['23502', '23514'])

/**
 * What a caller is told of an error of the database, if anything. What a trigger raises was written for whoever caused it; what a
 * constraint says only whoever administers gets to see.
 */
export function databaseRefusal(thrown: unknown, isAdmin: () => boolean): DatabaseRefusal | undefined {
  const problem = readProblem(thrown)
  if (!problem) return undefined
  const { code, message, hint, detail } = problem
  if (code === 'P0001' || /^PT\d{3}$/.test(code))
    return new DatabaseRefusal(statusOf(code), `Database error: ${message}`, { code, message, ...given({ hint, detail }) })
  const plain = plainWords.get(code)
  if (plain === undefined) return undefined
  const told = isAdmin()
    ? { code, message, ...given({ hint, detail: quotesRow.has(code) ? undefined : detail }) }
    : { code, message: plain }
  return new DatabaseRefusal(500, `Database error: ${told.message} (SQLSTATE ${code})`, told)
}

type Problem = { code: string; message: string; hint?: unknown; detail?: unknown }

/** An error of the database and of nothing else: only those have a severity. */
function readProblem(thrown: unknown): Problem | undefined {
  if (!(thrown instanceof Error && 'code' in thrown && 'severity' in thrown)) return undefined
  return typeof thrown.code === 'string' ? (thrown as Error & Problem) : undefined
}

/** PT403 asks for the status 403. What asks for one that is no refusal gets none. */
function statusOf(code: string): number {
  const asked = code.startsWith('PT') ? Number(code.slice(2)) : 500
  return asked >= 400 && asked <= 599 ? asked : 500
}

function given({ hint, detail }: { hint: unknown; detail: unknown }): { hint?: string; detail?: string } {
  return {
    ...(typeof hint === 'string' && hint !== '' ? { hint } : {}),
    ...(typeof detail === 'string' && detail !== '' ? { detail } : {}),
  }
}
