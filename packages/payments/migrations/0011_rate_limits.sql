-- Buckets of whatever may be had only so often.
create table pay.rate_limits (
  key bytea not null constraint rate_limits_pkey primary key,
  left_over integer not null,
  refilled_at timestamptz not null
);

create index rate_limits_refilled_at_idx on pay.rate_limits (refilled_at);
