import Type, { type Static } from 'typebox'
import type { CardFacts, Simulation } from '../acquirers/acquirer.ts'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { unfit } from '../errors.ts'
import { authorize } from '../operations/authorize.ts'
import { readClaim } from '../operations/read-claim.ts'
import { orReplay, replayAuthorization } from '../operations/replay.ts'
import { seeTestMerchant } from '../operations/see-test-merchant.ts'
import { isChargeable } from '../rules/currencies.ts'
import { SimulationShape } from '../rules/simulation-shape.ts'
import { findTestCard } from '../rules/test-cards.ts'
import { Amount, Currency, Custom, Descriptor, Id, idempotencyNote } from '../shapes.ts'

const Card = Type.Object({
  number: Type.Optional(
    Type.String({
      description:
        'Of a test card, with or without spaces. 4100 0000 0000 0000, which is what it is unless told, and 5100 0000 0000 0000 are approved. ' +
        '4100 0000 0000 00NN is declined with processing error NN, which is one of 03 to 12, 25, 29, 30 and 31. With 4200 0000 0000 0000 and ' +
        '5555 5555 5555 4444 the amount decides: 20000 is approved, 40413 is declined for insufficient funds.',
    }),
  ),
  expiry: Type.Optional(
    Type.Object({ month: Type.Integer({ minimum: 1, maximum: 12 }), year: Type.Integer({ minimum: 2000, maximum: 2099 }) }),
  ),
  code: Type.Optional(Type.String({ pattern: '^[0-9]{3}$', format: 'security code of 3 digits' })),
})

export const simulatorPayments = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/simulator/payments',
  summary: 'Pay a test merchant, as a customer would',
  description: `For test merchants alone, with test cards alone. What is left out is as it would be with a card that works. ${idempotencyNote}`,
  tag: 'Simulator',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({
    amount: Amount,
    currency: Currency,
    card: Type.Optional(Card),
    test: Type.Optional(SimulationShape),
    descriptor: Type.Optional(Descriptor),
    custom: Type.Optional(Custom),
    tds: Type.Optional(Type.Enum(['none', 'attempt', 'full'])),
  }),
  reply: { 201: Type.Object({ transaction: Type.Object({ id: Id }) }) },
  fails: [
    'not_found',
    'validation_failed',
    'processing_failed',
    'outcome_unknown',
    'idempotency_running',
    'idempotency_mismatch',
    'exchange_unavailable',
  ],

  subject: seeTestMerchant,

  async run(app, { who, subject: merchant, body, request }) {
    const { amount, currency, test: simulation, descriptor = merchant.descriptor, custom = null } = body
    // Before anything is made of the request: a number that may be somebody's must not leave a trace, not even in a hash.
    const card = readCard(body.card ?? {}, app.now())
    if (!isChargeable(currency)) throw unfit('currency', 'Must be the code of a currency that payments can be made in')
    const claim = readClaim({ who, request, body: { ...body, card: { ...body.card, code: card.codePresent } } })
    const transaction = await orReplay(
      app,
      claim,
      () =>
        authorize(app, {
          merchant,
          amount,
          currency,
          card,
          descriptor,
          custom,
          recurring: false,
          source: undefined,
          cardId: null,
          tds: body.tds ?? tdsOf(simulation),
          simulation,
          claim,
        }),
      (claimed) => replayAuthorization(app, claimed),
    )
    return { transaction }
  },
})

function readCard({ number = '4100 0000 0000 0000', expiry, code }: Static<typeof Card>, now: Date): CardFacts {
  const card = findTestCard(number)
  if (!card)
    throw unfit('card.number', 'Not a test card, and no others may be sent here; 4100 0000 0000 0000 is one that always succeeds')
  const { month, year } = expiry ?? { month: 12, year: now.getUTCFullYear() + 3 }
  return {
    bin: card.number.slice(0, 6),
    last4: card.number.slice(-4),
    // The last millisecond of the month.
    expiry: new Date(Date.UTC(year, month) - 1),
    scheme: card.scheme,
    codePresent: code !== undefined,
  }
}

/** How far 3-D Secure came, as the simulated bank tells. */
function tdsOf(simulation: Simulation | undefined): 'none' | 'attempt' | 'full' {
  const status = simulation?.tds?.status
  if (status === 'authenticated') return 'full'
  return status === 'attempted' ? 'attempt' : 'none'
}
