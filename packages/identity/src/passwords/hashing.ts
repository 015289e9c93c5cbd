import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createDerive, type Derive } from './derive.ts'
import { readHash, writeArgon2 } from './hash-text.ts'
import { createQueue, type QueueStats } from './queue.ts'
import type { Argon2, PasswordHash, Recipe } from './recipe.ts'

export type Verdict = {
  matches: boolean
  /** A hash to store instead of the old one, which is of an older kind or weaker than ours. */
  upgrade?: string
  /** Why the stored hash cannot be used. Nothing matches it; whoever keeps the log may want to know. */
  refused?: string
}

type Counts = { submitted: number; completed: number }
export type PasswordStats = QueueStats & { hashed: Counts; compared: Counts }

export type Passwords = {
  hash(password: string): Promise<string>
  verify(password: string, hash: string): Promise<Verdict>
  /** The work of `verify` where there is no account, so that the time of an answer does not tell. */
  waste(password: string): Promise<void>
  stats(): PasswordStats
}

/** https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
const ours = { kind: 'argon2id', memory: 19_456, passes: 2, lanes: 1, length: 32 } as const

/**
 * Hashes `concurrency` passwords at once, which should not exceed the cores of this machine over all its processes, and lets
 * `queue` more wait. Beyond that every call is refused with Unavailable.
 */
export function createPasswords(options: { concurrency: number; queue: number; derive?: Derive }): Passwords {
  const { concurrency, queue: bound, derive = createDerive() } = options
  const queue = createQueue({ concurrency, bound })
  const hashed: Counts = { submitted: 0, completed: 0 }
  const compared: Counts = { submitted: 0, completed: 0 }
  // No password is known to match it, and nobody asks whether one does.
  const decoy: PasswordHash = { recipe: freshRecipe(), digest: randomBytes(ours.length) }

  async function make(password: Buffer): Promise<string> {
    hashed.submitted++
    const recipe = freshRecipe()
    const text = writeArgon2(recipe, await derive(password, recipe))
    hashed.completed++
    return text
  }

  async function compare(password: Buffer, { recipe, digest }: PasswordHash): Promise<boolean> {
    compared.submitted++
    const derived = await derive(password, recipe)
    compared.completed++
    return derived.length === digest.length && timingSafeEqual(derived, digest)
  }

  async function verify(password: string, text: string): Promise<Verdict> {
    const stored = readHash(text)
    const bytes = Buffer.from(password)
    return queue.run(async () => {
      if ('refused' in stored) {
        // An account without a usable hash takes as long as any other.
        await compare(bytes, decoy)
        return { matches: false, refused: stored.refused }
      }
      const matches = await compare(bytes, stored)
      // In the same place of the queue: whoever has been let in once is not sent away with the right password.
      return matches && isOutdated(stored.recipe) ? { matches, upgrade: await make(bytes) } : { matches }
    })
  }

  return {
    hash: (password) => queue.run(() => make(Buffer.from(password))),
    verify,
    async waste(password) {
      await queue.run(() => compare(Buffer.from(password), decoy))
    },
    stats: () => ({ ...queue.stats(), hashed: { ...hashed }, compared: { ...compared } }),
  }
}

function freshRecipe(): Argon2 {
  return { ...ours, salt: randomBytes(16) }
}

/** Memory may stand in for passes, as in the other settings that OWASP holds equal; passes may not stand in for memory. */
function isOutdated(recipe: Recipe): boolean {
  if (recipe.kind !== 'argon2id') return true
  return recipe.memory < ours.memory || recipe.memory * recipe.passes < ours.memory * ours.passes
}
