-- 24 hex digits, the first eight of which are the second in which the thing was made. Compared byte by byte: lists are in the order of their ids.
create domain pay.id as text collate "C" constraint id_check check (value ~ '^[0-9a-f]{24}$');

-- An ISO 4217 code.
create domain pay.currency as text collate "C" constraint currency_check check (value ~ '^[A-Z]{3}$');

-- A machine identity. Only the hash of its key is kept: the key is shown once, when the app is made.
create table pay.apps (
  id pay.id not null constraint apps_pkey primary key,
  name text constraint apps_name_check check (char_length(name) between 1 and 200),
  key_hash bytea not null constraint apps_key_hash_key unique constraint apps_key_hash_check check (octet_length(key_hash) = 32),
  created timestamptz not null
);

-- A person, known by the address that the identity service vouches for.
create table pay.users (
  id pay.id not null constraint users_pkey primary key,
  email text collate "C" not null constraint users_email_key unique constraint users_email_check check (email = lower(email)),
  name text constraint users_name_check check (char_length(name) between 1 and 200),
  created timestamptz not null
);
