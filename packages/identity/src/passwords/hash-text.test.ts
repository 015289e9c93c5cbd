import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashRefusal, readHash, writeArgon2 } from './hash-text.ts'
import type { Argon2 } from './recipe.ts'
import { vectors } from './vectors.ts'

const key = 'A'.repeat(86)
const firebase = (parameters: string, hash = key) => `$fbscrypt$v=1,${parameters},ss=Bw==,sk=${key}==$42xEC+ixf3L2lw==$${hash}==`
const argon2 = (parameters: string) => `$argon2id$v=19$${parameters}$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc`
const pbkdf2 = (parameters: string) => `$pbkdf2-sha256$${parameters}$c2FsdA$BBs+1+PaslLtBPULUr8/lQicvVuHiEPMz0i8MjLCbzM`
const bcrypt = (cost: string) => `$2b$${cost}$abcdefghijklmnopqrstuud/5IuQmqhVO0kfNEbHJM.fJkPiliBzC`

test.each(vectors)('a hash by $by can be imported', ({ hash }) => {
  expect(hashRefusal(hash)).toBeUndefined()
})

test.each([
  argon2('m=1048576,t=4,p=1'),
  argon2('m=131072,t=20,p=16'),
  argon2('m=8,t=1,p=1'),
  bcrypt('04'),
  bcrypt('15'),
  firebase('n=18,r=8,p=1'),
  firebase('n=14,r=8,p=1').replace('ss=Bw==,', ''),
  firebase('n=14,r=8,p=1', `${'-_'.repeat(43)}`),
  pbkdf2('i=2000000,l=32'),
  pbkdf2('i=1,l=32'),
])('%s is within bounds', (text) => {
  expect(hashRefusal(text)).toBeUndefined()
})

const kinds = 'a password hash must be of argon2id, argon2i, bcrypt, Firebase scrypt or PBKDF2'

test.each([
  ['', 'there is no password hash'],
  [argon2('m=8,t=1,p=1').padEnd(1025, 'A'), 'a password hash has at most 1024 characters'],
  ['swordfish', kinds],
  ['5f4dcc3b5aa765d61d8327deb882cf99', kinds],
  ['{"key_id":"1","alg":"aes-gcm-hkdf","data":"","nonce":""}', kinds],
  [argon2('m=65536,t=2,p=1').replace('argon2id', 'argon2d'), kinds],
  [argon2('m=65536,t=2,p=1').replace('v=19', 'v=16'), 'argon2 hashes look like'],
  [` ${argon2('m=65536,t=2,p=1')}`, kinds],
  [`${argon2('m=65536,t=2,p=1')}\n`, 'argon2 hashes look like'],
  [`${argon2('m=65536,t=2,p=1')}A=A`, 'argon2 hashes look like'],
  [`${argon2('m=65536,t=2,p=1')}AA`, 'argon2 hashes look like'],
  [argon2('m=65536,t=2,p=-1'), 'argon2 hashes look like'],
  [argon2('m=99999999999999999999,t=2,p=1'), 'argon2 hashes look like'],
  [argon2('m=4294967295,t=1,p=1'), 'argon2 may use up to'],
  [argon2('m=1048577,t=1,p=1'), 'argon2 may use up to'],
  [argon2('m=1048576,t=5,p=1'), 'argon2 may use up to'],
  [argon2('m=64,t=21,p=1'), 'argon2 may use up to'],
  [argon2('m=1024,t=1,p=17'), 'argon2 may use up to'],
  [argon2('m=64,t=0,p=1'), 'argon2 needs t and p'],
  [argon2('m=64,t=1,p=0'), 'argon2 needs t and p'],
  [argon2('m=15,t=1,p=2'), 'argon2 needs t and p'],
  [argon2('m=64,t=1,p=1').replace('c29tZXNhbHQ', 'c2FsdA'), 'argon2 needs a salt'],
  ['$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$AAAA', 'argon2 needs a salt'],
  [bcrypt('03'), 'bcrypt may have a cost'],
  [bcrypt('16'), 'bcrypt may have a cost'],
  [bcrypt('31'), 'bcrypt may have a cost'],
  [bcrypt('5'), 'bcrypt hashes look like'],
  [bcrypt('10').replace('$2b', '$2x'), 'bcrypt hashes look like'],
  [bcrypt('10').slice(0, -1), 'bcrypt hashes look like'],
  [bcrypt('10').replace('B', '+'), 'bcrypt hashes look like'],
  [firebase('n=14,r=8,p=1').replace(/,sk=[^$]*/, ''), 'Firebase hashes look like'],
  [firebase('n=14,r=8,p=1').replace('v=1', 'v=2'), 'Firebase hashes look like'],
  [firebase('n=16384,r=8,p=1'), 'Firebase scrypt may use up to'],
  [firebase('n=18,r=8,p=2'), 'Firebase scrypt may use up to'],
  [firebase('n=10,r=4294967295,p=1'), 'Firebase scrypt may use up to'],
  [firebase('n=0,r=8,p=1'), 'Firebase scrypt needs n'],
  [firebase('n=14,r=0,p=1'), 'Firebase scrypt needs n'],
  [firebase('n=16,r=1,p=1'), 'Firebase scrypt needs n'],
  [firebase('n=14,r=8,p=1', 'A'.repeat(22)), 'Firebase scrypt needs a signer key'],
  [pbkdf2('i=2000001,l=32'), 'PBKDF2 may have'],
  [pbkdf2('i=0,l=32'), 'PBKDF2 may have'],
  [pbkdf2('i=1000,l=64'), 'PBKDF2 needs a hash'],
  ['$pbkdf2-sha256$i=1,l=3$c2FsdA$AAAA', 'PBKDF2 needs a hash'],
  [`$pbkdf2-sha256$i=1000001,l=64$c2FsdA$${key}`, 'PBKDF2 may have'],
  [pbkdf2('i=1000,l=32').replace('sha256', 'md5'), 'PBKDF2 hashes look like'],
])('%s is refused: %s', (text, reason) => {
  expect(hashRefusal(text)).toContain(reason)
})

test('an argon2 hash that was read is written as it was', () => {
  const [{ hash }] = vectors as [(typeof vectors)[number]]
  const read = readHash(hash)
  expect('recipe' in read && writeArgon2(read.recipe as Argon2, read.digest)).toBe(hash)
})

test('whatever argon2 recipe is written can be read', () => {
  const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 64 }).map((array) => Buffer.from(array))
  const parameters = fc.record({ memory: fc.integer({ min: 128, max: 200_000 }), passes: fc.integer({ min: 1, max: 20 }) })
  fc.assert(
    fc.property(parameters, fc.integer({ min: 1, max: 16 }), bytes(8), bytes(12), (cost, lanes, salt, digest) => {
      const recipe: Argon2 = { kind: 'argon2id', ...cost, lanes, salt, length: digest.length }
      expect(readHash(writeArgon2(recipe, digest))).toEqual({ recipe, digest })
    }),
  )
})

test('no text makes the reader throw', () => {
  const damaged = fc
    .tuple(fc.constantFrom(...vectors.map(({ hash }) => hash)), fc.nat(), fc.nat({ max: 8 }), fc.string({ maxLength: 8 }))
    .map(([hash, place, gone, more]) => {
      const at = place % hash.length
      return hash.slice(0, at) + more + hash.slice(at + gone)
    })
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), damaged), (text) => {
      const read = readHash(text)
      expect('refused' in read || read.digest.length >= 12).toBe(true)
    }),
    { numRuns: 1000 },
  )
})
