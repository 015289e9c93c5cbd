import { randomBytes } from 'node:crypto'
import { Secret } from '@tollgate/kit/secret'
import { decryptOnce, encryptOnce, keyIdOf, markOf, open, rewrap, seal, unwrap, wrap } from './envelope.ts'
import type { MasterKeys } from './master-keys.ts'
import { fromBase64, readToken, type TokenType, writeToken } from './tokens.ts'
import type { VaultSettings } from './vault-settings.ts'

export type { TokenType } from './tokens.ts'

export type Refused = 'invalid' | 'other type'

export type Vault = {
  /** A token for a value that stands in it, encrypted, until it expires; every token of the same value is another one. */
  seal(type: Exclude<TokenType, 'pcsc'>, value: string, now: Date): string
  open(type: Exclude<TokenType, 'pcsc'>, token: string, now: Date): Secret | Refused
  /** The code is in the token alone, and its key in pay.security_codes alone: when either is gone, so is the code. */
  sealCode(code: string, now: Date): { token: string; id: Buffer; wrappedKey: Buffer; expires: Date }
  /** Which key a token needs. */
  readCode(token: string, now: Date): { id: Buffer } | Refused
  /** Does not ask whether the token has expired: whoever has its key has taken it in time. */
  openCode(token: string, wrappedKey: Buffer): Secret | undefined
  /** For what is kept for longer. It opens for whoever says the same about it. */
  lock(value: string, about: string): Buffer
  unlock(locked: Buffer, about: string): Secret | undefined
  /** The same under the first key, without a look at the value. Undefined where it is already, or where no key opens it. */
  relock(locked: Buffer, about: string): Buffer | undefined
  /** By which a value is known again under the same first key, and by nothing else. Undefined where no keys are set. */
  mark(value: string): Buffer | undefined
  /** For what travels with somebody who may neither read nor change it. Every note of the same content is another text. */
  sealNote(note: object, about: string): string
  openNote(note: string, about: string): unknown
}

/** Where no keys are set, every use of the vault throws what `missing` makes. */
export function createVault({ keys, tokenExp }: VaultSettings, missing: () => Error): Vault {
  const ring = (): MasterKeys => {
    if (!keys) throw missing()
    return keys.reveal()
  }
  const expiry = (now: Date) => new Date(now.getTime() + tokenExp * 1000)

  return {
    seal: (type, value, now) => writeToken(ring(), { type, expires: expiry(now), content: Buffer.from(value) }),

    open(type, token, now) {
      const read = readTyped(ring(), token, { type, now })
      return typeof read === 'string' ? read : new Secret(read.toString())
    },

    sealCode(code, now) {
      const [id, key, expires] = [randomBytes(codeIdLength), randomBytes(32), expiry(now)]
      const content = Buffer.concat([id, encryptOnce(key, Buffer.from(code), aboutCode(id))])
      const token = writeToken(ring(), { type: 'pcsc', expires, content })
      return { token, id, wrappedKey: wrap(ring(), key, aboutCodeKey(id)), expires }
    },

    readCode(token, now) {
      const read = readTyped(ring(), token, { type: 'pcsc', now })
      return typeof read === 'string' ? read : { id: read.subarray(0, codeIdLength) }
    },

    openCode(token, wrappedKey) {
      const read = readToken(ring(), token)
      if (read?.type !== 'pcsc') return undefined
      const [id, encrypted] = [read.content.subarray(0, codeIdLength), read.content.subarray(codeIdLength)]
      const key = unwrap(ring(), wrappedKey, aboutCodeKey(id))
      return secretOf(key && decryptOnce(key, encrypted, aboutCode(id)))
    },

    lock: (value, about) => seal(ring(), Buffer.from(value), `lock ${about}`),
    unlock: (locked, about) => secretOf(open(ring(), locked, `lock ${about}`)),
    relock(locked, about) {
      const [first] = ring()
      return keyIdOf(locked) === first.id ? undefined : rewrap(ring(), locked, `lock ${about}`)
    },

    mark: (value) => keys && markOf(keys.reveal(), value),

    sealNote: (note, about) => seal(ring(), Buffer.from(JSON.stringify(note)), `note ${about}`).toString('base64'),
    openNote(note, about) {
      const keys = ring()
      const bytes = fromBase64(note)
      const content = bytes && open(keys, bytes, `note ${about}`)
      return content && JSON.parse(content.toString())
    },
  }
}

const codeIdLength = 16

const aboutCode = (id: Buffer) => `code ${id.toString('hex')}`
const aboutCodeKey = (id: Buffer) => `code-key ${id.toString('hex')}`

function readTyped(keys: MasterKeys, token: string, { type, now }: { type: TokenType; now: Date }): Buffer | Refused {
  const read = readToken(keys, token)
  if (!read) return 'invalid'
  if (read.type !== type) return 'other type'
  return read.expires > now ? read.content : 'invalid'
}

function secretOf(content: Buffer | undefined): Secret | undefined {
  return content && new Secret(content.toString())
}
