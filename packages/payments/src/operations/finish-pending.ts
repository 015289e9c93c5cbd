import { listPending, type Pending } from '../store/pending.ts'
import { finishAuthorization } from './authorize.ts'
import { finishMovement } from './move-money.ts'

type Parts = Parameters<typeof finishMovement>[0]

/** So many that nobody can answer do not keep others from being asked about. */
const most = 10_000

/** How many are asked about at once. */
const together = 10

/** The longest that one thing is left alone before its acquirer is asked about it again. */
const longestPause = 300_000

/**
 * Asks again, with the same reference, about everything that a crash or a silent acquirer left between two strokes. Several processes may
 * do so at once: what one has settled the others leave alone.
 */
export function createFinisher(app: Parts, options: { after: number }) {
  /** When each thing is worth asking about again: twice as late every time, so that a dead acquirer is not stormed. */
  const pauses = new Map<string, { until: number; pause: number }>()

  async function attempt({ merchantId, transactionId, id, kind }: Pending): Promise<void> {
    const now = app.now().getTime()
    const last = pauses.get(id)
    if (last && last.until > now) return
    const pause = Math.min(longestPause, (last?.pause ?? options.after * 500) * 2)
    pauses.set(id, { until: now + pause, pause })
    try {
      if (kind === 'authorization') await finishAuthorization(app, merchantId, id)
      else await finishMovement(app, merchantId, transactionId, id)
    } catch (error) {
      app.log.error({ id, error }, 'what was left open could not be finished')
    }
  }

  return async function finishPending(): Promise<void> {
    const before = new Date(app.now().getTime() - options.after * 1000)
    const open = await listPending(app.db, before, most)
    app.meters.pending(open.length, open[0]?.created)
    const ids = new Set(open.map(({ id }) => id))
    for (const id of pauses.keys()) if (!ids.has(id)) pauses.delete(id)
    const left = open.values()
    const work = async () => {
      for (const each of left) await attempt(each)
    }
    await Promise.all(Array.from({ length: together }, work))
  }
}
