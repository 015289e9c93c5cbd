import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIds, isId, randomTag } from '@tollgate/kit/id'
import { Secret } from '@tollgate/kit/secret'
import { makeMasterKey, parseMasterKeys } from '@tollgate/payments/vault/master-keys'
import { Mistake } from '../mistake.ts'

/** What development needs to keep from one start to the next, so that tokens and keys stay valid. */
export type DevSecrets = { jwtSecret: string; app: { id: string; key: string; created: string }; vaultKey: string }

export function keepSecrets(folder: string): DevSecrets {
  const file = join(folder, 'secrets.json')
  const there = readSecrets(file)
  if (there?.vaultKey !== undefined) return { ...there, vaultKey: there.vaultKey }
  const created = new Date()
  const secrets = {
    jwtSecret: randomBytes(32).toString('base64url'),
    app: { id: createIds(() => created)(randomTag()), key: randomUUID(), created: created.toISOString() },
    vaultKey: makeMasterKey(created).reveal(),
    ...there,
  }
  // Written beside and renamed, so that a kill in between cannot leave half a file.
  writeFileSync(`${file}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return secrets
}

/** A file from before there was a vault lacks its key, and is otherwise as good as any. */
type Kept = Omit<DevSecrets, 'vaultKey'> & { vaultKey?: string }

function readSecrets(file: string): Kept | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (problem) {
    if ((problem as { code?: string }).code === 'ENOENT') return undefined
    throw new Mistake(`${file} cannot be read: ${(problem as Error).message}`)
  }
  const secrets = parse(text)
  if (!secrets)
    throw new Mistake(
      `${file} is not what Tollgate wrote there. Delete it to get new keys; tokens and keys handed out so far end then.`,
    )
  return secrets
}

function parse(text: string): Kept | undefined {
  try {
    const { jwtSecret, app, vaultKey } = JSON.parse(text) as Kept
    if (typeof jwtSecret !== 'string' || !isId(app.id) || typeof app.key !== 'string' || Number.isNaN(Date.parse(app.created)))
      return undefined
    if (vaultKey === undefined) return { jwtSecret, app }
    return parseMasterKeys(vaultKey) instanceof Secret ? { jwtSecret, app, vaultKey } : undefined
  } catch {
    return undefined
  }
}
