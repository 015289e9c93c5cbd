import { randomUUID } from 'node:crypto'
import { Json } from '@tollgate/kit/db'
import type { Env } from '@tollgate/kit/env'
import { randomTag, tagOf } from '@tollgate/kit/id'
import type { Telemetry } from '@tollgate/kit/telemetry'
import { type Call, type TestedService, testService } from '@tollgate/kit/testing'
import type { Simulation } from './acquirers/acquirer.ts'
import type { App } from './app.ts'
import { payments } from './main.ts'

/** The payments service on a scratch database. */
export function startPayments(env: Env = {}, options: { telemetry?: Telemetry } = {}) {
  const vaultKeys = `test:${Buffer.alloc(32, 'test').toString('base64')}`
  const settings = { PAY_ENV: 'development', PAY_EXCHANGE_MAX_AGE: '0', PAY_VAULT_KEYS: vaultKeys, ...env }
  return testService(payments, settings, options)
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

type Planted = { id: string; key: string; currency: string; authorization: string; app: { id: string; key: string } }

/** A merchant of a new app, put straight into the tables: for tests that are about something else. */
export async function plantMerchant(
  { app, call, now }: Pick<TestedService<App>, 'app' | 'call' | 'now'>,
  given: { currency?: string; test?: boolean; rate?: string; flat?: number; disputeFee?: number; iban?: string | null } = {},
): Promise<Planted> {
  const { currency = 'EUR', test = true, rate = '0.025', flat = 25, disputeFee = 1500, iban = 'DK5000400440116243' } = given
  const owner = await createApp(call)
  const [id, key] = [app.mintId(randomTag()), randomUUID()]
  await app.db`
    insert into pay.merchants (id, key, created, test, currency, email, website, descriptor, company_country, bank_iban)
    values (${id}, ${key}, ${now()}, ${test}, ${currency}, 'shop@example.com', 'https://shop.test', 'Shop', 'DK', ${iban})`
  await app.db`
    insert into pay.prices (merchant_id, since, rate, flat_currency, flat_amount, dispute_currency, dispute_amount)
    values (${id}, ${now()}, ${rate}, ${currency}, ${flat}, ${currency}, ${disputeFee})`
  await app.db`
    insert into pay.members (merchant_id, identity_id, kind, created) values (${id}, ${owner.id}, 'app', ${now()})`
  return { id, key, currency, authorization: owner.authorization, app: owner }
}

/** An approved authorization of a customer who was there, with the simulator's record of it. */
export async function plantTransaction(
  { app, now }: Pick<TestedService<App>, 'app' | 'now'>,
  given: { merchantId: string; amount?: number; currency?: string; test?: boolean; simulation?: Simulation },
): Promise<string> {
  const { merchantId, amount = 1000, currency = 'EUR', test = true, simulation } = given
  const id = app.mintId(tagOf(merchantId))
  await app.db`
    insert into pay.transactions (merchant_id, id, created, test, state, currency, amount, capturable, descriptor, recurring,
      card_bin, card_last4, card_expiry, card_scheme, card_code_present, acquirer, acquirer_reference, simulation)
    values (${merchantId}, ${id}, ${now()}, ${test}, 'approved', ${currency}, ${amount}, ${amount}, 'Shop', false,
      '410000', '0000', '2066-08-31T23:59:59.999Z', 'visa', true, 'simulator', ${id}, ${simulation ? new Json(simulation) : null})`
  await app.db`
    insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
    values (${merchantId}, ${id}, ${id}, 'authorize', ${amount}, ${currency}, true, ${now()})`
  return id
}
