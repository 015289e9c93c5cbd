import { anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { accepted, gatewayFails, insistOnGateway, payAtGateway, seePayee } from '../operations/pay-at-gateway.ts'
import {
  gatewayCardFields,
  readGatewayAmount,
  readGatewayCard,
  readGatewayCurrency,
  readGatewayDescriptor,
} from '../rules/gateway-order.ts'
import { Custom, Id, idempotencyNote } from '../shapes.ts'

// Not in transactions.ts, where its path would put it: it is no part of the API of merchants, has other callers and another dialect, and goes
// when the last old integration goes.
export const gatewayTransactions = endpoint({
  method: 'POST',
  path: '/transactions',
  summary: 'Pay with the number and the code of a card, as old integrations do (deprecated: use the vault and POST /payments)',
  description: `Whatever is missing or wrong is a processing error. There is no 3-D Secure here: a merchant that demands it is refused with 30. ${idempotencyNote}`,
  tag: 'Gateway',
  caller: anyone,
  body: Type.Object({
    key: Type.Optional(Type.Unknown({ description: 'The public key of the merchant' })),
    currency: Type.Optional(Type.Unknown({ description: 'ISO 4217 code' })),
    amount: Type.Optional(Type.Unknown({ description: 'In minor units' })),
    card: Type.Optional(Type.Object(gatewayCardFields)),
    descriptor: Type.Optional(Type.Unknown({ description: 'Text on the bank statement of the customer' })),
    custom: Type.Optional(Custom),
    tds: Type.Optional(
      Type.Object({ pares: Type.Optional(Type.Unknown({ description: 'Of 3-D Secure 1, which is no more: refused with 31' })) }),
    ),
  }),
  reply: { 200: Type.Object({ transaction: Type.Object({ id: Id }) }) },
  fails: gatewayFails,
  subject: insistOnGateway,

  async run(app, { body, request }) {
    const payee = await seePayee(app, body.key)
    const order = {
      ...accepted(readGatewayAmount(body.amount)),
      ...accepted(readGatewayCurrency(body.currency)),
      ...accepted(readGatewayDescriptor(body.descriptor)),
      card: accepted(readGatewayCard(body.card ?? {})),
    }
    const transaction = await payAtGateway(app, request, { payee, ...order, custom: body.custom, pares: body.tds?.pares })
    return { transaction }
  },
})
