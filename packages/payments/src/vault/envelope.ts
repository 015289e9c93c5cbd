import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { MasterKey, MasterKeys } from './master-keys.ts'

/**
 * Everything is encrypted with a key of its own, and that key with a master key:
 *
 *     1 byte    the version of this layout
 *     1 byte    how long the id is
 *     1 to 32   the id of the master key
 *     24 bytes  random: 12 that a wrapping key is derived from, 12 that it starts with
 *     32 bytes  the data key, encrypted
 *     16 bytes  the proof that all of this belongs together
 *
 * and behind that, where there is more to keep than a key: what is kept, encrypted with the data key, and 16 bytes of proof. What it is
 * about is no part of it, but proven with it: whoever opens it has to say the same.
 */
const version = 1
const algorithm = 'aes-256-gcm'
const lengths = { salt: 12, start: 12, key: 32, proof: 16 }

export function seal(keys: MasterKeys, content: Buffer, about: string): Buffer {
  const dataKey = randomBytes(lengths.key)
  return Buffer.concat([wrap(keys, dataKey, about), encryptOnce(dataKey, content, about)])
}

export function open(keys: MasterKeys, sealed: Buffer, about: string): Buffer | undefined {
  const parts = split(sealed)
  const dataKey = parts && unwrapParts(keys, parts, about)
  return dataKey && decryptOnce(dataKey, parts.rest, about)
}

/** The same content under the first master key, without a look at it. Undefined where none of the keys opens it. */
export function rewrap(keys: MasterKeys, sealed: Buffer, about: string): Buffer | undefined {
  const parts = split(sealed)
  const dataKey = parts && unwrapParts(keys, parts, about)
  return dataKey && Buffer.concat([wrap(keys, dataKey, about), parts.rest])
}

/** Which master key something is sealed with; undefined for what was not sealed here. */
export function keyIdOf(sealed: Buffer): string | undefined {
  return split(sealed)?.id
}

export function wrap([master]: MasterKeys, key: Buffer, about: string): Buffer {
  const head = Buffer.concat([Buffer.from([version, master.id.length]), Buffer.from(master.id, 'latin1')])
  const nonce = randomBytes(lengths.salt + lengths.start)
  return Buffer.concat([head, nonce, encrypt(wrappingKey(master, nonce), nonce.subarray(lengths.salt), key, proven(head, about))])
}

export function unwrap(keys: MasterKeys, wrapped: Buffer, about: string): Buffer | undefined {
  const parts = split(wrapped)
  return parts && parts.rest.length === 0 ? unwrapParts(keys, parts, about) : undefined
}

/** A key may be used for one thing only, so that where it starts need not differ. */
export function encryptOnce(key: Buffer, content: Buffer, about: string): Buffer {
  return encrypt(key, Buffer.alloc(lengths.start), content, Buffer.from(about))
}

export function decryptOnce(key: Buffer, encrypted: Buffer, about: string): Buffer | undefined {
  return decrypt(key, Buffer.alloc(lengths.start), encrypted, Buffer.from(about))
}

/** The same for the same content, so that it can be compared, and nothing that could be tried out without the key. */
export function markOf([{ key }]: MasterKeys, content: string): Buffer {
  return createHmac('sha256', key).update('tollgate vault mark ').update(content).digest()
}

type Parts = { id: string; head: Buffer; nonce: Buffer; key: Buffer; rest: Buffer }

function split(sealed: Buffer): Parts | undefined {
  const headLength = 2 + (sealed[1] ?? 0)
  const keyPlace = headLength + lengths.salt + lengths.start
  const restPlace = keyPlace + lengths.key + lengths.proof
  if (sealed[0] !== version || sealed.length < restPlace) return undefined
  return {
    id: sealed.toString('latin1', 2, headLength),
    head: sealed.subarray(0, headLength),
    nonce: sealed.subarray(headLength, keyPlace),
    key: sealed.subarray(keyPlace, restPlace),
    rest: sealed.subarray(restPlace),
  }
}

function unwrapParts(keys: MasterKeys, { id, head, nonce, key }: Parts, about: string): Buffer | undefined {
  const master = keys.find((each) => each.id === id)
  return master && decrypt(wrappingKey(master, nonce), nonce.subarray(lengths.salt), key, proven(head, about))
}

/**
 * A master key would be worn out after some thousand million uses, for by then two of them might start at the same random place. Derived
 * keys are not used often enough for that.
 */
function wrappingKey({ key }: MasterKey, nonce: Buffer): Buffer {
  return createHmac('sha256', key).update('tollgate vault wrapping key ').update(nonce.subarray(0, lengths.salt)).digest()
}

function proven(head: Buffer, about: string): Buffer {
  return Buffer.concat([head, Buffer.from(about)])
}

function encrypt(key: Buffer, start: Buffer, content: Buffer, about: Buffer): Buffer {
  const cipher = createCipheriv(algorithm, key, start, { authTagLength: lengths.proof })
  cipher.setAAD(about)
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, start: Buffer, encrypted: Buffer, about: Buffer): Buffer | undefined {
  if (encrypted.length < lengths.proof) return undefined
  const decipher = createDecipheriv(algorithm, key, start, { authTagLength: lengths.proof })
  decipher.setAAD(about)
  decipher.setAuthTag(encrypted.subarray(-lengths.proof))
  const content = decipher.update(encrypted.subarray(0, -lengths.proof))
  try {
    return Buffer.concat([content, decipher.final()])
  } catch {
    // Somebody else's, or no longer what it was: the cipher says no more than that.
    return undefined
  }
}
