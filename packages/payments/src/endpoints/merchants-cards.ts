import type { Sql } from '@tollgate/kit/db'
import { tagOf } from '@tollgate/kit/id'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail, unfit } from '../errors.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { createKept } from '../rules/kept.ts'
import { processingError } from '../rules/processing-errors.ts'
import { Id, idempotencyNote } from '../shapes.ts'
import { insertCardOfTransaction } from '../store/cards.ts'

export const merchantsCards = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/cards',
  summary: 'Save the card of a transaction (deprecated: make the next transaction from the earlier one instead)',
  description: idempotencyNote,
  tag: 'Cards',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({ transactionId: Id, notes: Type.Optional(Type.String({ maxLength: 1000 })) }),
  reply: { 201: Type.Object({ card: Type.Object({ id: Id }) }) },
  fails: ['not_found', 'processing_failed', ...onceFails],
  subject: seeMerchant,

  run(app, { who, subject: merchant, body, request }) {
    noteDeprecated(app, merchant.id)
    return once(app, readClaim({ who, request, body }), async (tx) => ({
      card: { id: await saveCard(app, tx, { merchantId: merchant.id, ...body }) },
    }))
  },
})

type Asked = { merchantId: string; transactionId: string; notes?: string }

/** The id of the card that was saved. */
async function saveCard({ mintId, now }: App, sql: Sql, { notes, ...asked }: Asked): Promise<string> {
  const id = mintId(tagOf(asked.merchantId))
  const { allowed, saved } = await insertCardOfTransaction(sql, { ...asked, id, created: now(), notes: notes ?? null })
  if (!allowed) throw fail('processing_failed', { more: processingError(28) })
  if (!saved) throw unfit('transactionId', 'Must be an approved transaction of this merchant')
  return id
}

const noted = createKept<true>(1000)

function noteDeprecated({ log }: App, merchantId: string) {
  if (noted.find(merchantId)) return
  noted.keep(merchantId, true)
  log.warn(
    { merchant: merchantId },
    'a merchant saves cards, which is deprecated: transactions can be made from earlier transactions',
  )
}
