import type { Db } from '@tollgate/kit/db'
import type { Random } from './random.ts'
import type { Stage } from './stage.ts'

export type Finding = { rule: string; what: string }

export type Watch = {
  /** Milliseconds since the run began. */
  now(): number
  /** Milliseconds between an answer and the next request of the same client, so that a machine has room for others. */
  pause: number
  /** When the run is over, whatever is unanswered then. */
  end: number
}

/** One service under torture: what it needs around it, who uses it, and what must hold in the end. */
export type Scene = {
  env: Record<string, string>
  outsiders: Stage['outsiders']
  /** Milliseconds: a jump of the clock by more would end what people have in their hands. */
  longestJump: number
  /** Before anything goes wrong. */
  open(stage: Stage, watch: Watch): Promise<Play>
}

export type Play = {
  /** Everything that was said and heard. */
  history: readonly object[]
  /** All clients, until they are told to come to an end. */
  load(random: Random, isOpen: () => boolean): Promise<unknown>
  /** When nothing goes wrong any more: waits for rest, and asks for everything once more. */
  settle(sql: Db, random: Random): Promise<Finding[]>
  check(sql: Db): Promise<Finding[]>
  figures(): Record<string, number>
}

/** Somebody asked on and on and the service did not come back. */
export class NobodyAnswers extends Error {}

/** How long everything may take to come to rest when nothing goes wrong any more. */
export const restPatience = 60_000
