import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fingerprintPage } from './fingerprint-page.ts'
import { silentPage } from './silent-page.ts'
import { tdsMethodPage } from './tds-method-page.ts'

const hints = ['one+/=', 'two', 'three']

test.each([
  ['the method page', tdsMethodPage({ hints })],
  ['the fingerprint page', fingerprintPage({ hints })],
])('%s carries its hints as data, and allows its own script alone', (_, { page, policy }) => {
  expect(JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '')).toEqual({ hints })
  const script = /<script>(.*?)<\/script>/s.exec(page)?.[1] ?? ''
  const hash = createHash('sha256').update(script).digest('base64')
  expect(policy).toBe(`default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`)
})

test('no hint ends the data that it stands in', () => {
  const hostile = ['</script><script>alert(1)</script>', '<!--<script>', '\u2028"\\']
  const { page } = tdsMethodPage({ hints: hostile })
  expect(page.match(/<script/g)).toHaveLength(2)
  expect(page.match(/<\/script>/g)).toHaveLength(2)
  expect(page).not.toContain('<!--')
  expect(JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '')).toEqual({ hints: hostile })
})

test('the first line ends where a statement may stand', () => {
  expect(tdsMethodPage({ hints }).page.split('\n')[0]).toMatch(/<script>$/)
  expect(silentPage().page).not.toContain('\n')
})

test('the silent page has no script and allows none', () => {
  const { page, policy } = silentPage()
  expect(page).not.toContain('<script')
  expect(policy).toBe("default-src 'none'; base-uri 'none'; form-action 'none'")
})
