-- The payments to come that a payer agreed to together with a payment, and how far they have come. What was agreed to stands in
-- pay.agreements as it was said; here it stands as it is understood.
create table pay.plans (
  merchant_id pay.id not null,
  -- The payment that it was agreed to with, whose card is charged.
  transaction_id pay.id not null,
  created timestamptz not null,
  -- Components: amount in minor units, currency, first, count (null: for ever), every {unit, value}.
  parts json not null,
  state text not null constraint plans_state_check check (state in ('active', 'finished', 'stopped')),
  -- Why it was stopped.
  reason text,
  ended timestamptz,
  -- What is to be paid next, or was last: an occurrence of a component, both counted from 0, and when it was announced for.
  component smallint not null,
  occurrence integer not null,
  due timestamptz not null,
  -- How often that has been tried and failed, when it was tried first, and when it is tried next.
  tries smallint not null default 0,
  first_tried timestamptz,
  try_at timestamptz not null,
  -- Until when one of our processes is at it. It is left to others when that has passed: nothing is charged twice all the same.
  held_until timestamptz,
  made integer not null default 0,
  missed integer not null default 0,
  last_transaction_id pay.id,
  error_code smallint,
  constraint plans_pkey primary key (merchant_id, transaction_id),
  constraint plans_ended_check check ((state = 'active') = (ended is null)),
  constraint plans_reason_check check ((state = 'stopped') = (reason is not null))
);

create index plans_try_idx on pay.plans (merchant_id, try_at) where state = 'active';
