import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { sdkScript } from './script.ts'

test('the script is small, and asks nothing of a browser that is not some years old', async () => {
  const script = await sdkScript()
  expect(gzipSync(script).length).toBeLessThanOrEqual(3_000)
  expect(script).toContain('Paylike')
  // Newer than what it is made for: optional chaining, nullish coalescing, modules.
  expect(script).not.toMatch(/\?\.[a-z[(]|\?\?|\bimport\b|\bexport\b|import\.meta/i)
})
