-- What a sign-in with a provider has to remember until the person comes back: encrypted, for a secret or two is in it.
alter table auth.flow_state add column sealed bytea;
-- When the provider sent them back: once.
alter table auth.flow_state add column claimed_at timestamptz;
