import { seed } from '@tollgate/payments/operations/seed'
import { verify } from '@tollgate/payments/operations/verify'
import { basic, startPayments } from '@tollgate/payments/testing'
import { expect, onTestFinished, test } from 'vitest'
import { demoShop } from './demo-shop.ts'

const app = { id: '6918a2ea0000000000000001', key: '4f1f3c8e-7d1c-4a2b-9c3d-000000000001', created: '2029-12-25T10:00:00.000Z' }

test.each([0, 1, 2, 3, 4, 5, 6])(
  'the shop has weeks of history whose books are right, whatever the weekday (%i)',
  async (shift) => {
    const service = await startPayments()
    onTestFinished(() => service.stop())
    const today = new Date(service.now().getTime() - shift * 86_400_000)
    const shop = demoShop({ app, today })
    const loaded = await seed(service.app, shop)
    expect(loaded.transactions).toBeGreaterThan(60)
    expect(loaded).toMatchObject({ apps: 1, merchants: 1, disputes: 3, frauds: 1 })
    expect((await verify(service.app.db, service.now())).breaches).toEqual([])
    // A second start finds everything there.
    expect(Object.values(await seed(service.app, demoShop({ app, today }))).every((count) => count === 0)).toBe(true)

    const headers = { authorization: basic(app.key) }
    const [merchant] = (await service.call(`GET /identities/${app.id}/merchants?limit=10`, { headers })).json<
      { id: string; balance: number; name: string }[]
    >()
    expect(merchant).toMatchObject({ name: 'Fjord & Fern' })
    expect(merchant?.balance).toBeGreaterThan(0)
    const lines = (await service.call(`GET /merchants/${merchant?.id}/lines?limit=1000`, { headers })).json<
      { payout?: true; balance: number }[]
    >()
    const payouts = lines.filter(({ payout }) => payout)
    expect(payouts.length).toBeGreaterThan(2)
    // What is left is less than two weeks of sales.
    expect(merchant?.balance).toBeLessThan(Math.abs(payouts.reduce((sum, { balance }) => sum + balance, 0)))
  },
)
