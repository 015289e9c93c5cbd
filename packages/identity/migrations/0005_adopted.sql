-- What a dump of an existing installation brings along and nothing here reads: without these columns it would not load.
-- `tollgate identity adopt` empties what is secret among them.
alter table auth.sessions
  add column oauth_client_id uuid,
  add column refresh_token_hmac_key text,
  add column refresh_token_counter bigint,
  add column scopes text;
