import { rename, rm, writeFile } from 'node:fs/promises'
import { systemClock } from '@tollgate/kit/clock'
import type { Db } from '@tollgate/kit/db'
import { createIds } from '@tollgate/kit/id'
import type { Config } from '@tollgate/payments/config'
import { exportPayouts } from '@tollgate/payments/operations/export-payouts'
import { PayoutProblem, runPayouts } from '@tollgate/payments/operations/run-payouts'
import { majorAmount } from '@tollgate/payments/rules/pain001'
import { dayOf, parseDay } from '@tollgate/payments/rules/payout-schedule'
import { sumPayouts } from '@tollgate/payments/store/payouts'
import type { Command } from './command.ts'
import { Mistake } from './mistake.ts'

/** Opens the database of the payments service for as long as something is done with it. */
export type WithDb = <T>(work: (app: { config: Config; db: Db }) => Promise<T>) => Promise<T>

export function payoutsCommand(withDb: WithDb, now = systemClock): Command {
  return {
    summary:
      'Pay merchants what they are owed on a day (today), or write those payouts as a pain.001 file; --test: of test merchants alone',
    usage: 'payouts [DAY] [--test] | payouts export DAY [FILE] [--test]',
    async run(words) {
      const strange = words.find((word) => word.startsWith('-') && word !== '--test')
      if (strange !== undefined) throw new Mistake(`payouts knows --test, not ${JSON.stringify(strange)}.`)
      const test = words.includes('--test')
      const [first, ...rest] = words.filter((word) => word !== '--test')
      await orMistake(first === 'export' ? write(rest, test) : make(first === undefined ? [] : [first, ...rest], test))
    },
  }

  async function make([asked, ...rest]: readonly string[], test: boolean): Promise<void> {
    if (rest.length > 0) throw new Mistake('Payouts are made for one day: tollgate payments payouts [DAY] [--test]')
    const day = asked === undefined ? dayOf(now()) : insistDay(asked)
    await withDb(async ({ db }) => {
      const run = await runPayouts({ db, now, mintId: createIds(now) }, { day, ...(test ? { test } : {}) })
      const sums = (await sumPayouts(db, day)).filter((each) => each.test || !test)
      const made = `${day}: ${counted(run.paid, 'payout')} made now, ${counted(run.due, 'merchant')} looked at.`
      console.log(sums.length === 0 ? made : `${made} In all:`)
      for (const sum of sums) {
        const amount = majorAmount(BigInt(sum.amount), sum.currency)
        console.log(`  ${sum.currency} ${amount} in ${counted(sum.payouts, 'payout')}${sum.test ? ' of test merchants' : ''}`)
      }
      for (const { merchantId, problem } of run.failures)
        console.error(`Merchant ${merchantId} was not paid: ${problem instanceof Error ? problem.message : String(problem)}`)
      if (run.failed > 0) {
        console.error(`${counted(run.failed, 'merchant')} could not be paid, which is tried again with the next run.`)
        process.exitCode = 1
      }
    })
  }

  async function write([asked, file, ...rest]: readonly string[], test: boolean): Promise<void> {
    if (asked === undefined || rest.length > 0)
      throw new Mistake('Name the day, and the file to write: tollgate payments payouts export DAY [FILE] [--test]')
    const day = insistDay(asked)
    await withDb(async (app) => {
      const found = await exportPayouts(app, { day, test })
      if (!found) return console.error(`Nobody was paid on ${day}: there is nothing to write.`)
      if (file === undefined) return print(found.pieces)
      await writeWhole(file, found.pieces)
      console.log(`Wrote ${counted(found.payouts, 'payout')} to ${file}.`)
    })
  }
}

function insistDay(text: string): string {
  const day = parseDay(text)
  if (day === undefined) throw new Mistake(`DAY must be a day such as 2030-01-31, not ${JSON.stringify(text)}.`)
  return day
}

async function orMistake(work: Promise<void>): Promise<void> {
  await work.catch((problem: unknown) => {
    throw problem instanceof PayoutProblem ? new Mistake(problem.message) : problem
  })
}

async function print(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces)
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(piece, (problem) => (problem ? reject(problem) : resolve()))
    })
}

/** Half a file must never lie where somebody may hand it to a bank. */
async function writeWhole(file: string, pieces: AsyncIterable<string>): Promise<void> {
  const part = `${file}.part`
  try {
    await writeFile(part, pieces, { mode: 0o600, flush: true })
    await rename(part, file)
  } catch (problem) {
    await rm(part, { force: true })
    const { code, message } = problem as NodeJS.ErrnoException
    throw code?.startsWith('E') && !code.startsWith('ERR_') ? new Mistake(`${file} cannot be written: ${message}`) : problem
  }
}

function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`
}
