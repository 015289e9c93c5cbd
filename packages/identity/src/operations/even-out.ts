import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than the story of anybody takes when nothing else is going on, and shorter than anybody notices. */
const leastMilliseconds = 25
/** Longer than it takes to verify a password of any kind that people bring along. */
const leastOfRefusals = 150
const stepMilliseconds = 5

/**
 * Answers, and refuses, at a time that does not tell what was done. The stories of known and unknown people do the same work up to a row
 * more or less; what difference there is disappears in the wait.
 */
export async function evenOut<T>(story: () => Promise<T>): Promise<T> {
  const started = performance.now()
  try {
    return await story()
  } finally {
    await leave(started, leastMilliseconds)
  }
}

/** The same for refusals alone, where whoever is let in has nothing to find out: they need not wait, and the others may wait longer. */
export async function evenOutRefusals<T>(story: () => Promise<T>): Promise<T> {
  const started = performance.now()
  try {
    return await story()
  } catch (problem) {
    await leave(started, leastOfRefusals)
    throw problem
  }
}

async function leave(started: number, least: number): Promise<void> {
  const taken = performance.now() - started
  await sleep(leavingTime({ taken, least, random: Math.random() }) - taken)
}

/**
 * When somebody leaves, in milliseconds from the beginning of their story: at the first of a row of steps that begins at a random moment
 * after the least time. Up to the least time it follows from chance alone. Stories that take longer, on a busy machine, are apart by no
 * more than they were, under the noise of a step; steps that everybody shares would make a whole step of a hair's breadth, for stories
 * that happen to end near one.
 */
export function leavingTime({ taken, least, random }: { taken: number; least: number; random: number }): number {
  const first = least + random * stepMilliseconds
  return first + Math.max(0, Math.ceil((taken - first) / stepMilliseconds)) * stepMilliseconds
}
