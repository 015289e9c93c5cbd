import { codeOf } from '@tollgate/kit/db'
import { compileInput, type Problem, settle } from '@tollgate/kit/shape'
import Type, { type Static } from 'typebox'
import type { App } from '../app.ts'
import { hashKey } from '../rules/keys.ts'
import { AppName, Id } from '../shapes.ts'
import { insertApp } from '../store/apps.ts'

const Created = settle(
  Type.String({ format: 'date-time', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$' }),
  (text) => {
    const moment = new Date(text)
    // The parser would take the 31st of February for the 2nd of March.
    return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text.slice(0, 19)) ? moment : undefined
  },
)

/** What a seed file holds: things with the ids, keys and dates that somebody else gave them. */
const SeedFile = Type.Object({
  apps: Type.Optional(
    Type.Array(
      Type.Object({
        id: Id,
        name: Type.Optional(AppName),
        key: Type.String({ format: 'uuid', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
        created: Created,
      }),
      { maxItems: 100_000 },
    ),
  ),
})

/** A seed file that cannot be taken, in words for the person who wrote it. */
export class SeedProblem extends Error {}

const read = compileInput(SeedFile, { absent: (value) => value === null, convertJson: false, caseInsensitive: false })

function readSeed(content: unknown): Static<typeof SeedFile> {
  const problems: Problem[] = []
  const seed = read(content, 'json', problems)
  if (problems.length > 0) {
    const lines = problems.slice(0, 20).map(({ path, message }) => `  - ${path === '' ? 'the file' : path}: ${message}`)
    throw new SeedProblem(`The seed file is not as it should be:\n${lines.join('\n')}`)
  }
  return seed
}

/** Loads a seed file, all of it or nothing. What is there already under the same id stays as it is. */
export async function seed(app: Pick<App, 'config' | 'db'>, content: unknown): Promise<{ apps: number }> {
  if (app.config.environment === 'production')
    throw new SeedProblem('Seeding is refused because PAY_ENV is production. Set PAY_ENV=development if this is not real money.')
  const { apps = [] } = readSeed(content)
  return app.db.begin(async (tx) => {
    let inserted = 0
    for (const { id, name = null, key, created } of apps) {
      const isNew = await insertApp(tx, { id, name, keyHash: hashKey(key), created }).catch((problem: unknown) => {
        throw codeOf(problem) === '23505' ? new SeedProblem(`App ${id} has the same key as another app.`) : problem
      })
      if (isNew) inserted++
    }
    return { apps: inserted }
  })
}
