import { parseArgs } from 'node:util'
import { Mistake } from '../bench/options.ts'
import { type FaultName, faultNames, type ServiceName, serviceNames } from './schedule.ts'

export type Options = {
  services: readonly ServiceName[]
  seconds: number
  seed: number
  faults: readonly FaultName[]
  workers: number
  pause: number
  keep: string | undefined
  program: string | undefined
  help: boolean
}

export const usage = `npm run torture -- [settings]

  --service a,b   only these; all are ${serviceNames.join(', ')}, one after the other
  --minutes 2     for how long things go wrong for each; coming to rest and the check come on top
  --seed 1        what goes wrong when, and what clients ask for; without it, another one every time
  --faults a,b    only these; all are ${faultNames.join(', ')}
                  (smtp and sms concern identity alone, acquirer the service of that name; disk needs a machine that
                  lets us mount a small one)
  --workers 3     processes of the service
  --pause 30      milliseconds that each client waits before a request
  --keep FOLDER   write the history of the run, the report and the log of the service there
  --program FILE  torture this tollgate instead of the one that is built here`

/** What a run is, unless it is told. `chance` is where the seed comes from. */
export function readOptions(words: string[], chance = Math.random): Options {
  const { service, minutes, seed, faults, workers, pause, keep, program, help } = parse(words)
  return {
    services: service === undefined ? serviceNames : readList('service', service, serviceNames),
    seconds: 60 * number('--minutes', minutes, 2, 0.02, 600),
    seed: whole('--seed', seed, Math.floor(chance() * 2 ** 32), 0, 2 ** 32 - 1),
    faults: faults === undefined ? faultNames : readList('fault', faults, faultNames),
    workers: whole('--workers', workers, 3, 2, 32),
    pause: whole('--pause', pause, 30, 0, 10_000),
    keep,
    program,
    help: help ?? false,
  }
}

function parse(words: string[]) {
  const text = { type: 'string' } as const
  const options = {
    ...{ service: text, minutes: text, seed: text, faults: text, workers: text, pause: text, keep: text, program: text },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: words, options }).values
  } catch (problem) {
    throw new Mistake((problem as Error).message)
  }
}

function readList<Name extends string>(kind: string, text: string, names: readonly Name[]): Name[] {
  return text.split(',').map((word) => {
    const found = names.find((each) => each === word.trim())
    if (found) return found
    throw new Mistake(`There is no ${kind} ${JSON.stringify(word)}; there are ${names.join(', ')}.`)
  })
}

function number(name: string, text: string | undefined, otherwise: number, least: number, most: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (text.trim() === '' || !(value >= least && value <= most))
    throw new Mistake(`${name} must be a number from ${least} to ${most}, not ${JSON.stringify(text)}`)
  return value
}

function whole(name: string, text: string | undefined, otherwise: number, least: number, most: number): number {
  const value = number(name, text, otherwise, least, most)
  if (!Number.isInteger(value)) throw new Mistake(`${name} must be a whole number, not ${JSON.stringify(text)}`)
  return value
}
