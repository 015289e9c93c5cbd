import { lines } from '@tollgate/kit/shape'
import Type, { type Static } from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { Line, tellLine } from '../operations/tell-line.ts'
import { readPage } from '../rules/page.ts'
import { Id, pageFields } from '../shapes.ts'
import { type LineFilter, type LineKind, limitLineSearch, listLines } from '../store/lines.ts'

const Filter = Type.Object({
  test: Type.Optional(Type.Boolean()),
  transactionId: Type.Optional(Id),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  capture: Type.Optional(Type.Boolean()),
  refund: Type.Optional(Type.Boolean()),
  payout: Type.Optional(Type.Boolean()),
  dispute: Type.Optional(Type.Boolean()),
})

export const merchantsLines = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}/lines',
  summary: 'List the lines that make up the balance of a merchant, newest first',
  tag: 'Lines',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  query: Type.Object({ ...pageFields, filter: Type.Optional(Filter) }),
  reply: { 200: lines(Line) },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db }, { subject: merchant, query }) {
    const { test = merchant.test, transactionId, description, ...marks } = query.filter ?? {}
    const filter = { kinds: kindsMarked(marks), transactionId, description }
    // A line is a test line because its merchant is a test merchant: none needs to be looked at.
    if (test !== merchant.test || filter.kinds.length === 0) return []
    if (!isNarrow(filter)) return (await listLines(db, merchant.id, filter, readPage(query))).map(tellLine)
    // On a connection of its own, and not for ever: a long way to what is asked for must not hold up the short statements of everybody else.
    return db.begin(async (tx) => {
      await limitLineSearch(tx)
      return (await listLines(tx, merchant.id, filter, readPage(query))).map(tellLine)
    })
  },
})

const allKinds: readonly LineKind[] = ['capture', 'refund', 'payout', 'dispute']

/** A line has one mark: whoever asks for two of them gets nothing. */
function kindsMarked(marks: Pick<Static<typeof Filter>, LineKind>): LineKind[] {
  const wanted = allKinds.filter((kind) => marks[kind])
  return allKinds.filter((kind) => marks[kind] !== false && wanted.every((other) => other === kind))
}

function isNarrow({ kinds, transactionId, description }: LineFilter): boolean {
  return kinds.length < allKinds.length || transactionId !== undefined || description !== undefined
}
