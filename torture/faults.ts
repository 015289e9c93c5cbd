import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultName, Strike } from './schedule.ts'
import type { Outsider, Stage } from './stage.ts'

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

  // Forward or back by a minute or by as much as may be, and everything between, on all workers or on some.
  clock({ clock, longestJump, over }, { lasting, lot, coin }) {
    const share = (lot * 4) % 1
    const jump = Math.round(minute * (longestJump / minute) ** share) * (lot < 0.5 ? 1 : -1)
    clock.set(coin ? [jump] : [jump, 0])
    later(over, lasting, () => clock.right())
  },

  async disk({ disk, postgres }, { lasting }) {
    disk?.fill()
    await sleep(Math.min(lasting, 2_000))
    disk?.free()
    await postgres.revive()
  },

  smtp: ({ outsiders: { smtp }, over }, { lasting, lot }) => upset(smtp, lot, over, lasting),

  acquirer: ({ outsiders: { acquirer }, over }, { lasting, lot }) => upset(acquirer, lot, over, lasting),

  sms: ({ outsiders: { sms }, over }, { lasting, lot }) => upset(sms, lot, over, lasting),
}

const minute = 60_000

function upset(outsider: Outsider | undefined, lot: number, over: AbortSignal, lasting: number) {
  outsider?.sulk(lot)
  later(over, lasting, () => outsider?.behave())
}

/** Unless the run is over by then: whoever ends it sets right what is still wrong. */
function later(over: AbortSignal, milliseconds: number, act: () => void) {
  sleep(milliseconds, undefined, { signal: over, ref: false }).then(act, () => {})
}
