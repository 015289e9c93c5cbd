import type { Requests } from './requests.ts'
import type { Server } from './servers.ts'
import type { Stage } from './stage.ts'

export type Workload = {
  name: string
  title: string
  /** Called once, before anything is measured. */
  prepare(stage: Stage): Promise<Ready>
  /** Requests a second, for what is to be seen at leisure; without it as many as are answered. */
  rate?: number
  /** Requests a second at which latency is looked at by itself, after all rounds. */
  pace?: number
  /** Where more at once would be sent away, or never come. */
  mostConnections?: number
  /** Workloads that its requests/s are compared with, round by round. */
  compared?: readonly Compared[]
  /** The workload that does the same with the statements alone: what a request costs is compared with that. */
  bare?: string
  /** What is the same in all sizes, and how many rows there are in this one. */
  growth?: { family: string; rows: number }
  /** Takes so long to prepare that it has to be asked for. */
  large?: boolean
  bars?: Bars
}

export type Ready = {
  /** The server it runs on, and what it is asked. */
  server: Server
  /** More of them, for a mixture: `server` is the first, these are the second and so on. */
  others?: readonly Server[]
  requests: Requests
  /** What the same server is asked meanwhile, at twice the rate that it can answer. Such a workload is measured by itself, after the others. */
  crowd?: Requests
  /** Why what was measured is not what was meant, if so. */
  doubt?(): string | undefined
}

export function serversOf({ server, others = [] }: Pick<Ready, 'server' | 'others'>): readonly Server[] {
  return [server, ...others]
}

/** `ratio` is a bar: at least this share of the other's requests/s. */
export type Compared = { with: string; ratio?: number }

export type Bars = {
  /** Exactly so many, where one is one too many; or at most so many. */
  statements?: number | { most: number }
  /** Milliseconds, at most. */
  p95?: number
  p99?: number
}
