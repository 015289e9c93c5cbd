import { decodeBcrypt } from './bcrypt-text.ts'
import type { Argon2, PasswordHash, Recipe } from './recipe.ts'

export type Refused = { refused: string }

/** Far above any real one, and little enough to look at. */
const longestText = 1024

const base64 = '([A-Za-z0-9+/_-]+={0,2})'
const number = '(\\d{1,10})'
const forms = {
  argon2: new RegExp(`^\\$(argon2id?)\\$v=19\\$m=${number},t=${number},p=${number}\\$${base64}\\$${base64}$`),
  bcrypt: /^\$2[aby]\$(\d{2})\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/,
  firebase: new RegExp(
    `^\\$fbscrypt\\$v=1,n=${number},r=${number},p=${number}(?:,ss=${base64})?,sk=${base64}\\$${base64}\\$${base64}$`,
  ),
  pbkdf2: new RegExp(`^\\$(pbkdf2-sha(?:256|512))\\$i=${number},l=${number}\\$${base64}\\$${base64}$`),
}

/**
 * Reads a stored hash without doing any of its work. What would take more than a few seconds, or more memory than a server can
 * spare, is refused here: whoever could store such a hash could stop the service by signing in.
 */
export function readHash(text: string): PasswordHash | Refused {
  if (text === '') return { refused: 'there is no password hash' }
  if (text.length > longestText) return { refused: `a password hash has at most ${longestText} characters` }
  if (text.startsWith('$argon2i')) return readArgon2(text)
  if (text.startsWith('$2')) return readBcrypt(text)
  if (text.startsWith('$fbscrypt$')) return readFirebase(text)
  if (text.startsWith('$pbkdf2-')) return readPbkdf2(text)
  return { refused: 'a password hash must be of argon2id, argon2i, bcrypt, Firebase scrypt or PBKDF2' }
}

/** Why a hash cannot be imported, or undefined when it can. */
export function hashRefusal(text: string): string | undefined {
  const read = readHash(text)
  return 'refused' in read ? read.refused : undefined
}

export function writeArgon2({ kind, memory, passes, lanes, salt }: Argon2, digest: Buffer): string {
  return `$${kind}$v=19$m=${memory},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(digest)}`
}

/** The reference's limits, and one on their product: 1 GiB four times is the dearest preset of any library (libsodium's). */
function readArgon2(text: string): PasswordHash | Refused {
  const [, kind, m, t, p, saltText, digestText] = forms.argon2.exec(text) ?? []
  const [salt, digest] = [decode(saltText), decode(digestText)]
  if (!salt || !digest) return { refused: 'argon2 hashes look like $argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>' }
  const [memory, passes, lanes] = [Number(m), Number(t), Number(p)]
  if (memory > 2 ** 20 || passes > 20 || lanes > 16 || memory * passes > 2 ** 22) {
    return { refused: 'argon2 may use up to m=1048576, t=20, p=16, and m times t up to 4194304' }
  }
  if (passes < 1 || lanes < 1 || memory < 8 * lanes)
    return { refused: 'argon2 needs t and p of 1 or more, and m of 8 for each of p' }
  if (!within(salt, 8, 64) || !within(digest, 12, 64)) {
    return { refused: 'argon2 needs a salt of 8 to 64 bytes and a hash of 12 to 64' }
  }
  return { recipe: { kind: kind as Argon2['kind'], memory, passes, lanes, salt, length: digest.length }, digest }
}

/** At 15 it takes two seconds, and every further step doubles that. */
function readBcrypt(text: string): PasswordHash | Refused {
  const [, cost, salt, digest] = forms.bcrypt.exec(text) ?? []
  if (cost === undefined || salt === undefined || digest === undefined) {
    return { refused: 'bcrypt hashes look like $2b$10$ and 53 characters, and begin with $2a$, $2b$ or $2y$' }
  }
  if (Number(cost) < 4 || Number(cost) > 15) return { refused: 'bcrypt may have a cost of 4 to 15' }
  return { recipe: { kind: 'bcrypt', cost: Number(cost), salt: decodeBcrypt(salt) }, digest: decodeBcrypt(digest) }
}

/**
 * `n` is the exponent that Firebase calls memory cost, `r` its rounds; `ss` the salt separator and `sk` the signer key, as the
 * console of the project shows them.
 */
function readFirebase(text: string): PasswordHash | Refused {
  const [, n, r, p, separatorText = '', keyText, saltText, digestText] = forms.firebase.exec(text) ?? []
  const [separator, signerKey] = [separatorText === '' ? Buffer.alloc(0) : decode(separatorText), decode(keyText)]
  const [salt, digest] = [decode(saltText), decode(digestText)]
  if (!separator || !signerKey || !salt || !digest) {
    return { refused: 'Firebase hashes look like $fbscrypt$v=1,n=14,r=8,p=1,ss=<salt separator>,sk=<signer key>$<salt>$<hash>' }
  }
  const [exponent, blocks, lanes] = [Number(n), Number(r), Number(p)]
  // 128 bytes a block: at most 256 MiB are gone through, of which one lane holds its share at a time.
  if (exponent > 20 || 2 ** exponent * blocks * lanes > 2 ** 21) {
    return { refused: 'Firebase scrypt may use up to 256 MiB: 2^n times r times p up to 2097152' }
  }
  // scrypt itself is not defined beyond the last of these.
  if (exponent < 1 || blocks < 1 || lanes < 1 || exponent >= 16 * blocks) {
    return { refused: 'Firebase scrypt needs n, r and p of 1 or more, and n below 16 times r' }
  }
  if (signerKey.length < 16 || digest.length !== signerKey.length) {
    return { refused: 'Firebase scrypt needs a signer key of 16 bytes or more and a hash of the same length' }
  }
  return { recipe: { kind: 'firebase', exponent, blocks, lanes, salt: Buffer.concat([salt, separator]), signerKey }, digest }
}

function readPbkdf2(text: string): PasswordHash | Refused {
  const [, kind, i, l, saltText, digestText] = forms.pbkdf2.exec(text) ?? []
  const [salt, digest] = [decode(saltText), decode(digestText)]
  if (!salt || !digest) return { refused: 'PBKDF2 hashes look like $pbkdf2-sha256$i=600000,l=32$<salt>$<hash>, or sha512' }
  const [iterations, length] = [Number(i), Number(l)]
  if (length !== digest.length || !within(digest, 16, 64)) return { refused: 'PBKDF2 needs a hash of l bytes, 16 to 64' }
  // Every started block of output costs all iterations anew.
  const blocks = Math.ceil(length / (kind === 'pbkdf2-sha256' ? 32 : 64))
  if (iterations < 1 || iterations * blocks > 2_000_000)
    return { refused: 'PBKDF2 may have 1 to 2000000 iterations over all blocks' }
  return { recipe: { kind: kind as 'pbkdf2-sha256' | 'pbkdf2-sha512', iterations, salt, length } satisfies Recipe, digest }
}

/** Both alphabets, with or without padding: Firebase's own tools do not agree on one. */
function decode(text: string | undefined): Buffer | undefined {
  const bare = text?.replace(/=+$/, '')
  return bare === undefined || bare === '' || bare.length % 4 === 1 ? undefined : Buffer.from(bare, 'base64')
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function within(bytes: Buffer, least: number, most: number): boolean {
  return bytes.length >= least && bytes.length <= most
}
