import { systemClock } from '@tollgate/kit/clock'
import type { Config } from '@tollgate/payments/config'
import { type Rotation, rotateVault } from '@tollgate/payments/operations/rotate-vault'
import { makeMasterKey } from '@tollgate/payments/vault/master-keys'
import { createVault } from '@tollgate/payments/vault/vault'
import type { Command } from './command.ts'
import { Mistake } from './mistake.ts'
import type { WithDb } from './payments-payouts-command.ts'

const usage = 'vault keys | vault rotate'

export function vaultCommand(withDb: WithDb, now = systemClock): Command {
  return {
    summary: 'Make a key for PAY_VAULT_KEYS, or encrypt the cards that are kept with the first of these keys',
    usage,
    async run([word, ...rest]) {
      if (rest.length === 0 && word === 'keys') return console.log(makeMasterKey(now()).reveal())
      if (rest.length === 0 && word === 'rotate') return rotate(withDb)
      throw new Mistake(`Say what to do: ${usage.replaceAll('vault', 'tollgate payments vault')}`)
    },
  }
}

function rotate(withDb: WithDb): Promise<void> {
  return withDb(async ({ config, db }) => {
    const unset = () => new Mistake('PAY_VAULT_KEYS is not set: `tollgate payments vault keys` makes one.')
    if (!config.vault.keys) throw unset()
    const keyIds = config.vault.keys.reveal().map(({ id }) => id)
    const rotation = await rotateVault({ db, vault: createVault(config.vault, unset) })
    console.log(`${counted(rotation.moved, 'card')} moved to the key ${keyIds[0]}.`)
    tellKeys(rotation, keyIds, config)
    if (rotation.unopened > 0) {
      console.error(`${counted(rotation.unopened, 'card')} cannot be opened with the keys that are set.`)
      process.exitCode = 1
    }
  })
}

/** Which keys have to stay, and why; and which may go, and when. */
function tellKeys({ needed }: Rotation, [first, ...others]: readonly string[], { vault, customers }: Config) {
  for (const { keyId, cards } of needed)
    if (keyId === first) console.log(`The key ${keyId} is needed: ${counted(cards, 'card')}.`)
    else if (others.includes(keyId))
      console.log(
        `The key ${keyId} is still needed: ${counted(cards, 'card')}. Where a service goes on encrypting with it, start it again and rotate once more.`,
      )
    else console.error(`The key ${JSON.stringify(keyId)} is needed, but is not in PAY_VAULT_KEYS: ${counted(cards, 'card')}.`)
  // What customers hold of it is no longer worth anything by then.
  const patience = Math.max(vault.tokenExp, customers.patience)
  for (const keyId of others.filter((each) => !needed.some((row) => row.keyId === each)))
    console.log(
      `The key ${keyId} is not needed by any card. Remove it ${patience} seconds after the last service has begun to encrypt with ${first}.`,
    )
}

function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`
}
