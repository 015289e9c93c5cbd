import { isUtf8 } from 'node:buffer'
import { TokenProblem } from './problem.ts'

export type Members = Readonly<Record<string, unknown>>

export function encode(members: Members): string {
  return Buffer.from(JSON.stringify(members)).toString('base64url')
}

/** The bytes of a text that is their one and only base64url spelling: no padding, no blanks, no stray bits at the end. */
export function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

export function decodeBytes(segment: string, what: string): Buffer {
  const bytes = bytesOf(segment)
  if (bytes) return bytes
  const stray = segment.search(/[^\w-]/)
  const at = stray === -1 ? segment.length - 1 : stray
  throw new TokenProblem('malformed', `could not base64 decode ${what}: illegal base64 data at input byte ${at}`)
}

/** The JSON object in a segment, frozen to its depths, for a verified one is shared by all who bring the same token. */
export function readMembers(bytes: Buffer, what: string): Members {
  const refuse = (reason: string) => new TokenProblem('malformed', `could not JSON decode ${what}: ${reason}`)
  if (!isUtf8(bytes)) throw refuse('it is not UTF-8')
  const text = bytes.toString()
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse('it is not a JSON object')
  // Two programs may differ on which of two equal names counts, so one could be shown what the other has not checked.
  if (seal(value) !== membersIn(text)) throw refuse('it has a member twice')
  return value as Members
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Freezes a value and tells how many members its objects have; without recursion, which deep nesting could exhaust. */
function seal(root: object): number {
  const objects = [root]
  let members = 0
  for (const object of objects) {
    Object.freeze(object)
    const values = Object.values(object)
    if (!Array.isArray(object)) members += values.length
    for (const value of values) if (typeof value === 'object' && value !== null) objects.push(value)
  }
  return members
}

/** How many members a valid JSON text spells: one a colon that is not part of a string. */
function membersIn(text: string): number {
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '').split(':').length - 1
}
