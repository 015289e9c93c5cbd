import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { Id } from '../shapes.ts'
import { findOwnCard } from '../store/cards.ts'

const Card = Type.Object({
  id: Id,
  merchantId: Id,
  created: Moment,
  bin: Type.String({ description: 'The first six digits' }),
  last4: Type.String({ description: 'The last four digits' }),
  expiry: Moment,
  scheme: Type.Union([Type.Literal('visa'), Type.Literal('mastercard')]),
  notes: Type.Union([Type.String(), Type.Null()]),
  deleted: Type.Union([Moment, Type.Null()]),
})

export const card = endpoint({
  method: 'GET',
  path: '/cards/{card_id}',
  summary: 'Show a saved card (deprecated)',
  tag: 'Cards',
  caller: identified,
  params: Type.Object({ card_id: Id }),
  reply: { 200: Type.Object({ card: Card }) },
  fails: ['not_found'],

  async run({ db }, { who, params }) {
    const found = await findOwnCard(db, who.id, params.card_id)
    if (!found) throw fail('not_found')
    return { card: found }
  },
})
