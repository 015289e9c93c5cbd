import { parseArgs } from 'node:util'
import { Mistake } from '../bench/options.ts'
import { type FaultName, faultNames } from './schedule.ts'

export type Options = {
  seconds: number
  seed: number
  faults: readonly FaultName[]
  workers: number
  pause: number
  crowds: boolean
  keep: string | undefined
  program: string | undefined
  help: boolean
}

export const usage = `npm run torture -- [settings]

  --minutes 2     for how long things go wrong; coming to rest and the check come on top
  --seed 1        what goes wrong when, and what clients ask for; without it, another one every time
  --faults a,b    only these; all are ${faultNames.join(', ')}
  --workers 3     processes of the service
  --pause 30      milliseconds that each client waits before a request
  --crowds        let several clients be at one payment at the same moment
  --keep FOLDER   write the history of the run, the report and the log of the service there
  --program FILE  torture this tollgate instead of the one that is built here`

/** What a run is, unless it is told. `chance` is where the seed comes from. */
export function readOptions(words: string[], chance = Math.random): Options {
  const { minutes, seed, faults, workers, pause, crowds, keep, program, help } = parse(words)
  return {
    seconds: 60 * number('--minutes', minutes, 2, 0.1, 600),
    seed: whole('--seed', seed, Math.floor(chance() * 2 ** 32), 0, 2 ** 32 - 1),
    faults: faults === undefined ? faultNames : readFaults(faults),
    workers: whole('--workers', workers, 3, 2, 32),
    pause: whole('--pause', pause, 30, 0, 10_000),
    crowds: crowds ?? false,
    keep,
    program,
    help: help ?? false,
  }
}

function parse(words: string[]) {
  const text = { type: 'string' } as const
  const options = {
    ...{ minutes: text, seed: text, faults: text, workers: text, pause: text, keep: text, program: text },
    crowds: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: words, options }).values
  } catch (problem) {
    throw new Mistake((problem as Error).message)
  }
}

function readFaults(text: string): FaultName[] {
  return text.split(',').map((name) => {
    const found = faultNames.find((each) => each === name.trim())
    if (found) return found
    throw new Mistake(`There is no fault ${JSON.stringify(name)}; there are ${faultNames.join(', ')}.`)
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
