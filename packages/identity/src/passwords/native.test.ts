import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { createNative } from './native.ts'
import type { Argon2 } from './recipe.ts'

const password = Buffer.from('pässwörd')
const recipes: Argon2[] = [
  { kind: 'argon2id', memory: 19_456, passes: 2, lanes: 1, salt: Buffer.alloc(16, 1), length: 32 },
  { kind: 'argon2id', memory: 256, passes: 3, lanes: 4, salt: Buffer.alloc(8, 2), length: 64 },
  { kind: 'argon2i', memory: 64, passes: 1, lanes: 2, salt: Buffer.alloc(64, 3), length: 12 },
]

function absent(name: string): never {
  throw new Error(`Cannot find module '${name}'`)
}

test.each(recipes)('without its package, $kind of $memory KiB gives the same digest', async (recipe) => {
  const [compiled, builtIn] = await Promise.all(
    [createNative(), createNative(absent)].map((each) => each.argon2(password, recipe)),
  )
  expect(builtIn).toEqual(compiled)
  expect(compiled).toHaveLength(recipe.length)
})

test('without its package, bcrypt names what is missing', async () => {
  const bcrypt = createNative(absent).bcrypt(password, { kind: 'bcrypt', cost: 4, salt: Buffer.alloc(16) })
  await expect(bcrypt).rejects.toThrow('bcrypt hashes need the package @node-rs/bcrypt, which cannot be loaded')
})

test('a package is looked for when it is first needed, and once', async () => {
  const asked: string[] = []
  const load = createRequire(import.meta.url)
  const native = createNative((name) => {
    asked.push(name)
    return load(name)
  })
  expect(asked).toEqual([])
  const recipe = recipes[2] as Argon2
  await Promise.all([native.argon2(password, recipe), native.argon2(password, recipe)])
  expect(asked).toEqual(['@node-rs/argon2'])
})

test.each(['a\u0000b', '\u0000', 'x'.repeat(1000), ''])('bcrypt takes %j like any password', async (text) => {
  const recipe = { kind: 'bcrypt', cost: 4, salt: Buffer.alloc(16, 7) } as const
  expect(await createNative().bcrypt(Buffer.from(text), recipe)).toHaveLength(23)
})
