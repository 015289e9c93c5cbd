import type { TestedService } from '@tollgate/kit/testing'
import type { App } from '@tollgate/payments/app'
import { startPayments } from '@tollgate/payments/testing'
import { aboutCard } from '@tollgate/payments/vault/about-card'
import { parseMasterKeys } from '@tollgate/payments/vault/master-keys'
import { testVault, testVaultSettings } from '@tollgate/payments/vault/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Mistake } from './mistake.ts'
import { vaultCommand } from './payments-vault-command.ts'

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments()
})
beforeEach(async () => {
  await service.app.db`delete from pay.agreements`
})
afterEach(() => {
  process.exitCode = undefined
})
afterAll(() => service.stop())

/** Runs the command with keys of these ids and tells what it said. */
async function run(words: readonly string[], ...keyIds: readonly string[]): Promise<{ out: string[]; complaints: string[] }> {
  const [out, complaints]: [string[], string[]] = [[], []]
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(line)),
    vi.spyOn(console, 'error').mockImplementation((line: string) => void complaints.push(line)),
  ]
  const vault = keyIds.length === 0 ? { keys: undefined, tokenExp: 1200 } : testVaultSettings(...keyIds)
  const { app } = service
  try {
    await vaultCommand((work) => work({ ...app, config: { ...app.config, vault } }), service.now).run(words)
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return { out, complaints }
}

async function plantCards(keyId: string, ...transactionIds: string[]) {
  for (const transactionId of transactionIds)
    await service.app.db`
      insert into pay.agreements (merchant_id, transaction_id, created, unplanned_merchant, unplanned_customer, card)
      values ('m', ${transactionId}, ${service.now()}, true, false,
        ${testVault(keyId).lock('4100000000000000', aboutCard({ merchantId: 'm', transactionId }))})`
}

test('a key is made that PAY_VAULT_KEYS takes, without a database or a setting', async () => {
  const out: string[] = []
  const said = vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(line))
  await vaultCommand(() => Promise.reject(new Error('there is no database')), service.now).run(['keys'])
  said.mockRestore()
  expect(out).toEqual([expect.stringMatching(/^2030-01-02-[0-9a-f]{6}:[A-Za-z0-9+/]{43}=$/)])
  expect(parseMasterKeys(out[0] as string)).not.toHaveProperty('expected')
})

test('a rotation tells what it moved, which keys are needed, and when the others may go', async () => {
  await plantCards('old', 'a', 'b')
  await plantCards('new', 'c')
  const rest = [
    'The key new is needed: 3 cards.',
    'The key old is not needed by any card. Remove it 1200 seconds after the last service has begun to encrypt with new.',
  ]
  expect(await run(['rotate'], 'new', 'old')).toEqual({ out: ['2 cards moved to the key new.', ...rest], complaints: [] })
  expect(await run(['rotate'], 'new', 'old')).toEqual({ out: ['0 cards moved to the key new.', ...rest], complaints: [] })
  expect(process.exitCode).toBeUndefined()
})

test('cards under a key that is not there are complained about, and the command ends with 1', async () => {
  await plantCards('lost', 'a')
  expect(await run(['rotate'], 'new')).toEqual({
    out: ['0 cards moved to the key new.'],
    complaints: [
      'The key "lost" is needed, but is not in PAY_VAULT_KEYS: 1 card.',
      '1 card cannot be opened with the keys that are set.',
    ],
  })
  expect(process.exitCode).toBe(1)
})

test.each([
  [['rotate'], 'PAY_VAULT_KEYS is not set: `tollgate payments vault keys` makes one.'],
  [[], 'Say what to do: tollgate payments vault keys | tollgate payments vault rotate'],
  [['key'], 'Say what to do: tollgate payments vault keys | tollgate payments vault rotate'],
  [['rotate', 'now'], 'Say what to do: tollgate payments vault keys | tollgate payments vault rotate'],
])('%j is a mistake that is told in a sentence', async (words, sentence) => {
  await expect(run(words)).rejects.toEqual(new Mistake(sentence))
})
