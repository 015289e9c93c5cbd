import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tagOf } from '@tollgate/kit/id'
import type { TestedService } from '@tollgate/kit/testing'
import type { App } from '@tollgate/payments/app'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Mistake } from './mistake.ts'
import { payoutsCommand } from './payments-payouts-command.ts'

let service: TestedService<App>
beforeEach(async () => {
  service = await startPayments({ PAY_PAYOUTS_DEBTOR_NAME: 'Tollgate', PAY_PAYOUTS_DEBTOR_IBAN: 'DE89370400440532013000' })
})
afterEach(async () => {
  process.exitCode = undefined
  await service.stop()
})

/** Runs the command on the service's database and tells what it said. */
async function run(words: string): Promise<{ out: string[]; complaints: string[] }> {
  const [out, complaints]: [string[], string[]] = [[], []]
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(line)),
    vi.spyOn(console, 'error').mockImplementation((line: string) => void complaints.push(line)),
    vi.spyOn(process.stdout, 'write').mockImplementation(((piece: string, done?: () => void) => {
      out.push(piece)
      done?.()
      return true
    }) as typeof process.stdout.write),
  ]
  const command = payoutsCommand((work) => work(service.app), service.now)
  try {
    await command.run(words.split(' ').filter((word) => word !== ''))
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return { out, complaints }
}

async function plantOwed(given: { currency?: string; test?: boolean; amount: number }): Promise<string> {
  const { app, now } = service
  const { id } = await plantMerchant(service, { test: false, ...given })
  const lineId = app.mintId(tagOf(id))
  await app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
    select id, ${lineId}, ${now()}, test, 'capture', ${given.amount}, 0, ${given.amount}, currency, ${lineId}
    from pay.merchants where id = ${id}`
  return id
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'tollgate-payouts-'))
  onTestFinished(() => rm(made, { recursive: true }))
  return made
}

test('the payouts of today are made, and their figures told, again when there is nothing left to do', async () => {
  await plantOwed({ amount: 1050 })
  await plantOwed({ amount: 50 })
  await plantOwed({ amount: 7, currency: 'DKK', test: true })
  service.now.advance(86_400)
  const figures = ['  DKK 0.07 in 1 payout of test merchants', '  EUR 11.00 in 2 payouts']
  expect(await run('')).toEqual({
    out: ['2030-01-03: 3 payouts made now, 3 merchants looked at. In all:', ...figures],
    complaints: [],
  })
  expect((await run('2030-01-03')).out).toEqual(['2030-01-03: 0 payouts made now, 0 merchants looked at. In all:', ...figures])
  expect(process.exitCode).toBeUndefined()
})

test('--test pays test merchants alone', async () => {
  await plantOwed({ amount: 1050 })
  await plantOwed({ amount: 7, test: true })
  service.now.advance(86_400)
  expect((await run('--test')).out).toEqual([
    '2030-01-03: 1 payout made now, 1 merchant looked at. In all:',
    '  EUR 0.07 in 1 payout of test merchants',
  ])
})

test('whoever could not be paid is named, and the command ends with 1', async () => {
  const merchant = await plantOwed({ amount: 1050 })
  await service.app.db`update pay.merchants set bank_iban = 'nonsense'`
  service.now.advance(86_400)
  expect((await run('')).complaints).toEqual([
    `Merchant ${merchant} was not paid: its IBAN is not one that a bank would take`,
    '1 merchant could not be paid, which is tried again with the next run.',
  ])
  expect(process.exitCode).toBe(1)
})

test('an export writes the whole file, for nobody but its owner, or prints the same', async () => {
  await plantOwed({ amount: 1050 })
  service.now.advance(86_400)
  await run('')
  const place = await folder()
  const file = join(place, 'payouts.xml')
  expect(await run(`export 2030-01-03 ${file}`)).toEqual({ out: [`Wrote 1 payout to ${file}.`], complaints: [] })
  const text = await readFile(file, 'utf8')
  expect(text).toMatch(/^<\?xml.*<InstdAmt Ccy="EUR">10\.50<.*<\/Document>\n$/s)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(place)).toEqual(['payouts.xml'])
  expect((await run('export 2030-01-03')).out.join('')).toBe(text)
  expect(await run('export 2030-01-03 --test')).toEqual({
    out: [],
    complaints: ['Nobody was paid on 2030-01-03: there is nothing to write.'],
  })
})

test.each([
  ['2030-02-30', 'DAY must be a day such as 2030-01-31, not "2030-02-30".'],
  ['2030-01-03', '2030-01-03 has not come yet: payouts are made for days that have begun.'],
  ['2030-01-01 2030-01-02', 'Payouts are made for one day: tollgate payments payouts [DAY] [--test]'],
  ['--dry-run', 'payouts knows --test, not "--dry-run".'],
  ['export', 'Name the day, and the file to write: tollgate payments payouts export DAY [FILE] [--test]'],
  ['export today', 'DAY must be a day such as 2030-01-31, not "today".'],
  ['export 2030-01-02', 'The payouts of 2030-01-02 are not all made yet: run `tollgate payments payouts 2030-01-02` first.'],
])('tollgate payments payouts %s is a mistake that is told in a sentence', async (words, sentence) => {
  await expect(run(words)).rejects.toEqual(new Mistake(sentence))
})

test('a file that cannot be written is named, and nothing is left behind', async () => {
  await plantOwed({ amount: 1050 })
  service.now.advance(86_400)
  await run('')
  const file = join(await folder(), 'missing', 'payouts.xml')
  await expect(run(`export 2030-01-03 ${file}`)).rejects.toThrow(`${file} cannot be written: ENOENT`)
})
