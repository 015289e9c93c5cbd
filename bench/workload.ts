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
  /** The rate is no more than a share of what another workload, which is measured before it, was answered. */
  within?: { share: number; of: string }
  /** Where more at once would be sent away, or never come. */
  mostConnections?: number
  /** Workloads that its requests/s are compared with, round by round. */
  compared?: readonly Compared[]
  bars?: Bars
  /** What is aimed at in the end, told beside the result. */
  goals?: Goals
}

export type Ready = {
  /** The server it runs on, and what it is asked. */
  server: Server
  requests: Requests
  /** What the same server is asked meanwhile, at twice the rate that it can answer. Such a workload is measured by itself, after the others. */
  crowd?: Requests
  /** Why what was measured is not what was meant, if so. */
  doubt?(): string | undefined
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

/** At least so many requests, a second and a second of processor time of server and database. */
export type Goals = { perSecond?: number; perProcessorSecond?: number }
