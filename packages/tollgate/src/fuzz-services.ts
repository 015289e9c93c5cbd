import { identity } from '@tollgate/identity/main'
import { bodied } from '@tollgate/identity/testing'
import { payments } from '@tollgate/payments/main'

export type FuzzedName = 'identity' | 'payments'

/** What the process of a service under test is told, and what it answers once it has done so. */
export type Order =
  | { id: number; order: 'start'; name: FuzzedName; env: Record<string, string> }
  | { id: number; order: 'advance'; seconds: number }
  | { id: number; order: 'collect' }
  | { id: number; order: 'stop' }
export type Reply = { id: number; port?: number; memory?: Memory }

/** Bytes, after the garbage was collected: what the program holds on to, and what the system has given it. */
export type Memory = { held: number; resident: number }

/** Requests as bytes need something on identity that takes a body and any fields. */
export const fuzzed = { identity: { ...identity, endpoints: [...identity.endpoints, bodied] }, payments }
