import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

test('a key tells what it did: a capture', async () => {
  const merchant = await plantMerchant(service)
  const id = await plantTransaction(service, { merchantId: merchant.id })
  const headers = { authorization: merchant.authorization }
  const capture = await service.call(`POST /transactions/${id}/captures`, {
    headers: { ...headers, 'idempotency-key': 'order/7 "x"'.replaceAll(' ', '-') },
    json: { amount: 5 },
  })
  const { lineId } = capture.json<{ transaction: { trail: { lineId: string }[] } }>().transaction.trail[0] ?? {}
  const answer = await service.call(`GET /idempotency/${encodeURIComponent('order/7-"x"')}`, { headers })
  expect(answer.json()).toEqual({
    idempotency: {
      key: 'order/7-"x"',
      method: 'POST',
      path: `/transactions/${id}/captures`,
      created: service.now().toISOString(),
      state: 'done',
      merchantId: merchant.id,
      transactionId: id,
      lineId,
    },
  })
})

test('a key tells that it is still running, or that it was declined', async () => {
  const merchant = await plantMerchant(service)
  const headers = { authorization: merchant.authorization }
  for (const [mishap, state] of [
    ['unanswered', 'running'],
    ['declined', 'declined'],
  ] as const) {
    const id = await plantTransaction(service, { merchantId: merchant.id, simulation: { acquirer: { capture: mishap } } })
    await service.call(`POST /transactions/${id}/captures`, {
      headers: { ...headers, 'idempotency-key': mishap },
      json: { amount: 5 },
    })
    expect((await service.call(`GET /idempotency/${mishap}`, { headers })).json()).toMatchObject({
      idempotency: { state, transactionId: id },
    })
  }
})

test('an unknown key, and somebody else’s, is not there', async () => {
  const [merchant, stranger] = [await plantMerchant(service), await plantMerchant(service)]
  const id = await plantTransaction(service, { merchantId: merchant.id })
  await service.call(`POST /transactions/${id}/captures`, {
    headers: { authorization: merchant.authorization, 'idempotency-key': 'mine' },
    json: { amount: 5 },
  })
  expect((await service.call('GET /idempotency/mine', { headers: { authorization: stranger.authorization } })).status).toBe(404)
  expect((await service.call('GET /idempotency/other', { headers: { authorization: merchant.authorization } })).status).toBe(404)
  expect((await service.call('GET /idempotency/mine')).status).toBe(401)
})

test.each([
  ['a space', 'a b'],
  ['256 characters', 'x'.repeat(256)],
  ['something beyond ASCII', 'caf\u00e9'],
  ['nothing', ' '],
])('a key of %s is refused, and the header is named', async (_, key) => {
  const merchant = await plantMerchant(service)
  const id = await plantTransaction(service, { merchantId: merchant.id })
  const answer = await service.call(`POST /transactions/${id}/captures`, {
    headers: { authorization: merchant.authorization, 'idempotency-key': key },
    json: { amount: 5 },
  })
  expect([answer.status, answer.json<{ field: string }[]>()[0]?.field]).toEqual([400, 'Idempotency-Key'])
})

test('a key in quotes is the same as one without', async () => {
  const merchant = await plantMerchant(service)
  const id = await plantTransaction(service, { merchantId: merchant.id })
  const capture = (key: string) =>
    service.call(`POST /transactions/${id}/captures`, {
      headers: { authorization: merchant.authorization, 'idempotency-key': key },
      json: { amount: 5 },
    })
  const [plain, quoted] = [await capture('abc'), await capture('"abc"')]
  expect(quoted.text).toBe(plain.text)
})
