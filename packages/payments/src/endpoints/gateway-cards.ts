import { anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { accepted, gatewayFails, insistOnGateway, payAtGateway, seePayee } from '../operations/pay-at-gateway.ts'
import { declined } from '../operations/refuse-payment.ts'
import { gatewayCardFields, readGatewayCard } from '../rules/gateway-order.ts'
import { Id, idempotencyNote } from '../shapes.ts'
import { insertCheckedCard } from '../store/cards.ts'

/** What whoever leaves a card behind agrees to: that it is charged when there is reason to. */
const agreement = { plan: null, unplannedMerchant: true, unplannedCustomer: false }

// Not in cards.ts, for the reasons that gateway-transactions.ts is not in transactions.ts.
export const gatewayCards = endpoint({
  method: 'POST',
  path: '/cards',
  summary: 'Save a card from its number and code, as old integrations do (deprecated: use the vault and POST /payments)',
  description: `The card is checked with a payment of nothing, and can then be charged as cardId. Whatever is missing or wrong is a processing error. ${idempotencyNote}`,
  tag: 'Gateway',
  caller: anyone,
  body: Type.Object({
    key: Type.Optional(Type.Unknown({ description: 'The public key of the merchant' })),
    ...gatewayCardFields,
  }),
  reply: { 200: Type.Object({ card: Type.Object({ id: Id }) }) },
  fails: [...gatewayFails, 'vault_missing'],
  subject: insistOnGateway,

  async run(app, { body, request }) {
    const payee = await seePayee(app, body.key)
    if (!payee.canSaveCard) throw declined(28)
    const card = accepted(readGatewayCard(body))
    const check = await payAtGateway(app, request, { payee, amount: 0, currency: payee.currency, card, agreement })
    await insertCheckedCard(app.db, { merchantId: payee.id, transactionId: check.id })
    return { card: check }
  },
})
