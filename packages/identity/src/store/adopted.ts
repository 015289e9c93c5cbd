import type { Sql } from '@tollgate/kit/db'

/** What was done to some rows in the order of their keys, counted, and the key from which to go on: null at the end. */
export type Page<Key, Counted extends string> = { done: Record<Counted, number>; next: Key | null }

/** Right after a load the planner takes the tables for empty, and would read all of one for every page. */
export async function analyzeLoaded(sql: Sql): Promise<void> {
  await sql`analyze auth.users, auth.sessions, auth.refresh_tokens, auth.one_time_tokens, auth.flow_state`
}

type AccountCount = 'accounts' | 'cleared' | 'lowered' | 'ambiguous' | 'unreadable'

/**
 * Empties the columns where accounts came with one-time tokens in the clear. Also puts right what can be read there and not here: addresses
 * are found by their lower-case spelling, and metadata is always an object.
 */
export async function adoptUsers(sql: Sql, from: string, size: number): Promise<Page<string, AccountCount>> {
  const [page] = await sql<Page<string, AccountCount>>`
    with loaded as (
      select id,
        concat(confirmation_token, recovery_token, email_change_token_new, email_change_token_current, phone_change_token,
          reauthentication_token) <> '' as plain,
        case when email <> lower(email) and not is_sso_user then lower(email) end as lowered,
        jsonb_typeof(raw_app_meta_data) <> 'object' or jsonb_typeof(raw_user_meta_data) <> 'object' as shapeless,
        encrypted_password <> '' and left(encrypted_password, 1) <> '$' as unreadable
      from auth.users where id >= ${from} order by id limit ${size}
    ), page as (
      select *, case when lowered is null then false
        else row_number() over (partition by lowered order by id) = 1
          and not exists (select from auth.users other where other.email = lowered and not other.is_sso_user) end as free
      from loaded
    ), adopted as (
      update auth.users u set confirmation_token = '', recovery_token = '', email_change_token_new = '', email_change_token_current = '',
        phone_change_token = '', reauthentication_token = '', email = case when page.free then page.lowered else u.email end,
        raw_app_meta_data = case jsonb_typeof(u.raw_app_meta_data) when 'object' then u.raw_app_meta_data else '{}' end,
        raw_user_meta_data = case jsonb_typeof(u.raw_user_meta_data) when 'object' then u.raw_user_meta_data else '{}' end
      from page where u.id = page.id and (page.plain or page.shapeless or page.free)
      returning page.plain, page.free
    )
    select json_build_object(
        'accounts', count(*),
        'cleared', (select count(*) from adopted where plain),
        'lowered', (select count(*) from adopted where free),
        'ambiguous', count(lowered) filter (where not free),
        'unreadable', count(*) filter (where unreadable)) as done,
      (select id from auth.users where id > (select id from page order by id desc limit 1) order by id limit 1) as next
    from page`
  return page as Page<string, AccountCount>
}

/**
 * Ends sessions that were lent to another program: there they could do less than their owner, here they could do the same. Forgets
 * the keys of tokens that are not kept in a table: such a session goes on until its access token expires.
 */
export async function adoptSessions(sql: Sql, from: string, size: number): Promise<Page<string, 'ended' | 'forgotten'>> {
  const [page] = await sql<Page<string, 'ended' | 'forgotten'>>`
    with page as (
      select id, oauth_client_id from auth.sessions where id >= ${from} order by id limit ${size}
    ), ended as (
      delete from auth.sessions s using page where s.id = page.id and page.oauth_client_id is not null returning s.id
    ), forgotten as (
      update auth.sessions s set refresh_token_hmac_key = null, refresh_token_counter = null
      from page where s.id = page.id and page.oauth_client_id is null and s.refresh_token_hmac_key is not null
      returning s.id
    )
    select json_build_object('ended', (select count(*) from ended), 'forgotten', (select count(*) from forgotten)) as done,
      (select id from auth.sessions where id > (select id from page order by id desc limit 1) order by id limit 1) as next`
  return page as Page<string, 'ended' | 'forgotten'>
}

/**
 * Puts a hash where a token came in the clear, in its own row and where its child names it. It is `hashToken`, done by the database so that
 * the tokens do not travel. None that another program made has the length of a hash.
 */
export async function adoptRefreshTokens(sql: Sql, from: number, size: number): Promise<Page<number, 'hashed'>> {
  const [page] = await sql<Page<number, 'hashed'>>`
    with loaded as materialized (
      select id, token, parent from auth.refresh_tokens where id >= ${from} order by id limit ${size}
    ), page as (
      select id, token, parent,
        case when token ~ '^[A-Za-z0-9_-]{43}$' then token
          else translate(encode(sha256(convert_to(token, 'UTF8')), 'base64'), '+/=', '-_') end as token_hash,
        case when parent ~ '^[A-Za-z0-9_-]{43}$' then parent
          when parent <> '' then translate(encode(sha256(convert_to(parent, 'UTF8')), 'base64'), '+/=', '-_') end as parent_hash
      from loaded
    ), hashed as (
      update auth.refresh_tokens t set token = page.token_hash, parent = page.parent_hash
      from page
      where t.id = page.id and t.token = page.token
        and (page.token <> page.token_hash or page.parent is distinct from page.parent_hash)
      returning t.id
    )
    select json_build_object('hashed', (select count(*) from hashed)) as done,
      (select id from auth.refresh_tokens where id > (select max(id) from loaded) order by id limit 1) as next`
  return page as Page<number, 'hashed'>
}

/** New tokens are numbered after those that came, whether or not the dump said so. */
export async function adoptTokenNumbers(sql: Sql): Promise<void> {
  await sql`
    select setval('auth.refresh_tokens_id_seq', loaded.last)
    from (select max(id) as last from auth.refresh_tokens) loaded, auth.refresh_tokens_id_seq numbers
    where loaded.last > numbers.last_value or (loaded.last = numbers.last_value and not numbers.is_called)`
}

/** Deletes codes and links that were made elsewhere: they are readable, and nothing here opens with them. */
export async function adoptCodes(sql: Sql, from: string, size: number): Promise<Page<string, 'deleted'>> {
  const [page] = await sql<Page<string, 'deleted'>>`
    with page as (
      select id from auth.one_time_tokens where id >= ${from} order by id limit ${size}
    ), deleted as (
      delete from auth.one_time_tokens c using page where c.id = page.id and c.code_hash is null returning c.id
    )
    select json_build_object('deleted', (select count(*) from deleted)) as done,
      (select id from auth.one_time_tokens where id > (select id from page order by id desc limit 1) order by id limit 1) as next`
  return page as Page<string, 'deleted'>
}

/** The same for flows whose code is no hash. */
export async function adoptFlows(sql: Sql, from: string, size: number): Promise<Page<string, 'deleted'>> {
  const [page] = await sql<Page<string, 'deleted'>>`
    with page as (
      select id from auth.flow_state where id >= ${from} order by id limit ${size}
    ), deleted as (
      delete from auth.flow_state f using page where f.id = page.id and f.auth_code !~ '^[A-Za-z0-9_-]{43}$' returning f.id
    )
    select json_build_object('deleted', (select count(*) from deleted)) as done,
      (select id from auth.flow_state where id > (select id from page order by id desc limit 1) order by id limit 1) as next`
  return page as Page<string, 'deleted'>
}
