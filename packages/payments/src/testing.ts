import type { Env } from '@tollgate/kit/env'
import type { Telemetry } from '@tollgate/kit/telemetry'
import { type Call, testService } from '@tollgate/kit/testing'
import { payments } from './main.ts'

/** The payments service on a scratch database. */
export function startPayments(env: Env = {}, options: { telemetry?: Telemetry } = {}) {
  return testService(payments, { PAY_ENV: 'development', ...env }, options)
}

/** Makes an app and gives the header that it shows its key with. */
export async function createApp(call: Call, name?: string): Promise<{ id: string; key: string; authorization: string }> {
  const { app } = (await call('POST /apps', { json: name === undefined ? {} : { name } })).json<{
    app: { id: string; key: string }
  }>()
  return { ...app, authorization: basic(app.key) }
}

export function basic(key: string): string {
  return `Basic ${Buffer.from(`:${key}`).toString('base64')}`
}
