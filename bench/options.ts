import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

/** Words of the command line that make no sense, told in a sentence. */
export class Mistake extends Error {}

export type Options = {
  names: readonly string[]
  seconds: number
  warmUp: number
  rounds: number
  connections: number
  workers: number
  rate: number | undefined
  history: number
  json: string | undefined
  program: string | undefined
  page: boolean
  help: boolean
}

// A core is left to the load generator and the database: were all in each other's way, the slow server would look less slow.
const defaultWorkers = Math.max(1, availableParallelism() - 1)

export const usage = `npm run bench -- [workload…] [settings]

  --seconds 1       how long a workload is measured in a round
  --warm-up 0.2     seconds of load before that; ten times as long in the first round
  --rounds 8        how often the workloads take turns; short turns meet the same noise
  --connections 32  how many requests are under way at once, at most
  --rate 500        send so many requests a second, instead of as many as are answered
  --history 1000000 how many transactions the merchant has whose lists and balance are looked at
  --workers ${defaultWorkers}       processes of every server
  --json FILE       write all figures to a file as well
  --page            write docs/performance.md and its charts, of all workloads as fast as they are answered
  --program FILE    measure this tollgate instead of the one that is built here`

export function readOptions(words: string[], known: readonly string[]): Options {
  const { values, positionals } = parse(words)
  const unknown = positionals.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Mistake(`There is no workload ${JSON.stringify(unknown)}; there are ${known.join(', ')}.`)
  const page = values.page ?? false
  if (page && positionals.length > 0) throw new Mistake('--page is about all workloads: name none.')
  if (page && values.rate !== undefined)
    throw new Mistake('--page compares, which needs workloads to go as fast as they can: leave out --rate.')
  return {
    names: positionals.length > 0 ? positionals : known,
    seconds: number('--seconds', values.seconds, 1, { least: 0.1 }),
    warmUp: number('--warm-up', values['warm-up'], 0.2, { least: 0.1 }),
    rounds: number('--rounds', values.rounds, 8, { least: 1, whole: true }),
    connections: number('--connections', values.connections, 32, { least: 1, whole: true }),
    workers: number('--workers', values.workers, defaultWorkers, { least: 1, whole: true }),
    rate: values.rate === undefined ? undefined : number('--rate', values.rate, 0, { least: 1 }),
    history: number('--history', values.history, 1_000_000, { least: 10_000, whole: true }),
    json: values.json,
    program: values.program,
    page,
    help: values.help ?? false,
  }
}

function parse(words: string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        seconds: text,
        'warm-up': text,
        rounds: text,
        connections: text,
        workers: text,
        rate: text,
        history: text,
        json: text,
        program: text,
        page: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (problem) {
    throw new Mistake((problem as Error).message)
  }
}

function number(
  name: string,
  text: string | undefined,
  otherwise: number,
  { least, whole = false }: { least: number; whole?: boolean },
): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < least || value > 10_000_000 || (whole && !Number.isInteger(value)))
    throw new Mistake(`${name} must be a ${whole ? 'whole number' : 'number'} of at least ${least}, not ${JSON.stringify(text)}`)
  return value
}
