// Its words only: production does without the embedded server.
import { PostgresProblem } from '@tollgate/kit/embedded-postgres/problem'
import { ConfigProblem } from '@tollgate/kit/env'
import { ListenProblem } from '@tollgate/kit/listen'
import { MigrationProblem } from '@tollgate/kit/migrate'
import { Mistake } from './mistake.ts'

/** Runs a command to its end: a problem that a person can solve is one sentence, anything else is a bug with its stack. */
export async function runToEnd(command: () => Promise<void>): Promise<void> {
  try {
    await command()
  } catch (problem) {
    console.error(wording(problem))
    process.exit(1)
  }
}

function wording(problem: unknown): string {
  const forPeople = [ConfigProblem, ListenProblem, MigrationProblem, PostgresProblem, Mistake]
  if (forPeople.some((kind) => problem instanceof kind)) return (problem as Error).message
  const databaseProblem = databaseWording(problem)
  if (databaseProblem) return databaseProblem
  return problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
}

/** What connecting to a database fails with; the address is left out because it holds the password. */
function databaseWording(problem: unknown): string | undefined {
  if (!(problem instanceof Error) || !('code' in problem)) return undefined
  const code = String(problem.code)
  if (/^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH)/.test(code))
    return `The database cannot be reached: ${problem.message}. Check the setting DATABASE_URL.`
  if (code === 'ERR_INVALID_URL') return 'The setting DATABASE_URL is not one address: postgres://user:password@host:5432/name.'
  if (code === '3D000' || code.startsWith('28'))
    return `The database refuses the connection: ${problem.message}. Check the setting DATABASE_URL.`
  return undefined
}
