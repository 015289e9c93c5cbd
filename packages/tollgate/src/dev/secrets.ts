import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIds, isId, randomTag } from '@tollgate/kit/id'
import { Mistake } from '../mistake.ts'

/** What development needs to keep from one start to the next, so that tokens and keys stay valid. */
export type DevSecrets = { jwtSecret: string; app: { id: string; key: string; created: string } }

export function keepSecrets(folder: string): DevSecrets {
  const file = join(folder, 'secrets.json')
  const there = readSecrets(file)
  if (there) return there
  const created = new Date()
  const secrets = {
    jwtSecret: randomBytes(32).toString('base64url'),
    app: { id: createIds(() => created)(randomTag()), key: randomUUID(), created: created.toISOString() },
  }
  // Written beside and renamed, so that a kill in between cannot leave half a file.
  writeFileSync(`${file}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return secrets
}

function readSecrets(file: string): DevSecrets | undefined {
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

function parse(text: string): DevSecrets | undefined {
  try {
    const { jwtSecret, app } = JSON.parse(text) as DevSecrets
    return typeof jwtSecret === 'string' && isId(app.id) && typeof app.key === 'string' && !Number.isNaN(Date.parse(app.created))
      ? { jwtSecret, app }
      : undefined
  } catch {
    return undefined
  }
}
