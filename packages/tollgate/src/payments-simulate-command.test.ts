import { plantMerchant, plantTransaction, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Mistake } from './mistake.ts'
import { simulateCommand } from './payments-simulate-command.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

/** What the command prints. */
async function run(words: string): Promise<string> {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    const { config, db } = service.app
    await simulateCommand((work) => work({ config, db }), service.now).run(words.split(' '))
    return said.mock.calls.flat().join('\n')
  } finally {
    said.mockRestore()
  }
}

async function arrange(live = false) {
  const merchant = await plantMerchant(service, { test: !live })
  const id = await plantTransaction(service, { merchantId: merchant.id, test: !live })
  const headers = { authorization: merchant.authorization }
  if (!live) await service.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 1000 } })
  const get = async <T>(path: string) => (await service.call(`GET ${path}`, { headers })).json<T>()
  return { merchant, id, get }
}

test('a payment is disputed, and the dispute is lost', async () => {
  const { id, merchant, get } = await arrange()
  const said = await run(`dispute ${id} --amount 250 --reason 131`)
  const [dispute] = await get<{ id: string }[]>(`/disputes?limit=1&filter[merchantId]=${merchant.id}`)
  expect(dispute).toMatchObject({ amount: 250, reason: { code: 131, title: 'Merchandise or Services Not Received' } })
  expect(said).toBe(
    `Dispute ${dispute?.id} about EUR 2.5 of transaction ${id} is open, until 2030-01-16T03:04:05.678Z: Merchandise or Services Not Received (131).`,
  )
  expect(await run(`lost ${dispute?.id}`)).toBe(`Dispute ${dispute?.id} is lost, since 2030-01-02T03:04:05.678Z.`)
  expect(await get(`/transactions/${id}`)).toMatchObject({
    transaction: { trail: [{}, { dispute: { id: dispute?.id, lost: true } }] },
  })
  await expect(run(`won ${dispute?.id}`)).rejects.toThrow(
    /^won: Must be false: this dispute was lost on .*, and that is final\.$/,
  )
})

test('without an amount all of it is disputed, and a dispute can be won', async () => {
  const { id, get } = await arrange()
  const disputeId = (await run(`dispute ${id}`)).match(/^Dispute (\w+) about EUR 10 /)?.[1]
  expect(await run(`won ${disputeId}`)).toContain(' is won, ')
  expect(await get(`/transactions/${id}`)).toMatchObject({ transaction: { disputedAmount: 0, trail: [{}, { balance: 0 }] } })
})

test('a fraud alert is raised', async () => {
  const { id, merchant, get } = await arrange()
  const said = await run(`fraud ${id} --reason 6`)
  const [fraud] = await get<{ id: string }[]>(`/frauds?limit=1&filter[merchantId]=${merchant.id}`)
  expect(fraud).toMatchObject({ transactionId: id, reason: 6, reported: service.now().toISOString() })
  expect(said).toBe(`Fraud alert ${fraud?.id} about transaction ${id} is raised.`)
})

const nothing = 'f'.repeat(24)

test.each([
  ['', 'Say what is to happen: tollgate payments simulate dispute TRANSACTION'],
  ['refund', 'Say what is to happen'],
  ['constructor', 'Say what is to happen'],
  ['dispute', 'Name one transaction'],
  [`dispute ${nothing} ${nothing}`, 'Name one transaction'],
  ['won', 'Name one dispute'],
  ['dispute x', 'The id of a transaction is 24 hex digits, not "x".'],
  [`dispute ${nothing}`, `There is no transaction ${nothing}.`],
  [`lost ${nothing}`, `There is no dispute ${nothing}.`],
  [`lost ${nothing} --amount 5`, 'simulate lost does not know --amount.'],
  [`fraud ${nothing} --amount 5`, 'simulate fraud does not know --amount.'],
  [`dispute ${nothing} --amount`, '--amount must be a whole number, not "".'],
  [`dispute ${nothing} --amount 1.5`, '--amount must be a whole number, not "1.5".'],
  [`dispute ${nothing} --amount 9007199254740992`, '--amount must be a whole number'],
  [`dispute ${nothing} --amount 0`, '--amount must be at least 1.'],
  [`dispute ${nothing} --amount 1 --amount 2`, '--amount is there twice.'],
])('"%s" is a mistake', async (words, message) => {
  await expect(run(words)).rejects.toThrow(message)
  await expect(run(words)).rejects.toBeInstanceOf(Mistake)
})

test('what cannot happen is a mistake, and nothing happens', async () => {
  const [own, live] = [await arrange(), await arrange(true)]
  await expect(run(`dispute ${own.id} --amount 1001`)).rejects.toThrow('amount: Can dispute at most EUR 10.')
  await expect(run(`dispute ${own.id} --reason 7`)).rejects.toThrow('--reason must be one of 104, ')
  await expect(run(`fraud ${own.id} --reason 9`)).rejects.toThrow('--reason must be from 0 to 8, not 9.')
  await expect(run(`dispute ${live.id}`)).rejects.toThrow(
    `Merchant ${live.merchant.id} is live: simulate dispute is for test merchants alone.`,
  )
  await expect(run(`fraud ${live.id}`)).rejects.toBeInstanceOf(Mistake)
  expect(
    await service.app.db`
      select from pay.disputes where transaction_id = any(${[own.id, live.id]})
      union all select from pay.frauds where transaction_id = any(${[own.id, live.id]})`,
  ).toHaveLength(0)
})
