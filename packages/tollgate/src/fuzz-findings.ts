import type { LogLine } from '@tollgate/kit/testing'
import type { Answered, FuzzCall } from './fuzz-calls.ts'

/** Something that must not be, with the first request that showed it. */
export type Bug = { kind: string; times: number; what: string; requestId: string | undefined }

/** What came of requests, gathered over a run. */
export type Findings = {
  /** How often which endpoint answered with which status: `POST /token 200`. */
  tried: Map<string, number>
  /** How often which endpoint did what it is there for, instead of refusing. */
  done: Map<string, number>
  /** One a kind, so that one run tells of everything that is wrong. */
  bugs: Map<string, Bug>
  /** Where it leads to is asked for where a refusal is told there. */
  count(name: string, status: number, location?: string): void
  note(kind: string, what: string, requestId?: string): void
  noteCall(kind: string, call: FuzzCall, answered: Answered): void
  /** Adds what the log says to those bugs that it says something of. */
  explain(lines: readonly LogLine[]): void
}

export function createFindings(): Findings {
  const tried = new Map<string, number>()
  const done = new Map<string, number>()
  const bugs = new Map<string, Bug>()

  function note(kind: string, what: string, requestId?: string) {
    const known = bugs.get(kind)
    if (known) known.times++
    else bugs.set(kind, { kind, times: 1, what, requestId })
  }

  return {
    tried,
    done,
    bugs,
    note,
    count(name, status, location) {
      const key = `${name} ${status}`
      tried.set(key, (tried.get(key) ?? 0) + 1)
      if (isDone(status, location)) done.set(name, (done.get(name) ?? 0) + 1)
    },
    noteCall(kind, call, { status, text, headers }) {
      note(kind, `${tell(call, 1_200)}\n${status} ${text.slice(0, 500)}`, String(headers['x-request-id']))
    },
    explain(lines) {
      for (const bug of bugs.values()) {
        const said = bug.requestId && lines.find(({ request_id, error }) => request_id === bug.requestId && error)
        if (!said) continue
        bug.what += `\n${tell(said.error, 1_500)}`
        bug.requestId = undefined
      }
    },
  }
}

function isDone(status: number, location = ''): boolean {
  return status < 300 || (status < 400 && location !== '' && !/[?&#]error/.test(location))
}

/** What one endpoint answered, in numbers. */
export type Reach = { name: string; answers: number; done: number; refused: number }

/** What became of requests to each of these endpoints, those that nobody reached among them. */
export function reachOf({ tried, done }: Pick<Findings, 'tried' | 'done'>, names: readonly string[]): Reach[] {
  return names.map((name) => {
    const counts = [...tried].flatMap(([key, count]) => {
      const place = key.lastIndexOf(' ')
      return key.slice(0, place) === name ? [{ status: Number(key.slice(place + 1)), count }] : []
    })
    const sum = (which: (status: number) => boolean) =>
      counts.reduce((total, { status, count }) => total + (which(status) ? count : 0), 0)
    return {
      name,
      answers: sum(() => true),
      done: done.get(name) ?? 0,
      refused: sum((status) => status >= 400 && status < 500),
    }
  })
}

export function tell(value: unknown, most: number): string {
  return (JSON.stringify(value) ?? '').slice(0, most)
}

/** How many answers there were by status. */
export function statusesOf({ tried }: Pick<Findings, 'tried'>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [name, count] of tried) {
    const status = name.slice(name.lastIndexOf(' ') + 1)
    sums[status] = (sums[status] ?? 0) + count
  }
  return sums
}
