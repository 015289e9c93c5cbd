import { createFinisher } from '@tollgate/payments/operations/finish-pending'
import { verify } from '@tollgate/payments/operations/verify'
import { plantMerchant, plantTransaction, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Mistake } from './mistake.ts'
import { settleCommand } from './payments-settle-command.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

function run(...words: string[]) {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  const { command } = { command: settleCommand((work) => work(service.app), service.now) }
  return Promise.resolve(command.run(words)).then(() => {
    const [[sentence] = []] = said.mock.calls
    said.mockRestore()
    return sentence as string
  })
}

async function leaveOpen(what: 'captures' | 'payment') {
  const merchant = await plantMerchant(service)
  const acquirer = what === 'payment' ? ({ authorize: 'unanswered' } as const) : ({ capture: 'unanswered' } as const)
  const id = await plantTransaction(service, { merchantId: merchant.id, simulation: { acquirer } })
  const headers = { authorization: merchant.authorization, accept: 'application/json' }
  const answer =
    what === 'payment'
      ? await service.call(`POST /merchants/${merchant.id}/transactions`, {
          headers,
          json: { transactionId: id, currency: 'EUR', amount: 5 },
        })
      : await service.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 400 } })
  const { transactionId } = answer.json<{ transactionId: string }>()
  const read = async () =>
    (await service.call(`GET /transactions/${transactionId}`, { headers })).json<{ transaction: Record<string, unknown> }>()
      .transaction
  const [entry] = await service.app.db<{
    id: string
  }>`select id from pay.trail where transaction_id = ${id} and state = 'pending'`
  return { id: entry?.id ?? transactionId, read }
}

test('a capture that nobody tells the outcome of is settled as somebody says, once', async () => {
  const { id, read } = await leaveOpen('captures')
  expect(await run(id, 'approved')).toBe(`The capture ${id} is settled as approved.`)
  expect(await read()).toMatchObject({ capturedAmount: 400, pendingAmount: 600 })
  await expect(run(id, 'declined')).rejects.toThrow(new Mistake(`Nothing with the id ${id} waits for an answer.`))
  expect((await verify(service.app.db, service.now())).breaches).toEqual([])
})

test('a payment is settled as declined, and nobody asks about it again', async () => {
  const { id, read } = await leaveOpen('payment')
  expect(await run(id, 'declined')).toBe(`The authorization ${id} is settled as declined.`)
  service.now.advance(600)
  await createFinisher(service.app, { after: 1 })()
  expect(await read()).toMatchObject({ successful: false, error: { code: 12 }, pendingAmount: 0 })
})

test.each([
  [[], 'Say which, and how it ended: tollgate payments settle ID approved|declined'],
  [['f'.repeat(24)], 'Say which, and how it ended: tollgate payments settle ID approved|declined'],
  [['f'.repeat(24), 'maybe'], 'Say which, and how it ended: tollgate payments settle ID approved|declined'],
  [['x', 'approved'], 'The id of a transaction or of an entry of its trail is 24 hex digits, not "x".'],
  [['f'.repeat(24), 'approved'], `Nothing with the id ${'f'.repeat(24)} waits for an answer.`],
])('%j is a mistake that is told in a sentence', async (words, sentence) => {
  await expect(run(...words)).rejects.toThrow(new Mistake(sentence))
})
