import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { Id } from '../shapes.ts'
import type { DisputeRow } from '../store/disputes.ts'

export const Dispute = Type.Object({
  id: Id,
  merchantId: Id,
  transactionId: Id,
  created: Moment,
  amount: Type.Integer({ description: 'In minor units of the currency of the transaction' }),
  reason: Type.Object({ code: Type.Integer(), title: Type.String() }),
  due: Moment,
})

const Mark = Type.Optional(Type.Literal(true))

/** A dispute and, which the public lists leave to the trail of its transaction, how it ended. */
export const EndedDispute = Type.Object({ ...Dispute.properties, won: Mark, lost: Mark })

export function tellEndedDispute({ won, ...dispute }: DisputeRow) {
  const told = tellDispute(dispute)
  if (won === null) return told
  return won ? { ...told, won: true as const } : { ...told, lost: true as const }
}

export function tellDispute<Row extends { reasonCode: number; reasonTitle: string }>({
  reasonCode,
  reasonTitle,
  ...dispute
}: Row) {
  return { ...dispute, reason: { code: reasonCode, title: reasonTitle } }
}
