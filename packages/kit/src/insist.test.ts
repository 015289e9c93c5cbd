import { expect, test } from 'vitest'
import { Unavailable } from './failure.ts'
import { insist } from './insist.ts'

/** Fails so many times with something, and then tells how often it was tried. */
function failing(times: number, problem: Error) {
  let tries = 0
  return async () => {
    if (++tries <= times) throw problem
    return tries
  }
}

test('what an outage kept from being done is done once it is over', async () => {
  expect(await insist(failing(3, new Unavailable('gone')))).toBe(4)
})

test('an outage that lasts is told', async () => {
  await expect(insist(failing(1_000, new Unavailable('gone')), { within: 50 })).rejects.toThrow('gone')
})

test('anything else is told at once', async () => {
  const attempt = failing(1, new Error('a bug'))
  await expect(insist(attempt)).rejects.toThrow('a bug')
  expect(await attempt()).toBe(2)
})
