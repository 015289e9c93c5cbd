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
  paced: number
  json: string | undefined
  program: string | undefined
  page: boolean
  flame: string | undefined
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
  --paced 6         how long the latency of a workload is looked at, at its fixed rate, after all rounds; 0 leaves that out
  --large           also what takes many minutes to make: ten million transactions, and verifying and exporting a million
  --workers ${defaultWorkers}       processes of every server
  --json FILE       write all figures to a file as well
  --page            write docs/performance.md and its charts, of all workloads as fast as they are answered
  --flame WORKLOAD  measure nothing: profile the servers of a workload under its load, and write a flame graph to .tollgate/flame
  --program FILE    measure this tollgate instead of the one that is built here`

/** What can be asked for by name; what is large goes along with everything else only when that is said. */
export type Known = { name: string; large?: boolean | undefined }

export function readOptions(words: string[], known: readonly Known[]): Options {
  const { values, positionals } = parse(words)
  const large = values.large ?? false
  const usual = known.filter((each) => large || !each.large).map(({ name }) => name)
  const page = values.page ?? false
  const { flame } = values
  if (flame !== undefined) {
    if (page || positionals.length > 0) throw new Mistake('--flame is about one workload, and nothing is measured beside it.')
    namesOf(flame, known, large)
  }
  if (page && positionals.length > 0) throw new Mistake('--page is about all workloads: name none.')
  if (page && values.rate !== undefined)
    throw new Mistake('--page compares, which needs workloads to go as fast as they can: leave out --rate.')
  return {
    names: positionals.length > 0 ? positionals.flatMap((name) => namesOf(name, known, large)) : usual,
    seconds: number('--seconds', values.seconds, 1, { least: 0.1 }),
    warmUp: number('--warm-up', values['warm-up'], 0.2, { least: 0.1 }),
    rounds: number('--rounds', values.rounds, 8, { least: 1, whole: true }),
    connections: number('--connections', values.connections, 32, { least: 1, whole: true }),
    workers: number('--workers', values.workers, defaultWorkers, { least: 1, whole: true }),
    rate: values.rate === undefined ? undefined : number('--rate', values.rate, 0, { least: 1 }),
    paced: number('--paced', values.paced, 6, { least: 0 }),
    json: values.json,
    program: values.program,
    page,
    flame,
    help: values.help ?? false,
  }
}

/** A name, or what the names of several sizes have in common: `list-first` for `list-first-1k` and the others. */
function namesOf(name: string, known: readonly Known[], large: boolean): string[] {
  if (known.some((each) => each.name === name)) return [name]
  const sized = known.filter((each) => each.name.startsWith(`${name}-`) && /^\d+[km]$/.test(each.name.slice(name.length + 1)))
  const found = sized.filter((each) => large || !each.large).map((each) => each.name)
  if (found.length > 0) return found
  const all = known.map((each) => each.name).join(', ')
  throw new Mistake(`There is no workload ${JSON.stringify(name)}; there are ${all}.`)
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
        paced: text,
        json: text,
        program: text,
        page: { type: 'boolean' },
        large: { type: 'boolean' },
        flame: text,
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
