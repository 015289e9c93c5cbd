import { Unavailable } from '@tollgate/kit/failure'
import { gate } from '@tollgate/kit/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDerive } from './derive.ts'
import { createPasswords } from './hashing.ts'
import type { Recipe } from './recipe.ts'
import { vectors } from './vectors.ts'

const roomy = { concurrency: 2, queue: 100 }
const form = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/

/** Counts the work instead of doing it: every digest is of zeros. */
function counted() {
  const recipes: Recipe[] = []
  const passwords = createPasswords({
    ...roomy,
    derive: async (_, recipe) => {
      recipes.push(recipe)
      return Buffer.alloc('length' in recipe ? recipe.length : 23)
    },
  })
  const costs = () =>
    recipes.map((recipe) => ('memory' in recipe ? `${recipe.kind} ${recipe.memory} ${recipe.passes}` : recipe.kind))
  return { ...passwords, costs }
}

test('a new hash is argon2id with a salt of its own, matches its password and no other, and needs no upgrade', async () => {
  const { hash, verify } = createPasswords(roomy)
  const [one, other] = await Promise.all([hash('correct horse'), hash('correct horse')])
  expect([one, other]).toEqual([expect.stringMatching(form), expect.stringMatching(form)])
  expect(one).not.toBe(other)
  expect(await verify('correct horse', one)).toEqual({ matches: true })
  expect(await verify('Correct horse', one)).toEqual({ matches: false })
  expect(await verify('', one)).toEqual({ matches: false })
})

test.each(vectors)('a hash by $by matches its password and no other', async ({ password, hash }) => {
  const { verify } = createPasswords(roomy)
  expect((await verify(password, hash)).matches).toBe(true)
  // Not at the end: bcrypt does not read beyond 72 bytes.
  expect(await verify(`!${password}`, hash)).toEqual({ matches: false })
})

test.each(vectors.filter(({ hash }) => !hash.includes('m=65536,t=2,p=1') || hash.startsWith('$argon2i$')))(
  'a hash by $by is upgraded once the password was right',
  async ({ password, hash }) => {
    const { verify } = createPasswords(roomy)
    const { upgrade = '' } = await verify(password, hash)
    expect(upgrade).toMatch(form)
    expect(await verify(password, upgrade)).toEqual({ matches: true })
  },
)

test.each([
  ['argon2id', 'm=19456,t=2,p=1', false],
  ['argon2id', 'm=65536,t=3,p=4', false],
  ['argon2id', 'm=47104,t=1,p=1', false],
  ['argon2id', 'm=19456,t=1,p=1', true],
  ['argon2id', 'm=12288,t=20,p=1', true],
  ['argon2i', 'm=65536,t=3,p=1', true],
])('%s with %s wants an upgrade: %s', async (kind, parameters, wanted) => {
  const zeros = 'A'.repeat(43)
  const verdict = await counted().verify('any', `$${kind}$v=19$${parameters}$c29tZXNhbHQ$${zeros}`)
  expect([verdict.matches, verdict.upgrade !== undefined]).toEqual([true, wanted])
})

test('a wrong password costs one hash, and so does one without an account or without a usable hash', async () => {
  const { verify, waste, costs, stats } = counted()
  await verify('any', `$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$${'B'.repeat(43)}`)
  await waste('any')
  await verify('any', '')
  await verify('any', 'damaged')
  expect(costs()).toEqual(Array(4).fill('argon2id 19456 2'))
  expect(stats()).toEqual({
    running: 0,
    waiting: 0,
    refused: 0,
    hashed: { submitted: 0, completed: 0 },
    compared: { submitted: 4, completed: 4 },
  })
})

test.each([
  `$argon2id$v=19$m=4194304,t=1,p=1$c29tZXNhbHQ$${'A'.repeat(43)}`,
  '$2b$31$abcdefghijklmnopqrstuud/5IuQmqhVO0kfNEbHJM.fJkPiliBzC',
  `$pbkdf2-sha256$i=4000000000,l=32$c2FsdA$${'A'.repeat(43)}`,
])('the work that %s asks for is never begun', async (hash) => {
  const { verify, costs } = counted()
  expect(await verify('any', hash)).toEqual({ matches: false, refused: expect.stringContaining('may') })
  expect(costs()).toEqual(['argon2id 19456 2'])
})

test('an upgrade is made in the place of its verification, even when the queue is full', async () => {
  const work = gate<string, Buffer>()
  const { verify, waste, stats } = createPasswords({ concurrency: 1, queue: 1, derive: (_, { kind }) => work.enter(kind) })
  const verdict = verify('any', '$2b$04$abcdefghijklmnopqrstuu...............................')
  const next = waste('any')
  await expect(waste('any')).rejects.toThrow(Unavailable)
  work.leave(1, Buffer.alloc(23))
  expect([await work.entered(2), stats()]).toMatchObject(['argon2id', { running: 1, waiting: 1, refused: 1 }])
  expect(stats()).toMatchObject({ hashed: { submitted: 1, completed: 0 }, compared: { submitted: 1, completed: 1 } })
  work.leave(2, Buffer.alloc(32))
  expect(await verdict).toMatchObject({ matches: true, upgrade: expect.stringMatching(form) })
  await work.entered(3)
  work.leave(3, Buffer.alloc(32))
  await next
})

test('hash, verify and waste wait in the same queue, which refuses all of them when it is full', async () => {
  const work = gate<string, Buffer>()
  const { hash, verify, waste } = createPasswords({
    concurrency: 2,
    queue: 1,
    derive: (password) => work.enter(String(password)),
  })
  const admitted = [hash('first'), waste('second'), verify('third', '')]
  const late = await Promise.allSettled([hash('late'), waste('late'), verify('late', '')])
  expect(late).toMatchObject(Array(3).fill({ reason: expect.any(Unavailable) }))
  expect(work.inputs).toEqual(['first', 'second'])
  for (const number of [1, 2, 3]) {
    await work.entered(number)
    work.leave(number, Buffer.alloc(32))
  }
  await Promise.all(admitted)
  expect(work.inputs).toEqual(['first', 'second', 'third'])
})

test('no password and no text for a hash makes it throw', async () => {
  const quick = createDerive()
  const passwords = createPasswords({
    ...roomy,
    // The decoy's work is known to be fine, and a thousand of it would take ten seconds.
    derive: (password, recipe) =>
      quick(password, 'memory' in recipe ? { ...recipe, memory: 8 * recipe.lanes, passes: 1 } : recipe),
  })
  const hashes = vectors.map(({ hash }) => hash).filter((hash) => /^\$argon2|^\$2.\$04|i=[12]000,/.test(hash))
  const damaged = fc
    .tuple(fc.constantFrom(...hashes), fc.nat(), fc.string({ minLength: 1, maxLength: 2 }))
    .map(([hash, place, more]) => {
      const at = place % hash.length
      return hash.slice(0, at) + more + hash.slice(at + more.length)
    })
    // Those that have come to cost more are slow, not wrong.
    .filter((text) => !/^\$2.\$(0[7-9]|1)|i=\d{5}/.test(text))
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.oneof(fc.string({ unit: 'binary' }), damaged), async (password, text) => {
      expect(await passwords.verify(password, text)).toMatchObject({ matches: expect.any(Boolean) })
    }),
    { numRuns: 300 },
  )
})
