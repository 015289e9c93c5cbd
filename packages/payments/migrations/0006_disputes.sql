create table pay.disputes (
  merchant_id pay.id not null,
  id pay.id not null,
  transaction_id pay.id not null,
  created timestamptz not null,
  amount bigint not null constraint disputes_amount_check check (amount > 0),
  reason_code integer not null,
  reason_title text not null,
  due timestamptz not null,
  -- Null while it is open.
  won boolean,
  decided timestamptz,
  -- How much of the refundable amount it holds: less than its own where that was refunded already.
  held bigint not null constraint disputes_held_check check (held between 0 and amount),
  -- What the acquirer calls it: the same notification twice is one dispute.
  acquirer_reference text not null,
  constraint disputes_pkey primary key (merchant_id, id),
  constraint disputes_acquirer_reference_key unique (merchant_id, acquirer_reference),
  constraint disputes_decided_check check ((won is null) = (decided is null))
);

create index disputes_id_idx on pay.disputes (id);
create index disputes_transaction_idx on pay.disputes (merchant_id, transaction_id);

create table pay.frauds (
  merchant_id pay.id not null,
  id pay.id not null,
  transaction_id pay.id not null,
  created timestamptz not null,
  reported timestamptz,
  reason smallint constraint frauds_reason_check check (reason between 0 and 8),
  acquirer_reference text not null,
  constraint frauds_pkey primary key (merchant_id, id),
  constraint frauds_acquirer_reference_key unique (merchant_id, acquirer_reference)
);

create index frauds_id_idx on pay.frauds (id);
create index frauds_transaction_idx on pay.frauds (merchant_id, transaction_id);
