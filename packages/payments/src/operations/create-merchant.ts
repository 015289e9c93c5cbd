import { randomUUID } from 'node:crypto'
import type { Sql } from '@tollgate/kit/db'
import { randomTag } from '@tollgate/kit/id'
import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { insertMerchant, type Merchant, type NewMerchant } from '../store/merchants.ts'

/** A merchant at today's price, whose first member is the one who makes it. All that will be theirs shares the tag of its id. */
export async function createMerchant(
  { config, now, mintId }: Pick<App, 'config' | 'now' | 'mintId'>,
  sql: Sql,
  { who, given }: { who: Pick<Who, 'id' | 'kind'>; given: Omit<NewMerchant, 'id' | 'key' | 'created'> },
): Promise<Merchant> {
  const merchant = { ...given, id: mintId(randomTag()), key: randomUUID(), created: now() }
  const { price } = config
  const terms = await insertMerchant(sql, merchant, { price, member: who })
  return { ...merchant, ...terms, accent: null, price, balance: 0 }
}
