import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { Secret } from '@tollgate/kit/secret'
import { expect, test } from 'vitest'
import { readState, writeState } from './flow-state.ts'

const key = new Secret(createSecretKey(randomBytes(32)))
const id = randomUUID()

test('a state names the flow that it was written for', () => {
  expect(readState(key, writeState(key, id))).toBe(id)
})

test.each<[string, () => string]>([
  ['empty', () => ''],
  ['a bare id', () => id],
  ['an id with an empty signature', () => `${id}.`],
  ['another id with the same signature', () => writeState(key, id).replace(id, randomUUID())],
  ['written with another key', () => writeState(new Secret(createSecretKey(randomBytes(32))), id)],
  ['with more behind it', () => `${writeState(key, id)}.more`],
  ['nonsense', () => 'x'.repeat(10_000)],
])('a state that is %s names none', (_, state) => {
  expect(readState(key, state())).toBeUndefined()
})
