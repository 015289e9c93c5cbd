import { createHmac } from 'node:crypto'
import type { Secret } from './secret.ts'

/** Signs claims with HS256. */
export function signToken(claims: Readonly<Record<string, unknown>>, secret: Secret): string {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', secret.reveal()).update(signed).digest('base64url')}`
}

function encode(part: Readonly<Record<string, unknown>>): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
