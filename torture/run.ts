import { setTimeout as sleep } from 'node:timers/promises'
import type { Cleanup } from '../bench/cleanup.ts'
import { acquirerScene } from './acquirer/scene.ts'
import type { ProxyTally } from './fault-proxy.ts'
import { faults } from './faults.ts'
import { identityScene } from './identity/scene.ts'
import { paymentsScene } from './payments.ts'
import { createRandom, type Random } from './random.ts'
import { type Finding, NobodyAnswers, restPatience, type Scene } from './scene.ts'
import { type FaultName, faultNames, faultsOf, type ServiceName, type Strike, schedule } from './schedule.ts'
import { type Stage, setStage } from './stage.ts'

export type Torture = {
  service: ServiceName
  seed: number
  /** For how long things go wrong. */
  seconds: number
  /** Those that a service knows nothing of are left out. */
  faults: readonly FaultName[]
  /** Milliseconds that a fault lasts at most. */
  longest: number
  program: string
  workers: number
  assistants: number
  customers: number
  people: number
  /** Milliseconds that a client waits before every request. */
  pause: number
  /** Is told of every strike when it happens. */
  tell?(moment: number, strike: Strike): void
}

export type Report = {
  service: ServiceName
  findings: Finding[]
  strikes: Record<FaultName, number>
  proxy: ProxyTally
  processes: { starts: number; failedStarts: number; killed: number }
  /** How often each complaint was in the log of the service. */
  trouble: Record<string, number>
  figures: Record<string, number>
  history: readonly object[]
  log: string
}

/** How much longer a run may become so that every fault is felt. */
const grace = 30_000

/** Load, faults, rest, and a look at what is left. */
export async function torture(options: Torture, cleanup: Cleanup): Promise<Report> {
  let began = performance.now()
  const now = () => performance.now() - began
  const random = createRandom(options.seed)
  const scene = await setScene(options, random, cleanup)
  const stage = await setStage({ ...options, ...scene, now }, cleanup)
  const { service } = stage
  await service.start()
  const end = options.seconds * 1000 + grace + restPatience * 2
  const play = await scene.open(stage, { now, pause: options.pause, end })

  began = performance.now()
  let closed = false
  const loading = play.load(random, () => !closed)
  // Whoever gives up is heard below; until then it is nobody's unhandled rejection.
  loading.catch(() => {})
  const strikes = await strike(stage, options, now)
  closed = true
  stage.calm()
  const sql = await stage.openSql()
  const findings: Finding[] = []
  try {
    await loading
    findings.push(...(await play.settle(sql, random)))
  } catch (problem) {
    if (!(problem instanceof NobodyAnswers)) throw problem
    findings.push({ rule: 'the service did not come back', what: problem.message })
  }
  findings.push(...service.deaths.map((what) => ({ rule: 'a process ended by itself', what })))
  findings.push(...(await play.check(sql)))
  return {
    service: options.service,
    findings,
    strikes,
    proxy: stage.proxy.tally,
    processes: service.tally,
    trouble: Object.fromEntries(service.trouble),
    figures: { ...play.figures(), ...(stage.disk && { 'refused for want of room': service.lacksRoom() }) },
    history: play.history,
    log: `${stage.folder}/service.log`,
  }
}

function setScene(options: Torture, random: Random, cleanup: Cleanup): Scene | Promise<Scene> {
  const { service, people, assistants: shops } = options
  if (service === 'payments') return paymentsScene(options, cleanup)
  if (service === 'acquirer') return acquirerScene({ shops, random: random.fork() }, cleanup)
  return identityScene({ people, random: random.fork() }, cleanup)
}

/** Until time is up, and every chosen fault has been felt once at least. */
async function strike(stage: Stage, options: Torture, now: () => number): Promise<Report['strikes']> {
  const strikes = Object.fromEntries(faultNames.map((name) => [name, 0])) as Report['strikes']
  const { tally } = stage.proxy
  const { smtp, sms, acquirer } = stage.outsiders
  const chosen = faultsOf(options.service, options.faults)
  const isFelt = (name: FaultName) =>
    ({
      ...strikes,
      ...{ cut: tally.cut, refuse: tally.refused, stall: tally.stalled, dribble: tally.dribbledBytes },
      ...{ commit: tally.lostCommits, answer: tally.lostAnswers },
      ...{ disk: stage.service.lacksRoom(), smtp: smtp?.felt() ?? 0, sms: sms?.felt() ?? 0 },
      acquirer: acquirer?.felt() ?? 0,
    })[name] > 0
  const end = options.seconds * 1000
  for (const each of schedule(options.seed, chosen, options.longest)) {
    await sleep(each.pause)
    if (now() > end + grace || (now() > end && chosen.every(isFelt))) break
    options.tell?.(now(), each)
    strikes[each.fault]++
    await faults[each.fault](stage, each)
  }
  return strikes
}
