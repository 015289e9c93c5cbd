import * as crypto from 'node:crypto'
import { promisify } from 'node:util'
import type * as Argon2Module from '@node-rs/argon2'
import type * as BcryptModule from '@node-rs/bcrypt'
import { loadAddon } from './addons.ts'
import { decodeBcrypt } from './bcrypt-text.ts'
import type { Argon2, Bcrypt } from './recipe.ts'

export type Native = {
  argon2(password: Buffer, recipe: Argon2): Promise<Buffer>
  bcrypt(password: Buffer, recipe: Bcrypt): Promise<Buffer>
}

const algorithms = { argon2i: 1, argon2id: 2 } as const

/**
 * What is compiled for one machine is loaded when it is first needed: see addons.ts. Where it cannot be had, Node's own argon2 gives the
 * same digests in about three times the time; it has no bcrypt.
 */
export function createNative(load: (name: string) => unknown = loadAddon): Native {
  const argon2Module = once(() => attempt<typeof Argon2Module>(load, '@node-rs/argon2'))
  const bcryptModule = once(() => attempt<typeof BcryptModule>(load, '@node-rs/bcrypt'))

  return {
    async argon2(password, recipe) {
      const { found, problem } = argon2Module()
      if (!found) return builtInArgon2(password, recipe, problem)
      const { kind, memory, passes, lanes, salt, length } = recipe
      return found.hashRaw(password, {
        algorithm: algorithms[kind],
        memoryCost: memory,
        timeCost: passes,
        parallelism: lanes,
        outputLen: length,
        salt,
      })
    },

    async bcrypt(password, { cost, salt }) {
      const { found, problem } = bcryptModule()
      if (!found) {
        throw new Error('bcrypt hashes need the package @node-rs/bcrypt, which cannot be loaded', { cause: problem })
      }
      return decodeBcrypt((await found.hash(password, cost, salt)).slice(-31))
    },
  }
}

function builtInArgon2(password: Buffer, recipe: Argon2, problem: unknown): Promise<Buffer> {
  // Node has it from 24.7 on.
  const builtIn = crypto.argon2 as typeof crypto.argon2 | undefined
  if (!builtIn) {
    throw new Error('argon2 needs the package @node-rs/argon2, which cannot be loaded, or Node 24.7', { cause: problem })
  }
  const { kind, memory, passes, lanes, salt, length } = recipe
  const parameters = { message: password, nonce: salt, memory, passes, parallelism: lanes, tagLength: length }
  return promisify(builtIn)(kind, parameters)
}

type Attempt<Module> = { found: Module; problem?: undefined } | { found: undefined; problem: unknown }

function attempt<Module>(load: (name: string) => unknown, name: string): Attempt<Module> {
  try {
    return { found: load(name) as Module }
  } catch (problem) {
    return { found: undefined, problem }
  }
}

function once<Result>(make: () => Result): () => Result {
  let made: { result: Result } | undefined
  return () => {
    made ??= { result: make() }
    return made.result
  }
}
