import type { App } from '../app.ts'
import { type Debtor, type Transfer, writePain001 } from '../rules/pain001.ts'
import { startOf } from '../rules/payout-schedule.ts'
import { findClosedPayouts, listPayoutsOfDay, sumPayouts } from '../store/payouts.ts'
import { PayoutProblem } from './run-payouts.ts'

type Parts = Pick<App, 'config' | 'db'>

const pageSize = 1000

/**
 * The payouts of a day as a file for a bank, which is the same however often it is asked for. Test merchants' are in a file of their own:
 * no bank is to move money that nobody has. Undefined where nobody was paid.
 */
export async function exportPayouts(
  { config, db }: Parts,
  { day, test }: { day: string; test: boolean },
): Promise<{ payouts: number; pieces: AsyncIterable<string> } | undefined> {
  const debtor = insistDebtor(config.payouts.debtor)
  const closed = await findClosedPayouts(db)
  // A bank knows the file by its name, and would refuse whoever was added to it later, or pay all others twice.
  if (!test && (closed === undefined || closed < startOf(day)))
    throw new PayoutProblem(`The payouts of ${day} are not all made yet: run \`tollgate payments payouts ${day}\` first.`)
  const sums = (await sumPayouts(db, day)).filter((sum) => sum.test === test)
  if (sums.length === 0) return undefined
  const pieces = writePain001({
    name: `${test ? 'TEST' : 'PAYOUTS'}-${day.replaceAll('-', '')}`,
    created: new Date(Math.max(...sums.map(({ latest }) => latest.getTime()))),
    day,
    debtor,
    batches: sums.map(({ currency, payouts, amount }) => ({
      currency,
      count: payouts,
      total: BigInt(amount),
      transfers: transfersOf(db, { day, currency, test }),
    })),
  })
  return { payouts: sums.reduce((count, { payouts }) => count + payouts, 0), pieces }
}

function insistDebtor({ name, iban, bic }: App['config']['payouts']['debtor']): Debtor {
  if (name !== undefined && iban !== undefined) return { name, iban, bic }
  throw new PayoutProblem(
    'Set PAY_PAYOUTS_DEBTOR_NAME and PAY_PAYOUTS_DEBTOR_IBAN: a bank has to know whose account it is to pay from.',
  )
}

async function* transfersOf(db: App['db'], batch: { day: string; currency: string; test: boolean }): AsyncGenerator<Transfer> {
  for (let after = ''; ; ) {
    const page = await listPayoutsOfDay(db, { ...batch, after, limit: pageSize })
    for (const { id, amount, iban, holder } of page) yield { id, amount, iban, holder, description: `Payout ${batch.day}` }
    const last = page.at(-1)
    if (!last) return
    after = last.merchantId
  }
}
