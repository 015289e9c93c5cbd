import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createClock } from './clock.ts'

const hour = 3_600_000

function clockIn() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-clock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  let moment = 10_000
  const pass = (milliseconds: number) => {
    moment += milliseconds
  }
  return { clock: createClock(folder, () => moment), pass }
}

/** How far off a program is that lives by the clock, by each way to ask for the time. */
async function offsetsIn({ words, env }: { words: string[]; env: Record<string, string> }): Promise<number[]> {
  const script = `const told = Number(process.argv[1]); const dates = [new Date().getTime(), Date.now(), new Date(told).getTime()]
    console.log(JSON.stringify({ own: dates.map((each) => each - told), same: new Date() instanceof Date }))`
  const { stdout } = await promisify(execFile)(process.execPath, [...words, '-e', script, String(Date.now())], { env })
  const { own, same } = JSON.parse(stdout)
  expect(same).toBe(true)
  return own.map((each: number) => Math.round(each / hour))
}

test('a program lives by the clock that it is given: back, right, and ahead of all that was', async () => {
  const { clock } = clockIn()
  clock.set([5 * hour])
  clock.set([-5 * hour])
  expect(await offsetsIn(clock)).toEqual([-5, -5, 0])
  clock.right()
  expect(await offsetsIn(clock)).toEqual([0, 0, 0])
  clock.ahead(hour)
  expect(await offsetsIn(clock)).toEqual([6, 6, 0])
})

test('when clocks were wrong is known, from a little before to a little after', () => {
  const { clock, pass } = clockIn()
  expect(clock.wrong()).toEqual([])
  clock.set([hour, 0])
  pass(1_000)
  clock.right()
  pass(5_000)
  expect(clock.wrong()).toEqual([{ from: 9_500, to: 11_500 }])
  clock.ahead(0)
  expect(clock.wrong()).toEqual([
    { from: 9_500, to: 11_500 },
    { from: 15_500, to: Number.POSITIVE_INFINITY },
  ])
})
