import type { Read } from '@tollgate/kit/env'
import type { Secret } from '@tollgate/kit/secret'
import { type MasterKeys, parseMasterKeys } from './master-keys.ts'

export type VaultSettings = { keys: Secret<MasterKeys> | undefined; tokenExp: number }

/** What card numbers and security codes are encrypted with. Without it, customers cannot pay. */
export function vaultSettings(read: Read): VaultSettings {
  return read.group('Vault', () => ({
    keys: read.parsed(
      'secret',
      'VAULT_KEYS',
      undefined,
      'What card data is encrypted with: the first key encrypts, all of them decrypt. `tollgate payments vault keys` makes one',
      parseMasterKeys,
      { secret: true, example: '2030-01-02-a1b2c3:…' },
    ),
    tokenExp: read.seconds('VAULT_TOKEN_EXP', 1200, 'How long a token for a card number or a security code can be paid with', {
      min: 60,
      max: 3600,
    }),
  }))
}
