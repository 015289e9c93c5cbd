import { readFile } from 'node:fs/promises'
import { openDb } from '@tollgate/kit/db'
import { migrateService } from '@tollgate/kit/service'
import { payments } from '@tollgate/payments/main'
import { SeedProblem, seed } from '@tollgate/payments/operations/seed'
import { verify } from '@tollgate/payments/operations/verify'
import type { Command } from './command.ts'
import { serviceCommands } from './commands.ts'
import { Mistake } from './mistake.ts'
import { readSettings } from './settings.ts'

const seedCommand: Command = {
  summary: 'Load apps with given ids, keys and dates from a JSON file',
  usage: 'seed FILE',
  async run([file]) {
    if (file === undefined) throw new Mistake('Name the file to load: tollgate payments seed FILE')
    const content = await readJson(file)
    await withDb(async (app) => {
      try {
        const { apps } = await seed(app, content)
        console.log(`Loaded ${counted(apps, 'app')}.`)
      } catch (problem) {
        throw problem instanceof SeedProblem ? new Mistake(problem.message) : problem
      }
    })
  },
}

const verifyCommand: Command = {
  summary: 'Check every promise over the whole database; ends with 1 on any breach',
  async run() {
    const { apps, breaches } = await withDb(({ db }) => verify(db, new Date()))
    for (const breach of breaches) console.error(breach)
    console.log(
      `Checked ${counted(apps, 'app')}: ${breaches.length === 0 ? 'no breach' : counted(breaches.length, 'breach', 'breaches')}.`,
    )
    if (breaches.length > 0) process.exitCode = 1
  },
}

export const paymentsCommands = serviceCommands(payments, { seed: seedCommand, verify: verifyCommand })

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

async function withDb<T>(work: (app: Pick<Parameters<typeof seed>[0], 'config' | 'db'>) => Promise<T>): Promise<T> {
  const { config } = readSettings(payments)
  await migrateService(payments, config)
  const db = openDb({
    url: config.db.url.reveal(),
    schema: { written: payments.schema, actual: config.db.namespace },
    name: 'tollgate-payments',
  })
  try {
    return await work({ config, db })
  } finally {
    await db.close()
  }
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((problem: Error) => {
    throw new Mistake(`${file} cannot be read: ${problem.message}`)
  })
  try {
    return JSON.parse(text)
  } catch (problem) {
    throw new Mistake(`${file} is not JSON: ${(problem as Error).message}`)
  }
}
