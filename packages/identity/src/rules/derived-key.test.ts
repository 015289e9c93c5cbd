import { Secret } from '@tollgate/kit/secret'
import { expect, test } from 'vitest'
import { derivedKey } from './derived-key.ts'

const purposes = ['refresh tokens', 'codes', 'messages', 'recipients', 'decoys'] as const
const secret = new Secret('a secret that only tests know of, 32+')

test('a key is the same wherever it is derived, today and after the next release', () => {
  const bytesOf = (from: Secret) => derivedKey(from, 'messages').reveal().export()
  expect(bytesOf(secret)).toEqual(bytesOf(new Secret(secret.reveal())))
  // Were another key derived tomorrow, nobody would stay signed in.
  const known = purposes.map((purpose) => derivedKey(secret, purpose).reveal().export().toString('hex').slice(0, 16))
  expect(known).toEqual(['b9d2e67062f45dc7', 'e62b2d2b8ac53818', '763657cbadf0ba7c', '336031b8e9d263d0', '5a2b43e0a5bb6492'])
})

test('every purpose has another key, and every secret has others', () => {
  const keys = [secret, new Secret(`${secret.reveal()} `)].flatMap((each) =>
    purposes.map((purpose) => derivedKey(each, purpose).reveal().export()),
  )
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(10)
  for (const key of keys) expect(key).toHaveLength(32)
})

test('a key does not show', () => {
  const key = derivedKey(secret, 'codes')
  expect(`${key} ${JSON.stringify({ key })}`).not.toContain(key.reveal().export().toString('hex').slice(0, 8))
  expect(String(key)).toBe('[secret]')
})
