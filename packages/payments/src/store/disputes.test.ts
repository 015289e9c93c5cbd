import { tagOf } from '@tollgate/kit/id'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, startPayments } from '../testing.ts'
import { insertDispute, lockDispute, type NewDispute, setDisputeDecided } from './disputes.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

function newDispute(acquirerReference: string): NewDispute {
  const mint = () => service.app.mintId(tagOf(merchant.id))
  const facts = { amount: 300, held: 200, reasonCode: 4853, reasonTitle: 'Goods not received', acquirerReference }
  return { merchantId: merchant.id, id: mint(), transactionId: mint(), created: service.now(), due: service.now(), ...facts }
}

test('a dispute that is told of ten times at once is there once', async () => {
  const { db } = service.app
  const told = await Promise.all(
    Array.from({ length: 10 }, () => db.begin((tx) => insertDispute(tx, newDispute('told at once')))),
  )
  expect(told.filter(Boolean)).toHaveLength(1)
})

test('a dispute that is decided both ways at once is decided one way', async () => {
  const { db } = service.app
  const dispute = newDispute('decided at once')
  const { merchantId, id } = dispute
  await db.begin((tx) => insertDispute(tx, dispute))
  const decided = new Date('2030-02-01T00:00:00Z')
  const decisions = await Promise.all(
    [true, false, true, false].map((won) => db.begin((tx) => setDisputeDecided(tx, { merchantId, id, won, decided }))),
  )
  expect(decisions.filter(Boolean)).toHaveLength(1)
  const won = decisions.indexOf(true) % 2 === 0
  expect(await db.begin((tx) => lockDispute(tx, merchantId, id))).toEqual({ ...dispute, won, decided })
})

test('a dispute of another merchant is not there to be locked', async () => {
  const { db } = service.app
  const dispute = newDispute('somebody else’s')
  await db.begin((tx) => insertDispute(tx, dispute))
  expect(await db.begin((tx) => lockDispute(tx, 'f'.repeat(24), dispute.id))).toBeUndefined()
})
