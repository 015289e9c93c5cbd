import { describe, expect, test } from 'vitest'
import { createIds, isId, randomTag, tagOf } from './id.ts'

const start = Date.parse('2030-01-02T03:04:05.678Z')

/** A clock that shows what it is told. */
function clock(moment = start) {
  const state = { moment }
  return { state, now: () => new Date(state.moment) }
}

function inOrder(ids: readonly string[]): boolean {
  return ids.every((id, index) => index === 0 || (ids[index - 1] ?? '') < id)
}

test('an id has the second in its first eight digits and the tag in the next four', () => {
  const id = createIds(clock().now)('beef')
  expect(id).toMatch(/^[0-9a-f]{24}$/)
  expect(Number.parseInt(id.slice(0, 8), 16)).toBe(Math.floor(start / 1000))
  expect(tagOf(id)).toBe('beef')
})

describe('ids of one tag are in strict order', () => {
  test('inside one millisecond, and when there are more than it can count', () => {
    const mint = createIds(clock().now)
    expect(inOrder(Array.from({ length: 50_000 }, () => mint('0001')))).toBe(true)
  })

  test('when so many are minted that they run ahead into the next second', () => {
    const { now, state } = clock(start - (start % 1000) + 999)
    const mint = createIds(now)
    const ids = Array.from({ length: 40_000 }, () => mint('0001'))
    state.moment += 1
    ids.push(mint('0001'))
    expect(inOrder(ids)).toBe(true)
    expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(2)
  })

  test('while the clock goes on', () => {
    const { now, state } = clock()
    const mint = createIds(now)
    const ids = Array.from({ length: 3000 }, () => {
      state.moment += Math.floor(Math.random() * 3)
      return mint('0001')
    })
    expect(inOrder(ids)).toBe(true)
  })

  test('when the clock is set back', () => {
    const { now, state } = clock()
    const mint = createIds(now)
    const ids = [mint('0001')]
    for (const step of [-1, -60_000, 30_000, 0, 90_000]) {
      state.moment += step
      ids.push(mint('0001'), mint('0001'))
    }
    expect(inOrder(ids)).toBe(true)
  })
})

test('two processes do not meet, even in a hundred thousand ids of one moment', () => {
  const { now } = clock()
  const ids = [createIds(now), createIds(now)].flatMap((mint) => Array.from({ length: 100_000 }, () => mint('0001')))
  expect(new Set(ids).size).toBe(ids.length)
})

test('an id sorts with the boundaries that clients make from dates', () => {
  const boundary = (seconds: number) => seconds.toString(16).padStart(8, '0') + '0'.repeat(16)
  const id = createIds(clock().now)('ffff')
  expect(id > boundary(Math.floor(start / 1000))).toBe(true)
  expect(id < boundary(Math.floor(start / 1000) + 1)).toBe(true)
})

test('a tag is four hex digits and rarely the same', () => {
  const tags = Array.from({ length: 100 }, randomTag)
  expect(tags.every((tag) => /^[0-9a-f]{4}$/.test(tag))).toBe(true)
  expect(new Set(tags).size).toBeGreaterThan(90)
})

test.each([
  ['5e4d0b1c0001000000abcdef', true],
  ['5E4D0B1C0001000000ABCDEF', false],
  ['5e4d0b1c0001000000abcde', false],
  ['5e4d0b1c0001000000abcdef0', false],
  ['5e4d0b1c0001000000abcdeg', false],
  ['5e4d0b1c0001000000abcdef\n', false],
  ['', false],
])('%j is an id: %s', (text, is) => {
  expect(isId(text)).toBe(is)
})
