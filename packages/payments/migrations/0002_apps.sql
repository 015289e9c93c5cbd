-- A machine identity. Only the hash of its key is kept: the key is shown once, when the app is made.
create table pay.apps (
  id text not null constraint apps_pkey primary key constraint apps_id_check check (id ~ '^[0-9a-f]{24}$'),
  name text constraint apps_name_check check (char_length(name) between 1 and 200),
  key_hash bytea not null constraint apps_key_hash_key unique constraint apps_key_hash_check check (octet_length(key_hash) = 32),
  created timestamptz not null
);
