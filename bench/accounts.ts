import { createHash } from 'node:crypto'
import type { Db } from '@tollgate/kit/db'
import { inBulk } from './bulk.ts'

/** How many accounts there are where nothing else is said, each with an identity, a session and its refresh token. */
export const usualAccounts = 100_000

/** The refresh token that an account's session begins with, as long as those that come after it. */
export function firstToken(account: number): string {
  return `first-token-of-account-${String(account).padStart(9, '0')}`
}

/** What the service keeps of a token. */
export function keptToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** Fills the tables of an identity service that has just migrated its database; people joined one every quarter of an hour. */
export async function seedAccounts(sql: Db, count: number): Promise<void> {
  await inBulk(sql, 'auth', async () => {
    for (let from = 1; from <= count; from += batch)
      await insertAccounts(sql, { from, through: Math.min(count, from + batch - 1), count })
  })
}

/** What is written in one statement is held in memory twice. */
const batch = 100_000

type Batch = { from: number; through: number; count: number }

async function insertAccounts(sql: Db, { from, through, count }: Batch): Promise<void> {
  await sql`
    with named as (
      select n, md5('account ' || n)::uuid as id, now() - (${count} - n) * interval '15 minutes' as joined,
        (array['Alma', 'Bo', 'Clara', 'Ditte', 'Emil', 'Freja', 'Gustav', 'Hannah', 'Ida', 'Jakob', 'Karla', 'Lærke', 'Magnus', 'Nanna',
          'Oscar', 'Peter', 'Rosa', 'Sofie', 'Theo', 'Viggo'])[1 + n * 7 % 20] as first,
        (array['Andersen', 'Bach', 'Christensen', 'Dahl', 'Eriksen', 'Frandsen', 'Gregersen', 'Holm', 'Iversen', 'Jensen', 'Kjær', 'Larsen',
          'Madsen', 'Nielsen', 'Olsen', 'Poulsen', 'Rasmussen', 'Skov', 'Thomsen', 'Winther'])[1 + n / 20 % 20] as last,
        (array['example.com', 'mail.example', 'post.example.org', 'company.example.net'])[1 + n % 4] as host
      from generate_series(${from}::integer, ${through}::integer) as n
    ), account as (
      select *, translate(lower(first || '.' || last), 'æø', 'ao') || n || '@' || host as email,
        case when n % 3 = 0 then '45' || 20000000 + n end as phone
      from named
    ), users as (
      insert into auth.users (id, aud, role, email, phone, email_confirmed_at, phone_confirmed_at, raw_app_meta_data, raw_user_meta_data,
        created_at, updated_at, last_sign_in_at)
      select id, 'authenticated', 'authenticated', email, phone, joined, case when phone is not null then joined end,
        '{"provider": "email", "providers": ["email"]}',
        jsonb_build_object('sub', id, 'email', email, 'email_verified', true, 'full_name', first || ' ' || last),
        joined, joined, joined
      from account
    ), identities as (
      insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select id::text, id, jsonb_build_object('sub', id, 'email', email, 'email_verified', true), 'email', joined, joined, joined
      from account
    ), sessions as (
      insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
      select md5('session ' || n)::uuid, id, joined, joined, 'aal1', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        '192.0.2.7'
      from account
    ), claims as (
      insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method)
      select md5('session ' || n)::uuid, joined, joined, 'password' from account
    )
    insert into auth.refresh_tokens (token, user_id, session_id, created_at, updated_at)
    select rtrim(translate(encode(sha256(convert_to('first-token-of-account-' || lpad(n::text, 9, '0'), 'UTF8')), 'base64'), '+/', '-_'), '='),
      id, md5('session ' || n)::uuid, joined, joined
    from account`
}
