-- One-time codes and links, flows that a client proves it began, messages on their way, and what limits all of these.

create type auth.one_time_token_type as enum (
  'confirmation_token', 'reauthentication_token', 'recovery_token', 'email_change_token_new', 'email_change_token_current', 'phone_change_token'
);

create type auth.code_challenge_method as enum ('s256', 'plain');

create table auth.flow_state (
  id uuid not null constraint flow_state_pkey primary key,
  user_id uuid constraint flow_state_user_id_fkey references auth.users (id) on delete cascade,
  -- The hash of a code; the code itself is known to the client alone.
  auth_code text,
  code_challenge_method auth.code_challenge_method,
  code_challenge text,
  provider_type text not null,
  provider_access_token text,
  provider_refresh_token text,
  created_at timestamptz,
  updated_at timestamptz,
  authentication_method text not null,
  auth_code_issued_at timestamptz,
  invite_token text,
  referrer text,
  oauth_client_state_id uuid,
  linking_target_id uuid,
  email_optional boolean not null default false
);

create index flow_state_auth_code_idx on auth.flow_state (auth_code);
create index flow_state_created_at_idx on auth.flow_state (created_at);
create index flow_state_user_id_idx on auth.flow_state (user_id);

create table auth.one_time_tokens (
  id uuid not null default gen_random_uuid() constraint one_time_tokens_pkey primary key,
  user_id uuid not null constraint one_time_tokens_user_id_fkey references auth.users (id) on delete cascade,
  token_type auth.one_time_token_type not null,
  -- The hash of what a link carries.
  token_hash text not null,
  -- The address or number that it was sent to.
  relates_to text not null,
  created_at timestamp without time zone not null default (now() at time zone 'UTC'),
  updated_at timestamp without time zone not null default (now() at time zone 'UTC'),
  -- The keyed hash of what a person types. Null for what came from elsewhere, which no code opens.
  code_hash text,
  attempts smallint not null default 0,
  -- The flow that a client began and wants to end with a code of its own.
  flow_state_id uuid constraint one_time_tokens_flow_state_id_fkey references auth.flow_state (id) on delete set null,
  constraint one_time_tokens_user_id_token_type_relates_to_key unique (user_id, token_type, relates_to)
);

create index one_time_tokens_token_hash_idx on auth.one_time_tokens using hash (token_hash);
create index one_time_tokens_relates_to_idx on auth.one_time_tokens using hash (relates_to);
create index one_time_tokens_created_at_idx on auth.one_time_tokens (created_at);
create index one_time_tokens_flow_state_id_idx on auth.one_time_tokens (flow_state_id);

-- Mails and SMS: first a row, then a delivery.
create table auth.messages (
  id uuid not null constraint messages_pkey primary key,
  channel text not null constraint messages_channel_check check (channel in ('mail', 'sms', 'none')),
  -- To whom and what, encrypted, for codes and links are in it. Gone once the message is.
  sealed bytea,
  created_at timestamptz not null,
  -- Whoever is to get it would have no use for it any more.
  expires_at timestamptz,
  -- From here on it may be under way, and is not sent a second time unless it is known that it is not.
  handed_over_at timestamptz,
  sent_at timestamptz,
  given_up_at timestamptz,
  -- How the outsider that took it calls it, or why none did.
  outside_id text,
  error text
);

create index messages_created_at_idx on auth.messages (created_at);

-- When something was sent last to somebody, known to us or not. Who it was is a keyed hash.
create table auth.sendings (
  kind text not null,
  recipient bytea not null,
  sent_at timestamptz not null,
  constraint sendings_pkey primary key (kind, recipient)
);

create index sendings_sent_at_idx on auth.sendings (sent_at);

-- Buckets of whatever may be had only so often.
create table auth.rate_limits (
  key bytea not null constraint rate_limits_pkey primary key,
  left_over integer not null,
  refilled_at timestamptz not null
);

create index rate_limits_refilled_at_idx on auth.rate_limits (refilled_at);

alter table auth.flow_state enable row level security;
alter table auth.one_time_tokens enable row level security;
alter table auth.messages enable row level security;
alter table auth.sendings enable row level security;
alter table auth.rate_limits enable row level security;
alter table auth.jobs enable row level security;
