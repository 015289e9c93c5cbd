import type { Sql } from '@tollgate/kit/db'
import type { Page } from '../rules/page.ts'
import type { AppRow } from './apps.ts'

export type MerchantFacts = { id: string; currency: string; test: boolean; descriptor: string; canChargeCard: boolean }

/** A merchant, if this identity is a member of it. */
export async function findOwnMerchant(sql: Sql, identityId: string, merchantId: string): Promise<MerchantFacts | undefined> {
  const [merchant] = await sql<MerchantFacts>`
    select merchants.id, currency, test, descriptor, can_charge_card as "canChargeCard" from pay.merchants
    where id = ${merchantId} and exists (
      select from pay.members where members.merchant_id = merchants.id and identity_id = ${identityId}
    )`
  return merchant
}

/** Makes an app a member, if it is none yet. False when there is no such app. */
export async function insertAppMember(sql: Sql, member: { merchantId: string; appId: string; now: Date }): Promise<boolean> {
  const { count } = await sql`
    with known as (
      select id from pay.apps where id = ${member.appId}
    ), added as (
      insert into pay.members (merchant_id, identity_id, kind, created)
      select ${member.merchantId}, id, 'app', ${member.now} from known
      on conflict (merchant_id, identity_id) do nothing
    )
    select from known`
  return count === 1
}

/** False when it was no member. */
export async function deleteAppMember(sql: Sql, merchantId: string, appId: string): Promise<boolean> {
  const { count } = await sql`
    delete from pay.members where merchant_id = ${merchantId} and identity_id = ${appId} and kind = 'app'`
  return count === 1
}

export async function listAppMembers(
  sql: Sql,
  merchantId: string,
  { page, name }: { page: Page; name: string | undefined },
): Promise<AppRow[]> {
  const { limit, before, after, ascending } = page
  const wanted = name ?? null
  return await sql<AppRow>`
    select id, name, created from (
      (
        select apps.* from pay.members join pay.apps on id = identity_id
        where merchant_id = ${merchantId} and kind = 'app' and identity_id < ${before} and identity_id > ${after}
          and not ${ascending}::boolean and (${wanted}::text is null or name = ${wanted})
        order by identity_id desc limit ${limit}
      ) union all (
        select apps.* from pay.members join pay.apps on id = identity_id
        where merchant_id = ${merchantId} and kind = 'app' and identity_id < ${before} and identity_id > ${after}
          and ${ascending}::boolean and (${wanted}::text is null or name = ${wanted})
        order by identity_id limit ${limit}
      )
    ) apps
    order by case when ${ascending}::boolean then id end, id desc`
}
