import type { TestedService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { editMerchant } from '../operations/edit-merchant.ts'
import { recordPlan } from '../operations/record-plan.ts'
import { runPlans } from '../operations/run-plans.ts'
import type { Plan } from '../rules/plan-shape.ts'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

const amount = { currency: 'EUR', exponent: 2, value: 995 }

type Merchant = Awaited<ReturnType<typeof plantMerchant>>

async function agree({ id: merchantId }: Merchant, plan: Plan): Promise<string> {
  const transactionId = await plantTransaction(service, { merchantId })
  await service.app.db.begin((tx) => recordPlan(tx, { merchantId, transactionId, plan, now: service.now() }))
  return transactionId
}

function list({ id, authorization }: Merchant, query = 'limit=10') {
  return service.call(`GET /merchants/${id}/plans?${query}`, { headers: { authorization } })
}

function stop({ id, authorization }: Merchant, transactionId: string) {
  return service.call(`DELETE /merchants/${id}/plans/${transactionId}`, { headers: { authorization } })
}

async function listed(merchant: Merchant, query: string): Promise<string[]> {
  return (await list(merchant, query)).json<{ transactionId: string }[]>().map(({ transactionId }) => transactionId)
}

const later = new Date('2030-06-01T00:00:00Z')
const monthly: Plan = [{ amount, repeat: { interval: { unit: 'month' } } }]

test('a plan is told as it is understood, with what comes next', async () => {
  const merchant = await plantMerchant(service)
  const now = service.now().toISOString()
  const id = await agree(merchant, [
    { amount: { ...amount, exponent: 3 }, repeat: { count: 3, interval: { unit: 'week', value: 2 } } },
    { amount, scheduled: later },
  ])
  const { status, text } = await list(merchant)
  expect(status).toBe(200)
  expect(text.split('\n')).toHaveLength(4)
  expect(JSON.parse(text)).toEqual([
    {
      ...{ transactionId: id, created: now, state: 'active', made: 0, missed: 0, error: false },
      plan: [
        { amount: 100, currency: 'EUR', repeat: { first: now, count: 3, interval: { unit: 'week', value: 2 } } },
        { amount: 995, currency: 'EUR', scheduled: later.toISOString() },
      ],
      next: { component: 0, occurrence: 0, due: now, amount: 100, currency: 'EUR', tries: 0, tryAt: now },
    },
  ])
})

test('it is told how far a plan has come, and what went wrong', async () => {
  const merchant = await plantMerchant(service)
  await editMerchant(service.app, merchant.id, { terms: { plans: 'authorize' }, price: {} })
  const going = await agree(merchant, monthly)
  const stopped = await agree(merchant, monthly)
  await service.app.db`update pay.transactions set simulation = '{"card":{"status":"lost"}}' where id = ${stopped}`
  await runPlans(service.app)
  const [second, first] = (await list(merchant)).json<Record<string, unknown>[]>()
  const source = await service.app.db<{ id: string }>`select id from pay.transactions where source_id = ${going}`
  expect(first).toMatchObject({
    ...{ transactionId: going, state: 'active', made: 1, lastTransactionId: source[0]?.id, error: false },
    next: { occurrence: 1, tries: 0 },
  })
  expect(second).toMatchObject({
    ...{ transactionId: stopped, state: 'stopped', reason: 'final_error', ended: service.now().toISOString(), made: 0 },
    error: { code: 10, message: 'Card rejected' },
  })
  expect(second).not.toHaveProperty('next')
})

test('a list goes on before an id, after one in turned order, and is filtered', async () => {
  const merchant = await plantMerchant(service)
  const [oldest, middle, newest] = [
    await agree(merchant, monthly),
    await agree(merchant, monthly),
    await agree(merchant, monthly),
  ]
  expect(await listed(merchant, 'limit=10')).toEqual([newest, middle, oldest])
  expect(await listed(merchant, `limit=10&before=${middle}`)).toEqual([oldest])
  expect(await listed(merchant, `limit=1&after=${oldest}`)).toEqual([middle])
  await stop(merchant, middle)
  expect(await listed(merchant, 'limit=10&filter[state]=active')).toEqual([newest, oldest])
  expect(await listed(merchant, 'limit=10&filter[state]=stopped')).toEqual([middle])
  expect(await listed(merchant, 'limit=10&filter[state]=finished')).toEqual([])
  expect(await listed(merchant, `limit=10&filter[transactionId]=${oldest}`)).toEqual([oldest])
})

test('a state that there is none of, and a missing limit, are named', async () => {
  const merchant = await plantMerchant(service)
  expect((await list(merchant, 'limit=1&filter[state]=paused')).json()).toMatchObject([{ field: 'filter.state' }])
  expect((await list(merchant, '')).json()).toMatchObject([{ field: 'limit' }])
})

test('a plan that was stopped charges nobody any more, and stopping it again changes nothing', async () => {
  const merchant = await plantMerchant(service)
  await editMerchant(service.app, merchant.id, { terms: { plans: 'capture' }, price: {} })
  const id = await agree(merchant, monthly)
  const stopped = await stop(merchant, id)
  expect([stopped.status, stopped.text]).toEqual([204, ''])
  await runPlans(service.app)
  const [told] = (await list(merchant)).json<Record<string, unknown>[]>()
  expect(told).toMatchObject({ state: 'stopped', reason: 'asked', made: 0, ended: service.now().toISOString() })
  service.now.advance(60)
  expect((await stop(merchant, id)).status).toBe(204)
  expect((await list(merchant)).json()).toEqual([told])
})

test('plans of others and payments without one are 404', async () => {
  const [mine, theirs] = [await plantMerchant(service), await plantMerchant(service)]
  const plan = await agree(theirs, monthly)
  const plain = await plantTransaction(service, { merchantId: mine.id })
  expect((await list({ ...theirs, authorization: mine.authorization })).status).toBe(404)
  expect((await stop({ ...theirs, authorization: mine.authorization }, plan)).status).toBe(404)
  expect((await stop(mine, plan)).status).toBe(404)
  expect((await stop(mine, plain)).status).toBe(404)
  expect((await list({ ...mine, authorization: '' })).status).toBe(401)
  expect((await list(theirs)).json()).toMatchObject([{ state: 'active' }])
})
