import type { Sql } from '@tollgate/kit/db'
import type { Page } from '../rules/page.ts'

export type UserRow = { id: string; email: string; name: string | null; created: Date }

export async function findUserByEmail(sql: Sql, email: string): Promise<UserRow | undefined> {
  const [user] = await sql<UserRow>`select id, email, name, created from pay.users where email = ${email}`
  return user
}

/** The person with this address, who is entered if nobody is: of several who try at once, all are answered with the same row. */
export async function enterUser(sql: Sql, user: UserRow): Promise<UserRow> {
  // An update, for `do nothing` would answer with no row where somebody else was faster. A name that is known stays.
  const [entered] = await sql<UserRow>`
    insert into pay.users (id, email, name, created) values (${user.id}, ${user.email}, ${user.name}, ${user.created})
    on conflict (email) do update set name = coalesce(users.name, excluded.name)
    returning id, email, name, created`
  return entered as UserRow
}

/** False when they are a member already. */
export async function insertUserMember(
  sql: Sql,
  member: { merchantId: string; userId: string; created: Date },
): Promise<boolean> {
  const { count } = await sql`
    insert into pay.members (merchant_id, identity_id, kind, created)
    values (${member.merchantId}, ${member.userId}, 'user', ${member.created})
    on conflict (merchant_id, identity_id) do nothing`
  return count === 1
}

/** False when they were no member. */
export async function deleteUserMember(sql: Sql, merchantId: string, userId: string): Promise<boolean> {
  const { count } = await sql`
    delete from pay.members where merchant_id = ${merchantId} and identity_id = ${userId} and kind = 'user'`
  return count === 1
}

export async function listUserMembers(
  sql: Sql,
  merchantId: string,
  { page, filter }: { page: Page; filter: { email?: string | undefined; name?: string | undefined } },
): Promise<UserRow[]> {
  const { limit, before, after, ascending } = page
  const { email = null, name = null } = filter
  return await sql<UserRow>`
    with page as (
      (select users.id from pay.members join pay.users on users.id = identity_id
       where merchant_id = ${merchantId} and kind = 'user' and identity_id < ${before} and identity_id > ${after}
         and not ${ascending}::boolean
         and (${email}::text is null or users.email = ${email}) and (${name}::text is null or users.name = ${name})
       order by identity_id desc limit ${limit})
      union all
      (select users.id from pay.members join pay.users on users.id = identity_id
       where merchant_id = ${merchantId} and kind = 'user' and identity_id < ${before} and identity_id > ${after}
         and ${ascending}::boolean
         and (${email}::text is null or users.email = ${email}) and (${name}::text is null or users.name = ${name})
       order by identity_id limit ${limit})
    )
    select users.id, email, name, created from page join pay.users on users.id = page.id
    order by case when ${ascending}::boolean then users.id end, users.id desc`
}

export type Invitation = {
  email: string
  merchantName: string | null
  merchantWebsite: string
  inviterName: string | null
  /** Null where an app has invited. */
  inviterEmail: string | null
}

/** What a mail to a new member tells; undefined where they are none, or none any more. */
export async function findInvitation(
  sql: Sql,
  { merchantId, userId, inviterId }: { merchantId: string; userId: string; inviterId: string },
): Promise<Invitation | undefined> {
  const [invitation] = await sql<Invitation>`
    select invited.email, merchants.name as "merchantName", website as "merchantWebsite",
      coalesce(users.name, apps.name) as "inviterName", users.email as "inviterEmail"
    from pay.members
    join pay.merchants on merchants.id = members.merchant_id
    join pay.users invited on invited.id = members.identity_id
    left join pay.users on users.id = ${inviterId}
    left join pay.apps on apps.id = ${inviterId}
    where members.merchant_id = ${merchantId} and members.identity_id = ${userId} and members.kind = 'user'`
  return invitation
}
