import { type Answer, answer } from '../welcome/answer.ts'
import { catalogue } from './catalogue.ts'
import type { ShopFacts } from './facts.ts'
import { leaf, shopPage } from './frame.ts'
import { shopName } from './goods.ts'
import { findOrder } from './order.ts'
import { noOrderPage, orderPage } from './order-page.ts'

/** The pages of the demo shop. */
export function openShop(facts: ShopFacts) {
  return {
    catalogue: (): Answer => shopPage({ title: shopName, main: catalogue(facts, new Date()), sells: true }, facts),

    async order(transactionId: string): Promise<Answer> {
      const order = await findOrder(facts, transactionId)
      if (!order) return shopPage({ title: `No such order – ${shopName}`, main: noOrderPage() }, facts, 404)
      return shopPage({ title: `Thank you – ${shopName}`, main: orderPage(order, facts) }, facts)
    },

    leaf: (): Answer => answer(200, 'image/svg+xml', leaf, { 'Cache-Control': 'max-age=86400' }),
  }
}
