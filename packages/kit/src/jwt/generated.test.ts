import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stillClock } from '../testing.ts'
import { algorithmNames, base64url, besieged, hmacToken, parts, reasonOf } from './testing.ts'

const now = stillClock()()
const { admin, keys, genuine } = besieged(now)

function expectRefusal(token: string): void {
  expect(reasonOf(keys, token, now)).toMatch(/^token (is malformed|is unverifiable|signature is invalid|has invalid claims): ./)
}

describe('generated', () => {
  const anyGenuine = fc.constantFrom(...genuine)

  test('a genuine token with one letter changed, removed or added is refused', () => {
    const letter = fc.oneof(fc.constantFrom(...'Aa0-_.=+/ \n\0é'), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
    const change = fc.tuple(anyGenuine, fc.nat(), fc.constantFrom('change', 'remove', 'add'), letter)
    fc.assert(
      fc.property(change, ([token, anywhere, how, by]) => {
        const at = anywhere % token.length
        const changed = token.slice(0, at) + (how === 'remove' ? '' : by) + token.slice(how === 'add' ? at : at + 1)
        fc.pre(changed !== token)
        expectRefusal(changed)
      }),
      { numRuns: 1000 },
    )
  })

  test('parts of genuine tokens put together anew are refused', () => {
    fc.assert(
      fc.property(anyGenuine, anyGenuine, anyGenuine, fc.boolean(), (one, two, three, elevated) => {
        const token = [parts(one)[0], elevated ? base64url(admin) : parts(two)[1], parts(three)[2]].join('.')
        fc.pre(!genuine.includes(token))
        expectRefusal(token)
      }),
      { numRuns: 500 },
    )
  })

  test('any header over any claims with a signature by no key of ours is refused', () => {
    const name = fc.constantFrom('alg', 'kid', 'typ', 'crit', 'jwk', 'b64', '__proto__')
    const value = fc.oneof(fc.constantFrom<unknown>(...algorithmNames, 'none', 'main', 'signer'), fc.jsonValue({ maxDepth: 1 }))
    const header = fc.oneof(fc.dictionary(name, value), fc.jsonValue({ maxDepth: 2 }))
    fc.assert(
      fc.property(header, fc.jsonValue({ maxDepth: 2 }), fc.string(), (head, payload, wrong) => {
        expectRefusal(hmacToken(head, payload, wrong))
      }),
      { numRuns: 2000 },
    )
  })

  test('any text is refused', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.base64String(), { maxLength: 5 }).map((all) => all.join('.')),
    )
    fc.assert(
      fc.property(text, (token) => {
        expectRefusal(token)
      }),
      { numRuns: 2000 },
    )
  })
})
