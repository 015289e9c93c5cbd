import { beforeAll, expect, test } from 'vitest'
import { plantMerchant, startPayments } from '../testing.ts'
import { fakeApple, fakeMerchant, payment } from '../wallets/applepay-fake.ts'

// The still clock of every test stands here.
const apple = fakeApple(new Date('2030-01-02T03:04:05Z'))
const identity = fakeMerchant()

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>

beforeAll(async () => {
  service = await startPayments({ PAY_APPLEPAY_KEYS: identity.setting, PAY_APPLEPAY_ROOT: apple.root })
  merchant = await plantMerchant(service)
})

const ask = (what: string, json: object) =>
  service.call(`POST ${what}`, { json, headers: { 'accept-version': '1', 'content-type': 'application/json' } })

const content = { ...payment, applicationPrimaryAccountNumber: '4100000000000000' }

async function exchange(paid = apple.pay(identity, { content })) {
  return (await ask('/applepay/token', { token: JSON.stringify(paid) })).json<{ token: string }>()
}

const amount = { currency: 'EUR', exponent: 2, value: 1050 }

function order(applepay: object, more: object = {}) {
  return { integration: { key: merchant.key }, test: {}, amount, applepay, ...more }
}

/** The wallet has asked already who is paying, so that there are two steps. */
async function pay(body: object) {
  const hints: string[] = []
  for (const step of ['authorize-integration', 'authorize']) {
    const answer = await ask(`/payments/challenges/${step}`, { ...body, hints })
    if (answer.status !== 200) return answer
    hints.push(...answer.json<{ hints: string[] }>().hints)
  }
  return ask('/payments', { ...body, hints })
}

test('a payment by wallet is authenticated by the wallet, and has no security code', async () => {
  const { authorizationId } = (await pay(order(await exchange()))).json<{ authorizationId: string }>()
  const told = await service.call(`GET /transactions/${authorizationId}`, { headers: { authorization: merchant.authorization } })
  expect(told.json().transaction).toMatchObject({
    ...{ amount: 1050, tds: 'full', successful: true },
    card: { last4: '0000', expiry: '2032-12-31T23:59:59.999Z', code: { present: false } },
  })
})

test('what a wallet handed out pays one order, however often it is exchanged for a token', async () => {
  const paid = apple.pay(identity, { content })
  const body = order(await exchange(paid))
  const first = (await pay(body)).json()
  expect((await pay(body)).json()).toEqual(first)
  const other = await pay(order(await exchange(paid)))
  expect([other.status, other.json()]).toMatchObject([400, { code: 'TOKEN_INVALID', path: 'applepay' }])
})

test('nor does it pay another shop', async () => {
  const paid = apple.pay(identity, { content })
  expect((await pay(order(await exchange(paid)))).status).toBe(200)
  const other = await plantMerchant(service)
  const refused = await pay(order(await exchange(paid), { integration: { key: other.key } }))
  expect(refused.json()).toMatchObject({ code: 'TOKEN_INVALID', path: 'applepay' })
})

test('another amount than the payer saw is refused', async () => {
  const refused = await ask('/payments', order(await exchange(), { amount: { ...amount, value: 1051 } }))
  expect(refused.json()).toMatchObject({ code: 'PAYMENT_APPLEPAY_AMOUNT_MISMATCH' })
})

test('a live merchant is not paid by wallet: no acquirer takes it yet', async () => {
  const live = await plantMerchant(service, { test: false })
  const refused = await ask('/payments', { integration: { key: live.key }, amount, applepay: await exchange() })
  expect(refused.json()).toMatchObject({
    code: 'REQUEST_INVALID',
    errors: ['applepay: Not offered by this merchant; pay with a card'],
  })
})

test.each([
  [{ card: { number: { token: 'x' }, code: { token: 'x' }, expiry: { month: 1, year: 2030 } } }, 'Exactly one of card'],
  [{ applepay: undefined }, 'Exactly one of card'],
  [{ applepay: undefined, mobilepay: { configurationId: '0'.repeat(32) } }, 'mobilepay: Not offered here'],
])('%j is refused', async (more, message) => {
  const refused = await ask('/payments', order(await exchange(), more))
  expect([refused.status, refused.json<{ code: string; message: string }>()]).toMatchObject([
    400,
    { code: 'REQUEST_INVALID', message: expect.stringContaining(message) },
  ])
})
