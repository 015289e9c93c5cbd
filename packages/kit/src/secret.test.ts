import { format, inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Secret } from './secret.ts'

const secret = new Secret('hunter2')

test('a secret tells itself only when asked', () => {
  expect(secret.reveal()).toBe('hunter2')
  expect(new Secret({ key: 1 }).reveal()).toEqual({ key: 1 })
})

test.each<[string, () => string]>([
  ['a template', () => `${secret}`],
  ['an addition', () => `a${secret}`],
  ['JSON', () => JSON.stringify({ deep: [secret] })],
  ['the inspector', () => inspect({ deep: { deeper: secret } }, { showHidden: true, depth: 9 })],
  ['format', () => format('%s %o %j', secret, secret, secret)],
  ['its properties', () => JSON.stringify(Object.getOwnPropertyDescriptors(secret))],
  ['an error', () => inspect(new Error(`bad ${secret}`, { cause: secret }))],
])('%s does not show it', (_, print) => {
  expect(print()).not.toContain('hunter2')
})
