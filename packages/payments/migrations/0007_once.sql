-- What a caller's Idempotency-Key did, for ever.
create table pay.idempotency (
  -- The app or person whose key it is; twenty-four zeros for callers without a name.
  owner_id pay.id not null,
  -- SHA-256 of the key, in hex. The key itself opens the answer, so that it does not stand beside it.
  key_hash text collate "C" not null,
  -- A hash of method, path and body: the same key with another request is a mistake.
  fingerprint bytea not null,
  method text not null,
  path text not null,
  created timestamptz not null,
  -- What it made, where the answer is told anew from that …
  merchant_id pay.id,
  transaction_id pay.id,
  entry_id pay.id,
  -- … and the answer itself where it is not. Sealed where it holds a secret.
  status smallint,
  answer bytea,
  constraint idempotency_pkey primary key (owner_id, key_hash)
);

-- How far loops have come that go through something once.
create table pay.watermarks (
  name text not null constraint watermarks_pkey primary key,
  through timestamptz not null
);

-- The simulator's own record, which ours must agree with: it knows nothing of our tables.
create table pay.simulator_operations (
  merchant_id text collate "C" not null,
  -- The reference of the authorization that it moves money of; its own for an authorization.
  authorization_reference text collate "C" not null,
  reference text collate "C" not null,
  kind text not null,
  amount bigint not null,
  currency text collate "C" not null,
  approved boolean not null,
  code smallint,
  -- Of an authorization that draws on the balance of a simulated card: the first one of its series.
  series_reference text collate "C",
  created timestamptz not null,
  constraint simulator_operations_pkey primary key (merchant_id, authorization_reference, reference)
);

create index simulator_operations_series_idx on pay.simulator_operations (merchant_id, series_reference)
  where series_reference is not null;
