import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, startPayments } from '../testing.ts'
import { editMerchant } from './edit-merchant.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

function prices(merchantId: string) {
  return service.app.db<{ since: Date; rate: string; flat: number }>`
    select since, rate, flat_amount as flat from pay.prices where merchant_id = ${merchantId} order by since`
}

test('claims, 3-D Secure and payouts change, the rest stays, and members see it', async () => {
  const { id, authorization } = await plantMerchant(service)
  const edited = await editMerchant(service.app, id, {
    terms: { canCapture: false, canTransferToCard: true, tdsMode: 'full', payouts: 'never' },
    price: {},
  })
  expect(edited).toMatchObject({
    ...{ canCapture: false, canTransferToCard: true, canRefund: true, tdsMode: 'full', payouts: 'never' },
    ...{ email: 'shop@example.com', price: { rate: '0.02500000' } },
  })
  expect((await service.call(`GET /merchants/${id}`, { headers: { authorization } })).json()).toMatchObject({
    merchant: { claim: { canCapture: false, canTransferToCard: true, canVoid: true }, tds: { mode: 'full' } },
  })
})

test('since when plans are executed is written down, and forgotten when they are not', async () => {
  const { id } = await plantMerchant(service)
  const since = () => service.app.db`select plans, plans_since as since from pay.merchants where id = ${id}`
  const set = (plans: 'record' | 'authorize' | 'capture') => editMerchant(service.app, id, { terms: { plans }, price: {} })
  expect(await since()).toEqual([{ plans: 'record', since: null }])
  service.now.advance(60)
  const begun = service.now()
  expect(await set('capture')).toMatchObject({ plans: 'capture' })
  service.now.advance(60)
  await set('authorize')
  await editMerchant(service.app, id, { terms: { tdsMode: 'full' }, price: {} })
  expect(await since()).toEqual([{ plans: 'authorize', since: begun }])
  await set('record')
  expect(await since()).toEqual([{ plans: 'record', since: null }])
})

test('the colour of its page is set and taken away, and stays where it is not named', async () => {
  const { id } = await plantMerchant(service)
  const edit = (accent?: string | null) => editMerchant(service.app, id, { terms: {}, price: {}, accent })
  expect(await edit('#0b6e4f')).toMatchObject({ accent: '#0b6e4f' })
  expect(await edit()).toMatchObject({ accent: '#0b6e4f' })
  expect(await edit(null)).toMatchObject({ accent: null })
})

test('a new price holds from now on, and the old one stays in the list', async () => {
  const { id } = await plantMerchant(service)
  const first = service.now()
  service.now.advance(60)
  const edited = await editMerchant(service.app, id, {
    terms: {},
    price: { rate: '0.014', flat: { currency: 'DKK', amount: 150 } },
  })
  expect(edited?.price).toEqual({
    ...{ rate: '0.01400000', flat: { currency: 'DKK', amount: 150 }, dispute: { currency: 'EUR', amount: 1500 } },
  })
  expect(await prices(id)).toEqual([
    { since: first, rate: '0.02500000', flat: 25 },
    { since: service.now(), rate: '0.01400000', flat: 150 },
  ])
})

test('a price that says nothing new is not written', async () => {
  const { id } = await plantMerchant(service)
  service.now.advance(60)
  await editMerchant(service.app, id, {
    terms: { tdsMode: 'full' },
    price: { rate: '0.025', dispute: { currency: 'EUR', amount: 1500 } },
  })
  expect(await prices(id)).toHaveLength(1)
})

test('ten prices in the same moment are all in the list, in order, whatever the clock does', async () => {
  const { id } = await plantMerchant(service)
  const rates = Array.from({ length: 10 }, (_, index) => `0.0${index + 10}`)
  await Promise.all(rates.map((rate) => editMerchant(service.app, id, { terms: {}, price: { rate } })))
  service.now.advance(-3600)
  await editMerchant(service.app, id, { terms: {}, price: { rate: '0.5' } })
  service.now.advance(3600)
  const list = await prices(id)
  expect(new Set(list.map(({ since }) => since.getTime())).size).toBe(12)
  expect(list.at(-1)?.rate).toBe('0.50000000')
})

test('a price that the table refuses leaves the claims as they were', async () => {
  const { id } = await plantMerchant(service)
  await expect(editMerchant(service.app, id, { terms: { canVoid: false }, price: { rate: '1.5' } })).rejects.toThrow(
    'prices_rate_check',
  )
  expect(await editMerchant(service.app, id, { terms: {}, price: {} })).toMatchObject({ canVoid: true })
})

test('an unknown merchant is undefined, and nothing is written', async () => {
  const id = '0123456789abcdef01234567'
  expect(await editMerchant(service.app, id, { terms: { canVoid: false }, price: { rate: '0.1' } })).toBeUndefined()
  expect(await prices(id)).toEqual([])
})
