import { expect, onTestFinished, test } from 'vitest'
import { repeat } from './loop.ts'
import { gate, keptLog } from './testing.ts'

test('work is done again after a pause, and stopping waits for what is under way', async () => {
  const { log } = keptLog()
  const work = gate<void, void>()
  const loop = repeat('counting', () => work.enter(), { every: 0.001, log, atOnce: true })
  await work.entered(1)
  work.leave(1)
  await work.entered(2)
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(stopped).toBe(false)
  work.leave(2)
  await stopping
  expect(work.inputs).toHaveLength(2)
})

test('a failure is told once, and so is its end', async () => {
  const { log, lines } = keptLog()
  const work = gate<void, void>()
  const loop = repeat('counting', () => work.enter(), { every: 0.001, log, atOnce: true })
  onTestFinished(() => loop.stop())
  for (const number of [1, 2, 3]) {
    await work.entered(number)
    work.fail(number, new Error('no database'))
  }
  await work.entered(4)
  work.leave(4)
  await work.entered(5)
  work.leave(5)
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', 'counting: failed, and is tried again'],
    ['info', 'counting: works again'],
  ])
})

test('work that does not begin at once begins after the first pause, or never when stopped before', async () => {
  const { log } = keptLog()
  let times = 0
  const loop = repeat('counting', async () => void times++, { every: 3600, log })
  await loop.stop()
  expect(times).toBe(0)
})
