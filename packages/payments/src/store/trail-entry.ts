import type { ProcessingCode } from '../rules/processing-errors.ts'

export type TrailEntry = {
  id: string
  position: number
  kind: 'capture' | 'refund' | 'void' | 'dispute'
  state: 'pending' | 'done' | 'failed'
  created: Date
  amount: number
  gross: number
  feeFlat: number
  feeRate: number
  balance: number
  descriptor: string | null
  lineId: string | null
  disputeId: string | null
  disputeWon: boolean | null
  errorCode: ProcessingCode | null
  settled: Date | null
  /** Which of its transaction's entries it was to be done or to fail. */
  settlement: number | null
}

/** A row of the trail as PostgreSQL writes it in JSON. */
export type RawEntry = {
  id: string
  position: number
  kind: TrailEntry['kind']
  state: TrailEntry['state']
  created: string
  amount: number
  gross: number
  fee_flat: number
  fee_rate: number
  balance: number
  descriptor: string | null
  line_id: string | null
  dispute_id: string | null
  dispute_won: boolean | null
  error_code: ProcessingCode | null
  settled: string | null
  settlement: number | null
}

export function toEntry(row: RawEntry): TrailEntry {
  return {
    id: row.id,
    position: row.position,
    kind: row.kind,
    state: row.state,
    created: new Date(row.created),
    amount: row.amount,
    gross: row.gross,
    feeFlat: row.fee_flat,
    feeRate: row.fee_rate,
    balance: row.balance,
    descriptor: row.descriptor,
    lineId: row.line_id,
    disputeId: row.dispute_id,
    disputeWon: row.dispute_won,
    errorCode: row.error_code,
    settled: row.settled === null ? null : new Date(row.settled),
    settlement: row.settlement,
  }
}
