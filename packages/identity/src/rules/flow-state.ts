import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@tollgate/kit/secret'
import { isUuid } from './uuid.ts'

/** What travels with somebody to a provider and back: which flow it is, signed, so that nobody can make one up or ask us to look for one. */
export function writeState(key: Secret<KeyObject>, flowId: string): string {
  return `${flowId}.${signatureOf(key, flowId)}`
}

/** The flow that a state names, if we wrote it. */
export function readState(key: Secret<KeyObject>, state: string): string | undefined {
  const [flowId = '', signature = '', ...rest] = state.split('.')
  if (!isUuid(flowId) || rest.length > 0) return undefined
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(key, flowId))]
  return given.length === right.length && timingSafeEqual(given, right) ? flowId : undefined
}

function signatureOf(key: Secret<KeyObject>, flowId: string): string {
  return createHmac('sha256', key.reveal()).update(flowId).digest('base64url').slice(0, 22)
}
