import { readFile } from 'node:fs/promises'
import { openDb } from '@tollgate/kit/db'
import { migrateService } from '@tollgate/kit/service'
import { payments } from '@tollgate/payments/main'
import { SeedProblem, seed } from '@tollgate/payments/operations/seed'
import { verify } from '@tollgate/payments/operations/verify'
import type { Command } from './command.ts'
import { serviceCommands } from './commands.ts'
import { Mistake } from './mistake.ts'
import { linkCommand } from './payments-link-command.ts'
import { merchantCommand } from './payments-merchant-command.ts'
import { payoutsCommand } from './payments-payouts-command.ts'
import { plansCommand } from './payments-plans-command.ts'
import { settleCommand } from './payments-settle-command.ts'
import { simulateCommand } from './payments-simulate-command.ts'
import { vaultCommand } from './payments-vault-command.ts'
import { readSettings } from './settings.ts'

const seedCommand: Command = {
  summary: 'Load apps, merchants, transactions and what belongs to them from a JSON file, with given ids, keys and dates',
  usage: 'seed FILE',
  async run([file]) {
    if (file === undefined) throw new Mistake('Name the file to load: tollgate payments seed FILE')
    const content = await readJson(file)
    await withDb(async (app) => {
      try {
        const loaded = await seed(app, content)
        console.log(`Loaded ${enumerated(loaded) ?? 'nothing, for all of it is there already'}.`)
      } catch (problem) {
        throw problem instanceof SeedProblem ? new Mistake(problem.message) : problem
      }
    })
  },
}

const verifyCommand: Command = {
  summary: 'Check every promise over the whole database; ends with 1 on any breach',
  async run() {
    const { counts, balances, ...found } = await withDb(({ db }) => verify(db, new Date()))
    complain(found.warnings, found.warningCount, 'warning')
    complain(found.breaches, found.breachCount, 'breach', 'breaches')
    const outcome = found.breachCount === 0 ? 'no breach' : counted(found.breachCount, 'breach', 'breaches')
    console.log(`Checked ${enumerated(counts) ?? 'a database without anything in it'}: ${outcome}.`)
    for (const [currency, accounts = []] of Object.entries(Object.groupBy(balances, (each) => each.currency)))
      console.log(`${currency}, in minor units: ${accounts.map(({ account, amount }) => `${account} ${amount}`).join(', ')}.`)
    if (found.breachCount > 0) process.exitCode = 1
  },
}

/** What was found, each in a line of its own, and how much of it is left out. */
function complain(sentences: readonly string[], count: number, one: string, many = `${one}s`) {
  for (const sentence of sentences) console.error(`${one}: ${sentence}`)
  if (count > sentences.length) console.error(`and ${count - sentences.length} more ${many}`)
}

export const paymentsCommands = serviceCommands(payments, {
  link: linkCommand(withDb),
  merchant: merchantCommand(withDb),
  payouts: payoutsCommand(withDb),
  plans: plansCommand(withDb),
  seed: seedCommand,
  settle: settleCommand(withDb),
  simulate: simulateCommand(withDb),
  vault: vaultCommand(withDb),
  verify: verifyCommand,
})

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

const words: Readonly<Record<string, readonly [one: string, many: string]>> = {
  apps: ['app', 'apps'],
  users: ['user', 'users'],
  merchants: ['merchant', 'merchants'],
  prices: ['price', 'prices'],
  members: ['member', 'members'],
  transactions: ['transaction', 'transactions'],
  trail: ['trail entry', 'trail entries'],
  lines: ['line', 'lines'],
  postings: ['posting', 'postings'],
  lineSums: ['sum of lines', 'sums of lines'],
  payouts: ['payout', 'payouts'],
  cards: ['card', 'cards'],
  disputes: ['dispute', 'disputes'],
  frauds: ['fraud alert', 'fraud alerts'],
  idempotency: ['Idempotency-Key', 'Idempotency-Keys'],
  simulatorOperations: ['operation of the simulator', 'operations of the simulator'],
}

/** `{ apps: 1, lines: 2 }` → `1 app, 2 lines`; undefined where there is nothing. */
function enumerated(counts: Readonly<Record<string, number>>): string | undefined {
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => counted(count, ...(words[name] ?? [name, name])))
  return parts.length === 0 ? undefined : parts.join(', ')
}

async function withDb<T>(work: (app: Parameters<typeof seed>[0]) => Promise<T>): Promise<T> {
  const { config } = readSettings(payments)
  await migrateService(payments, config)
  const db = openDb({
    url: config.db.url.reveal(),
    schema: { written: payments.schema, actual: config.db.namespace },
    name: 'tollgate-payments',
  })
  try {
    return await work({ config, db, now: () => new Date() })
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
