import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

/** Where and when figures were taken: without it they mean little. */
export function machineFacts(postgres: string) {
  return {
    date: new Date().toISOString(),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory: `${Math.round(totalmem() / 1e9)} GB`,
    system: `${type()} ${release()}`,
    node: process.version,
    postgres,
  }
}
