import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultName, Strike } from './schedule.ts'
import type { Stage } from './stage.ts'

type Strikes = (stage: Stage, strike: Strike) => unknown

/** What each fault does. Those of the network go on while the next one strikes; processes are started again before that. */
export const faults: Record<FaultName, Strikes> = {
  worker: ({ service }, { lot }) => service.killWorker(lot),

  async service({ service }, { lasting, coin }) {
    await service.kill(coin)
    await sleep(Math.min(lasting, 500))
    await service.start()
  },

  postgres: ({ postgres }, { lasting }) => postgres.crash(() => sleep(Math.min(lasting, 1_500))),

  backend: ({ postgres }, { lot }) => postgres.killBackend(lot),

  // All of them, or some.
  cut({ proxy }, { lot, coin }) {
    let number = 0
    proxy.cut(() => coin || (++number * lot) % 1 < 0.5)
  },

  stall({ proxy, over }, { lasting, coin }) {
    proxy.stall()
    later(over, lasting, () => {
      // What waited arrives, or never does.
      if (coin) proxy.cut()
      proxy.flow()
    })
  },

  dribble({ proxy, over }, { lasting, coin }) {
    proxy.dribble(coin ? 1 : 0)
    later(over, lasting, () => proxy.flow())
  },

  refuse({ proxy, over }, { lasting, coin }) {
    proxy.refuse()
    if (coin) proxy.cut()
    later(over, Math.min(lasting, 3_000), () => proxy.accept())
  },

  commit: ({ proxy }, { lot }) => proxy.loseCommits(1 + Math.floor(lot * 4)),

  answer: ({ proxy }, { lot }) => proxy.loseAnswers(1 + Math.floor(lot * 4)),
}

/** Unless the run is over by then: whoever ends it sets right what is still wrong. */
function later(over: AbortSignal, milliseconds: number, act: () => void) {
  sleep(milliseconds, undefined, { signal: over, ref: false }).then(act, () => {})
}
