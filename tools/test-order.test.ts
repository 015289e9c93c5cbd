import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { longestFirst, longFiles } from './test-order.ts'

test('long files come first, in the order of the list, and the others as they were', () => {
  const [longest = '', second = ''] = longFiles
  expect(longestFirst(['b.test.ts', second, 'a.test.ts', longest], (path) => path)).toEqual([
    longest,
    second,
    'b.test.ts',
    'a.test.ts',
  ])
})

test('every long file is there, once', () => {
  expect(longFiles.filter((path) => !existsSync(join(import.meta.dirname, '..', path)))).toEqual([])
  expect(new Set(longFiles).size).toBe(longFiles.length)
})
