import { Secret } from '@tollgate/kit/secret'
import { parseMasterKeys } from './master-keys.ts'
import { createVault, type Vault } from './vault.ts'
import type { VaultSettings } from './vault-settings.ts'

/** An entry for PAY_VAULT_KEYS that is the same whenever it is made. */
export function testKey(id: string): string {
  return `${id}:${Buffer.alloc(32, id).toString('base64')}`
}

/** A vault with the keys of these ids, the first of which encrypts. */
export function testVault(...ids: readonly string[]): Vault {
  return createVault(testVaultSettings(...ids), () => new Error('there are keys'))
}

export function testVaultSettings(...ids: readonly string[]): VaultSettings {
  const keys = parseMasterKeys(ids.map(testKey).join(','))
  if (!(keys instanceof Secret)) throw new Error(keys.expected)
  return { keys, tokenExp: 1200 }
}
