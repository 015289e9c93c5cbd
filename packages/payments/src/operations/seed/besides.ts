import type { Seed } from '../../rules/seed-file.ts'
import { type Besides, createMint } from '../../rules/seed-story.ts'

export type Taking = Besides & { isTaken(thing: object): boolean }

/** Lines and disputes of a file, each of which belongs to one entry of a trail at most. */
export function createBesides({ lines, disputes }: Seed, now: Date): Taking {
  const taken = new Set<object>()
  const linesById = new Map(lines.map((line) => [line.id, line]))
  const disputesById = new Map(disputes.map((dispute) => [dispute.id, dispute]))
  const decisions = Map.groupBy(
    lines.filter(({ dispute, won, lost }) => dispute && (won || lost)),
    ({ transactionId }) => transactionId,
  )
  const take = <T extends object>(thing: T | undefined): T | undefined => {
    if (!thing || taken.has(thing)) return undefined
    taken.add(thing)
    return thing
  }
  return {
    mint: createMint(),
    now,
    takeLine: (id) => take(linesById.get(id)),
    takeDispute: (id) => take(disputesById.get(id)),
    takeDecision: (transactionId, won, about) =>
      take(
        decisions
          .get(transactionId)
          ?.find((line) => !taken.has(line) && (line.won ?? false) === won && (line.amount?.amount ?? about) === about),
      ),
    isTaken: (thing) => taken.has(thing),
  }
}
