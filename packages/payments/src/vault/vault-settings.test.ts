import { expect, test } from 'vitest'
import { settings } from '../config.ts'
import { makeMasterKey, parseMasterKeys } from './master-keys.ts'
import { testKey } from './testing.ts'

const database = { PAY_DB_DATABASE_URL: 'postgres://somewhere' }
const read = (env: Record<string, string>) => settings.read({ ...database, ...env }).config.vault
const complaints = (env: Record<string, string>) => {
  try {
    read(env)
    return []
  } catch (problem) {
    return (problem as { complaints: string[] }).complaints
  }
}

test('the vault may be left without keys, and tokens last twenty minutes', () => {
  expect(read({})).toEqual({ keys: undefined, tokenExp: 1200 })
})

test('the first key stands first, and spaces and line breaks around entries do not count', () => {
  const { keys } = read({ PAY_VAULT_KEYS: ` ${testKey('new')},\n ${testKey('old_one-2')}\n` })
  expect(keys?.reveal().map(({ id, key }) => [id, key.export().length])).toEqual([
    ['new', 32],
    ['old_one-2', 32],
  ])
})

test('a key that was made is a key that is taken, of its day, and unlike any other', () => {
  const made = Array.from({ length: 100 }, () => makeMasterKey(new Date('2030-01-02T23:59:59Z')).reveal())
  expect(made.every((entry) => /^2030-01-02-[0-9a-f]{6}:.{44}$/.test(entry))).toBe(true)
  expect(new Set(made.map((entry) => entry.split(':')[1])).size).toBe(100)
  expect(parseMasterKeys(made.slice(0, 2).join(','))).not.toHaveProperty('expected')
})

const bytes = Buffer.alloc(32, 'canary').toString('base64')

test.each([
  ['a key without an id', bytes, 1],
  ['an empty id', `:${bytes}`, 1],
  ['an id with a dot', `a.b:${bytes}`, 1],
  ['an id of 33 characters', `${'a'.repeat(33)}:${bytes}`, 1],
  ['16 bytes', `a:${Buffer.alloc(16, 'canary').toString('base64')}`, 1],
  ['33 bytes', `a:${Buffer.alloc(33, 'canary').toString('base64')}`, 1],
  ['hex', `a:${Buffer.alloc(32, 'canary').toString('hex')}`, 1],
  ['base64 without its last character', `a:${bytes.slice(0, -1)}`, 1],
  ['a second entry that is none', `${testKey('a')},canary`, 2],
  ['an empty entry', `${testKey('a')},`, 2],
  ['an id twice', `${testKey('a')},a:${bytes}`, 2],
  ['a key twice', `a:${bytes},b:${bytes}`, 2],
])('%s is complained about by its place, and not quoted', (_, value, place) => {
  const [complaint, ...more] = complaints({ PAY_VAULT_KEYS: value })
  expect(more).toEqual([])
  expect(complaint).toMatch(/^PAY_VAULT_KEYS must be a list of <id>:<32 bytes in base64>/)
  expect(complaint).toContain(`entry ${place}`)
  expect(complaint).not.toMatch(/canary|Y2FuYXJ5/)
})

test('keys are not printed with the settings', () => {
  const vault = read({ PAY_VAULT_KEYS: `a:${bytes}` })
  expect(JSON.stringify(vault)).toBe('{"keys":"[secret]","tokenExp":1200}')
})

test.each(['59', '3601', 'x'])('tokens cannot last %s seconds', (value) => {
  expect(complaints({ PAY_VAULT_TOKEN_EXP: value })).toEqual([expect.stringMatching(/^PAY_VAULT_TOKEN_EXP must/)])
})
