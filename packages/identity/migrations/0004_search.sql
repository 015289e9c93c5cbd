-- What an operator looks accounts and audit entries up by.

-- One audience is listed at a time, in the order of joining. Those of an older installation who have no date come before all others.
create index users_aud_created_at_id_idx on auth.users (aud, created_at nulls first, id);

-- The unique index knows the addresses of everybody else.
create index users_email_sso_idx on auth.users (email) where is_sso_user;

-- What a search looks through, line by line, in small letters once and for all: to fold every row anew would take most of its time.
-- Names are cut, so that nobody makes the index swallow a megabyte.
alter table auth.users add column search_text text generated always as (
  lower(coalesce(email, '') || E'\n' || coalesce(phone, '') || E'\n'
    || coalesce(left(raw_user_meta_data ->> 'full_name', 255), '') || E'\n' || coalesce(left(raw_user_meta_data ->> 'name', 255), ''))
) stored;

-- Trigrams make the search fast, and nothing but fast: where a managed database forbids the extension, or does not have it, the same
-- statements are right without the index. The extension goes into our own schema, the one that surely exists and may be written to;
-- where it is installed already, it may be anywhere. Either way the operator class is named with its schema, for no search path can be
-- relied upon.
do $$
declare
  own name := (select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = 'auth.users'::regclass);
  home name;
begin
  if not exists (select from pg_extension where extname = 'pg_trgm') then
    execute format('create extension pg_trgm schema %I', own);
  end if;
  select n.nspname into home from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  execute format('create index users_search_idx on %I.users using gin (search_text %I.gin_trgm_ops)', own, home);
exception when others then
  raise notice 'accounts are searched without an index: %', sqlerrm;
end
$$;

-- The log is read newest first, which its own index serves; this one finds what happens rarely.
create index audit_log_entries_action_created_at_idx on auth.audit_log_entries ((payload ->> 'action'), created_at desc, id);
