import { createHmac, hash, type KeyObject, randomBytes } from 'node:crypto'
import type { Secret } from '@tollgate/kit/secret'

/** 192 random bits, or what looks like them to everybody without the key. */
const bytes = 24

/** The token that a new session begins with. */
export function firstToken(): string {
  return randomBytes(bytes).toString('base64url')
}

/**
 * What a token is exchanged for: always the same child, because it follows from the parent. So a client that lost the answer, or asks twice
 * at once, gets the same child again although only its hash is kept.
 */
export function childToken(parent: string, key: Secret<KeyObject>): string {
  return createHmac('sha256', key.reveal()).update(parent).digest().subarray(0, bytes).toString('base64url')
}

/** As it is kept. One plain hash is enough for something that cannot be guessed. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url')
}
