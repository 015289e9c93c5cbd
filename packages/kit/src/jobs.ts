import { setImmediate } from 'node:timers/promises'
import type { Clock } from './clock.ts'
import { type Db, Json, type Sql } from './db.ts'
import type { Log } from './log.ts'

export type Job = { id: number; kind: string; payload: Record<string, unknown>; attempts: number }

/** Does a job. What it throws is written down, and the job is tried again later. */
export type Worker = (job: Job, signal: AbortSignal) => Promise<void>

export type JobLoop = {
  /** Looks for work at once: for whoever has just committed a job. */
  nudge(): void
  /** Takes no more jobs and waits for those under way. */
  stop(): Promise<void>
}

const leaseSeconds = 120
const mostAttempts = 12

/** When a failed job is tried again: 2 s, 4 s, 8 s … up to an hour, a little apart so that a crowd does not return together. */
export function retryDelay(attempts: number, random: number = Math.random()): number {
  return Math.min(3600, 2 ** attempts) * (0.75 + random / 2)
}

/**
 * Runs the jobs of a service. Any number of processes may run the loop on one database: a job is leased to one of them, and
 * comes back by itself when that one dies. A worker is therefore called at least once, and has to make a repetition harmless.
 */
export function runJobs(options: {
  db: Db
  workers: Readonly<Record<string, Worker>>
  log: Log
  now: Clock
  pollSeconds?: number
  /** How many jobs this loop does at once; a slow one holds up nobody as long as there is room. */
  most?: number
}): JobLoop {
  const { db, workers, log, now, pollSeconds = 1, most = 20 } = options
  const kinds = Object.keys(workers)
  const underWay = new Set<Promise<void>>()
  let stopping = false
  let nudged = false
  let outage = false
  let wake = () => {}

  async function work(job: Job): Promise<void> {
    // A job that takes its process down with it never gets to say that it failed.
    if (job.attempts > mostAttempts) return putOff(job, new Error('the process died, or hung, at every attempt'))
    try {
      await (workers[job.kind] as Worker)(job, AbortSignal.timeout(leaseSeconds * 1000 * 0.9))
    } catch (problem) {
      return putOff(job, problem)
    }
    await finishJob(db, job)
  }

  async function putOff(job: Job, problem: unknown): Promise<void> {
    const givenUp = job.attempts >= mostAttempts
    const line = { job: job.id, kind: job.kind, attempts: job.attempts, error: problem }
    if (givenUp) log.error(line, 'job given up')
    else log.warn(line, 'job failed')
    const runAt = new Date(now().getTime() + retryDelay(job.attempts) * 1000)
    const error = problem instanceof Error ? problem.message : String(problem)
    await postponeJob(db, job, { runAt, error: error.slice(0, 1000), givenUpAt: givenUp ? now() : null })
  }

  function start(job: Job) {
    const done: Promise<void> = work(job)
      // Its lease ends and it comes back.
      .catch((problem: unknown) => log.error({ job: job.id, error: problem }, 'the outcome of a job could not be written down'))
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }

  /** Starts as many jobs as there is room for and tells whether more may be due. An outage is told once, not at every look. */
  async function take(room: number): Promise<boolean> {
    try {
      const jobs = await takeJobs(db, kinds, now(), room)
      if (outage) log.info('jobs are looked for again')
      outage = false
      for (const job of jobs) start(job)
      return jobs.length === room
    } catch (problem) {
      if (!outage) log.error({ error: problem }, 'jobs cannot be looked for')
      outage = true
      return false
    }
  }

  async function loop() {
    while (!stopping) {
      nudged = false
      const more = await take(most - underWay.size)
      if (underWay.size >= most) await Promise.race(underWay)
      // Jobs that end together make room for as many in one look.
      if (more) await setImmediate()
      else if (!nudged && !stopping) await nudgeOrPoll()
    }
  }

  function nudgeOrPoll(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollSeconds * 1000)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const ended = loop()
  return {
    nudge() {
      nudged = true
      wake()
    },
    async stop() {
      stopping = true
      wake()
      await ended
      await Promise.all(underWay)
    },
  }
}

/** Written in the transaction of the story that needs the job done: rolled back with it, never lost after it. */
export async function addJob(
  sql: Sql,
  job: { kind: string; payload: Record<string, unknown>; now: Date; runAt?: Date },
): Promise<void> {
  await sql`
    insert into kit.jobs (kind, payload, run_at, created_at)
    values (${job.kind}, ${new Json(job.payload)}, ${job.runAt ?? job.now}, ${job.now})`
}

/** Leases jobs that are due, so that no other process takes them for a while. */
async function takeJobs(sql: Sql, kinds: readonly string[], now: Date, most: number): Promise<Job[]> {
  const leaseEnds = new Date(now.getTime() + leaseSeconds * 1000)
  // Materialized, because a plan that looks twice would take more than it was asked for.
  return await sql<Job>`
    with due as materialized (
      select id from kit.jobs
      where run_at <= ${now} and given_up_at is null and kind = any(${kinds})
      order by run_at, id
      limit ${most}
      for update skip locked
    )
    update kit.jobs set run_at = ${leaseEnds}, attempts = attempts + 1
    from due where jobs.id = due.id
    returning jobs.id, kind, payload, attempts`
}

async function finishJob(sql: Sql, job: Job): Promise<void> {
  await sql`delete from kit.jobs where id = ${job.id}`
}

/** Only while the lease is ours: whoever has taken the job since then decides what becomes of it. */
async function postponeJob(sql: Sql, job: Job, next: { runAt: Date; error: string; givenUpAt: Date | null }): Promise<void> {
  await sql`
    update kit.jobs set run_at = ${next.runAt}, error = ${next.error}, given_up_at = ${next.givenUpAt}
    where id = ${job.id} and attempts = ${job.attempts}`
}
