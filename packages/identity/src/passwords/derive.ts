import { createCipheriv, pbkdf2, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { createNative, type Native } from './native.ts'
import type { Firebase, Recipe } from './recipe.ts'

/** The digest of a password: tens of milliseconds of a thread that is not the event loop's. */
export type Derive = (password: Buffer, recipe: Recipe) => Promise<Buffer>

const derivePbkdf2 = promisify(pbkdf2)
const deriveScrypt = promisify<Buffer, Buffer, number, object, Buffer>(scrypt)

export function createDerive(native: Native = createNative()): Derive {
  return (password, recipe) => {
    switch (recipe.kind) {
      case 'argon2id':
      case 'argon2i':
        return native.argon2(password, recipe)
      case 'bcrypt':
        return native.bcrypt(password, recipe)
      case 'firebase':
        return deriveFirebase(password, recipe)
      case 'pbkdf2-sha256':
      case 'pbkdf2-sha512':
        return derivePbkdf2(password, recipe.salt, recipe.iterations, recipe.length, recipe.kind.slice('pbkdf2-'.length))
    }
  }
}

/** https://github.com/firebase/scrypt: what scrypt makes of the password is a key, and the hash is the signer key under that key. */
async function deriveFirebase(password: Buffer, { exponent, blocks, lanes, salt, signerKey }: Firebase): Promise<Buffer> {
  const size = 2 ** exponent
  // Node counts a little more than the table itself.
  const maxmem = 128 * blocks * (size + lanes + 32)
  const key = await deriveScrypt(password, salt, 32, { N: size, r: blocks, p: lanes, maxmem })
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(signerKey)
}
