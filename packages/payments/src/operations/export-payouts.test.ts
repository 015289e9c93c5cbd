import { tagOf } from '@tollgate/kit/id'
import type { TestedService } from '@tollgate/kit/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { plantMerchant, startPayments } from '../testing.ts'
import { exportPayouts } from './export-payouts.ts'
import { runPayouts } from './run-payouts.ts'

let service: TestedService<App>
beforeEach(async () => {
  service = await startPayments({ PAY_PAYOUTS_DEBTOR_NAME: 'Tollgate', PAY_PAYOUTS_DEBTOR_IBAN: 'DE89370400440532013000' })
})
afterEach(() => service.stop())

const day = '2030-01-03'

/** A merchant that had something when the day began. */
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

async function exported(test: boolean): Promise<string | undefined> {
  const found = await exportPayouts(service.app, { day, test })
  if (!found) return undefined
  let text = ''
  for await (const piece of found.pieces) text += piece
  return text
}

test('the payouts of a closed day are a file that is the same however often it is asked for', async () => {
  const merchants = [
    await plantOwed({ amount: 1050 }),
    await plantOwed({ amount: 200, currency: 'DKK' }),
    await plantOwed({ amount: 300, currency: 'EUR' }),
  ]
  service.now.advance(86_400)
  await runPayouts(service.app, { day })
  const file = await exported(false)
  const payouts = await service.app.db<{ id: string }>`select id from pay.payouts order by currency, merchant_id`
  expect([...(file ?? '').matchAll(/<EndToEndId>(\w+)</g)].map(([, id]) => id)).toEqual(payouts.map(({ id }) => id))
  expect(file).toContain(
    '<MsgId>PAYOUTS-20300103</MsgId>\n<CreDtTm>2030-01-03T03:04:05Z</CreDtTm>\n<NbOfTxs>3</NbOfTxs>\n<CtrlSum>15.50</CtrlSum>',
  )
  expect(file).toContain('<InstdAmt Ccy="DKK">2.00</InstdAmt>')
  expect(file).toContain('<Nm>https://shop.test</Nm>')
  service.now.advance(86_400)
  // Who changes the name or the account now changes the next payout, and not this one.
  await service.app
    .db`update pay.merchants set name = 'New', bank_iban = 'NL91ABNA0417164300' where id = ${merchants[0] as string}`
  expect(await exported(false)).toBe(file)
})

test('test merchants are in no file but their own', async () => {
  const live = await plantOwed({ amount: 100 })
  const trial = await plantOwed({ amount: 200, test: true })
  service.now.advance(86_400)
  await runPayouts(service.app, { day })
  const idOf = async (merchant: string) =>
    (await service.app.db<{ id: string }>`select id from pay.payouts where merchant_id = ${merchant}`)[0]?.id as string
  const [file, trialFile] = [await exported(false), await exported(true)]
  expect(file).toContain(await idOf(live))
  expect(file).not.toContain(await idOf(trial))
  expect(trialFile).toContain(await idOf(trial))
  expect(trialFile).not.toContain(await idOf(live))
  expect(trialFile).toContain('<MsgId>TEST-20300103</MsgId>')
})

test('a day that is not closed is not exported, except for test merchants', async () => {
  await plantOwed({ amount: 100 })
  await plantOwed({ amount: 100, test: true })
  service.now.advance(86_400)
  await runPayouts(service.app, { day, test: true })
  await expect(exportPayouts(service.app, { day, test: false })).rejects.toThrow(
    'The payouts of 2030-01-03 are not all made yet: run `tollgate payments payouts 2030-01-03` first.',
  )
  expect(await exported(true)).toContain('<NbOfTxs>1</NbOfTxs>')
})

test('a day without payouts has no file', async () => {
  service.now.advance(86_400)
  await runPayouts(service.app, { day })
  expect(await exported(false)).toBeUndefined()
})

test('without an account to pay from there is no file, and the settings are named', async () => {
  const bare = await startPayments()
  await expect(exportPayouts(bare.app, { day, test: false })).rejects.toThrow(
    'Set PAY_PAYOUTS_DEBTOR_NAME and PAY_PAYOUTS_DEBTOR_IBAN',
  )
  await bare.stop()
})
