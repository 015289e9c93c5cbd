import { identity, openKeys } from '@tollgate/identity/main'
import { type Adopted, adoptDump } from '@tollgate/identity/operations/adopt-dump'
import { createNative } from '@tollgate/identity/passwords/native'
import { openDb } from '@tollgate/kit/db'
import { migrateService } from '@tollgate/kit/service'
import type { Command } from './command.ts'
import { serviceCommands } from './commands.ts'
import { Mistake } from './mistake.ts'
import { readSettings } from './settings.ts'

const adoptCommand: Command = {
  summary: 'Make rows that were loaded from another installation our own; may be done again at any time',
  async run() {
    const { config } = readSettings(identity)
    await migrateService(identity, config)
    const db = openDb({
      url: config.db.url.reveal(),
      schema: { written: identity.schema, actual: config.db.namespace },
      name: 'tollgate-identity',
    })
    try {
      const adopted = await adoptDump(db)
      for (const [what, count] of Object.entries(done(adopted))) console.log(`${String(count).padStart(9)} ${what}`)
      for (const trouble of await troubles(adopted)) console.error(trouble)
    } finally {
      await db.close()
    }
  },
}

function done(adopted: Adopted): Record<string, number> {
  return {
    'accounts read': adopted.accounts,
    'accounts cleared of one-time tokens': adopted.accountsCleared,
    'email addresses put into lower case': adopted.addressesLowered,
    'refresh tokens hashed': adopted.refreshTokensHashed,
    'sessions ended that were lent to other programs': adopted.sessionsEnded,
    'sessions whose refresh tokens cannot be carried over': adopted.sessionsForgotten,
    'codes and links deleted': adopted.codesDeleted,
    'flows deleted': adopted.flowsDeleted,
  }
}

/** What somebody has to see to, for people would be kept out otherwise. */
async function troubles({ addressesAmbiguous, passwordsUnreadable }: Adopted): Promise<string[]> {
  return [
    ...(addressesAmbiguous > 0
      ? [`${addressesAmbiguous} accounts have an address that is somebody else's but for capitals: they cannot sign in by it.`]
      : []),
    ...(passwordsUnreadable > 0
      ? [`${passwordsUnreadable} accounts have a password in a form that cannot be read here: they have to be recovered by mail.`]
      : []),
    ...((await verifiesBcrypt())
      ? []
      : [
          'Passwords that were hashed with bcrypt cannot be verified by this file: build it on the kind of machine that it runs on.',
        ]),
  ]
}

/** A bundle that was made on another kind of machine lacks what is compiled for this one. */
async function verifiesBcrypt(): Promise<boolean> {
  try {
    await createNative().bcrypt(Buffer.from('anything'), { kind: 'bcrypt', cost: 4, salt: Buffer.alloc(16) })
    return true
  } catch {
    return false
  }
}

const year = 365 * 86_400

const keyCommand: Command = {
  summary: 'Print a key of a role for programs of yours, such as service_role or anon, good for ten years',
  usage: 'key ROLE',
  run([role]) {
    if (role === undefined || !/^[\w.-]{1,255}$/.test(role))
      throw new Mistake('Name the role that the key is for: tollgate identity key service_role')
    const { jwt } = readSettings(identity).config
    const now = Math.floor(Date.now() / 1000)
    const issuer = jwt.issuer === undefined ? {} : { iss: jwt.issuer }
    console.log(openKeys(jwt).sign({ role, ...issuer, iat: now, exp: now + 10 * year }))
  },
}

export const identityCommands = serviceCommands(identity, { adopt: adoptCommand, key: keyCommand })
