import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { Secret } from '@tollgate/kit/secret'

/** One of PAY_VAULT_KEYS. Its id stands in front of all that it encrypts. */
export type MasterKey = { id: string; key: KeyObject }

/** The first encrypts, all of them decrypt. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]]

const shape = 'a list of <id>:<32 bytes in base64>, with commas in between and an id of 1 to 32 letters, digits, - and _'

/** `<id>:<base64>,<id>:<base64>`. What is wrong is told by place, for whatever stands there may be a key. */
export function parseMasterKeys(text: string): Secret<MasterKeys> | { expected: string } {
  const keys: MasterKey[] = []
  for (const [index, entry] of text.split(',').entries()) {
    const found = parseEntry(entry.trim())
    if (!found) return { expected: `${shape} (look at entry ${index + 1})` }
    if (keys.some(({ id }) => id === found.id)) return { expected: `${shape}, every id once (look at entry ${index + 1})` }
    if (keys.some(({ key }) => key.equals(found.key)))
      return { expected: `${shape}, every key once (look at entry ${index + 1})` }
    keys.push(found)
  }
  const [first, ...others] = keys
  return first ? new Secret<MasterKeys>([first, ...others]) : { expected: shape }
}

function parseEntry(entry: string): MasterKey | undefined {
  const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? []
  if (id === undefined || encoded === undefined) return undefined
  return { id, key: createSecretKey(Buffer.from(encoded, 'base64')) }
}

/** An entry for PAY_VAULT_KEYS. Its id has the day in it, for people, and something that no other key of the day has. */
export function makeMasterKey(now: Date): Secret {
  const id = `${now.toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`
  return new Secret(`${id}:${randomBytes(32).toString('base64')}`)
}
