import { open, seal } from './envelope.ts'
import type { MasterKeys } from './master-keys.ts'

/** The number of a card, its security code, and what wallets hand out in their place. */
const typeNumbers = { pcn: 1, pcsc: 2, applepay: 3, googlepay: 4 } as const

export type TokenType = keyof typeof typeNumbers

type Token = { type: TokenType; expires: Date; content: Buffer }

/** Nothing that we hand out comes near this. */
const longest = 65_536

/** In front of the seal, and proven by it: a byte for the type and six for the millisecond in which it expires. */
const frontLength = 7

export function writeToken(keys: MasterKeys, { type, expires, content }: Token): string {
  const front = Buffer.alloc(frontLength)
  front.writeUInt8(typeNumbers[type], 0)
  front.writeUIntBE(expires.getTime(), 1, 6)
  return Buffer.concat([front, seal(keys, content, about(type, expires))]).toString('base64')
}

/** What a token of ours says, expired or not; undefined for anything else. */
export function readToken(keys: MasterKeys, token: string): Token | undefined {
  const bytes = fromBase64(token)
  if (!bytes || bytes.length < frontLength) return undefined
  const type = typeNumbered(bytes.readUInt8(0))
  const expires = new Date(bytes.readUIntBE(1, 6))
  const content = type && open(keys, bytes.subarray(frontLength), about(type, expires))
  return content && { type, expires, content }
}

/** Node reads over what is no base64; here a token has one spelling, so that no two texts are the same token. */
export function fromBase64(text: string): Buffer | undefined {
  if (text.length > longest) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

function typeNumbered(number: number): TokenType | undefined {
  const [type] = Object.entries(typeNumbers).find(([, each]) => each === number) ?? []
  return type as TokenType | undefined
}

function about(type: TokenType, expires: Date): string {
  return `token ${type} ${expires.getTime()}`
}
