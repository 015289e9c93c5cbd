import { editMerchant } from '@tollgate/payments/operations/edit-merchant'
import { recordPlan } from '@tollgate/payments/operations/record-plan'
import { plantMerchant, plantTransaction, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Mistake } from './mistake.ts'
import { plansCommand } from './payments-plans-command.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

/** What the command prints. */
async function run(...words: string[]): Promise<string> {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    const { config, db } = service.app
    await plansCommand((work) => work({ config, db }), service.now).run(words)
    return said.mock.calls.flat().join('\n')
  } finally {
    said.mockRestore()
  }
}

async function agree(merchantId: string, status: 'valid' | 'lost' = 'valid'): Promise<string> {
  const transactionId = await plantTransaction(service, { merchantId, simulation: { card: { status } } })
  const plan = [{ amount: { currency: 'EUR', exponent: 2, value: 995 }, repeat: { interval: { unit: 'week' as const } } }]
  await service.app.db.begin((tx) => recordPlan(tx, { merchantId, transactionId, plan, now: service.now() }))
  return transactionId
}

test('what is due is paid and captured once, and it is told what became of it', async () => {
  const { id } = await plantMerchant(service)
  await editMerchant(service.app, id, { terms: { plans: 'capture' }, price: {} })
  expect(await run('run')).toBe('0 payments made, 0 declined, 0 without an answer yet.\n0 plans finished, 0 stopped.')
  const source = await agree(id)
  await agree(id, 'lost')
  expect(await run('run')).toBe('1 payment made, 1 declined, 0 without an answer yet.\n0 plans finished, 1 stopped.')
  expect(await service.app.db`select captured from pay.transactions where source_id = ${source}`).toEqual([{ captured: 995 }])
  service.now.advance(22 * 86_400)
  expect(await run('run')).toBe(
    '1 payment made, 0 declined, 0 without an answer yet.\n0 plans finished, 0 stopped.\n2 payments left out, for their time had passed.',
  )
  expect(await run('run')).toMatch(/^0 payments made/)
})

test.each([[[]], [['stop']], [['run', 'twice']], [['--now']]])('%j is a mistake', async (words) => {
  const mistake = await run(...words).catch((problem: unknown) => problem)
  expect(mistake).toBeInstanceOf(Mistake)
  expect((mistake as Mistake).message).toBe('Say what to do about plans: tollgate payments plans run')
})
