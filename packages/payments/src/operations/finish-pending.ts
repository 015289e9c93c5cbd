import { listPendingEntries } from '../store/trail.ts'
import { listPendingAuthorizations } from '../store/transactions.ts'
import { finishAuthorization } from './authorize.ts'
import { finishMovement } from './move-money.ts'

type Parts = Parameters<typeof finishMovement>[0]

const most = 200

/** The longest that one thing is left alone before its acquirer is asked about it again. */
const longestPause = 300_000

/**
 * Asks again, with the same reference, about everything that a crash or a silent acquirer left between two strokes. Several processes may
 * do so at once: what one has settled the others leave alone.
 */
export function createFinisher(app: Parts, options: { after: number }) {
  /** When each thing is worth asking about again: twice as late every time, so that a dead acquirer is not stormed. */
  const pauses = new Map<string, { until: number; pause: number }>()

  async function attempt(id: string, finish: () => Promise<void>): Promise<void> {
    const now = app.now().getTime()
    const last = pauses.get(id)
    if (last && last.until > now) return
    const pause = Math.min(longestPause, (last?.pause ?? options.after * 500) * 2)
    pauses.set(id, { until: now + pause, pause })
    try {
      await finish()
    } catch (error) {
      app.log.error({ id, error }, 'what was left open could not be finished')
    }
  }

  return async function finishPending(): Promise<void> {
    const before = new Date(app.now().getTime() - options.after * 1000)
    const entries = await listPendingEntries(app.db, before, most)
    const payments = await listPendingAuthorizations(app.db, before, most)
    const open = new Set([...entries, ...payments].map(({ id }) => id))
    const [oldest] = [...entries, ...payments].toSorted((one, other) => one.created.getTime() - other.created.getTime())
    app.meters.pending(open.size, oldest?.created)
    for (const id of pauses.keys()) if (!open.has(id)) pauses.delete(id)
    for (const { merchantId, transactionId, id } of entries)
      await attempt(id, () => finishMovement(app, merchantId, transactionId, id))
    for (const { merchantId, id } of payments) await attempt(id, () => finishAuthorization(app, merchantId, id))
  }
}
