-- An authorization and what became of it. Amounts are in minor units of its currency; "gross" and fees in those of the merchant's.
-- What is written with every payment has few constraints, and those about money: each is compiled anew by every statement, and eighteen of
-- them cost as much as the row. That ids are ids and kinds are kinds is up to the code, and to `tollgate payments verify`.
create table pay.transactions (
  merchant_id text collate "C" not null,
  id text collate "C" not null,
  created timestamptz not null,
  test boolean not null,
  -- pending: the acquirer has been asked and its answer is not known.
  state text not null,
  error_code smallint,
  currency text collate "C" not null,
  amount bigint not null,
  captured bigint not null default 0,
  refunded bigint not null default 0,
  voided bigint not null default 0,
  disputed bigint not null default 0,
  -- The pots that movements take from. They hold less than the amounts above would leave while something is under way or disputed.
  capturable bigint not null,
  refundable bigint not null default 0,
  -- The merchant's side, so that what goes back in parts adds up to what came in.
  captured_gross bigint not null default 0,
  captured_rate_fee bigint not null default 0,
  -- By refunds and by disputes that are open or lost.
  returned bigint not null default 0,
  returned_gross bigint not null default 0,
  returned_rate_fee bigint not null default 0,
  -- How many entries its trail has: whoever reads both can tell whether they belong together.
  entries integer not null default 0,
  -- How many of them are done or have failed.
  settlements integer not null default 0,
  descriptor text not null,
  -- As text, for it is given back as it came.
  custom json,
  recurring boolean not null,
  tds text not null default 'none',
  card_bin text not null,
  card_last4 text not null,
  card_expiry timestamptz not null,
  card_scheme text not null,
  card_code_present boolean not null,
  -- The transaction, or the saved card, that this one was made from.
  source_id text collate "C",
  card_id text collate "C",
  acquirer text not null,
  -- What the acquirer calls it.
  acquirer_reference text,
  -- How the simulator is to behave.
  simulation json,
  constraint transactions_pkey primary key (merchant_id, id),
  constraint transactions_pots_check check (
    capturable >= 0 and refundable >= 0 and captured + voided + capturable <= amount and refunded + refundable <= captured
  )
) with (fillfactor = 80);

create index transactions_id_idx on pay.transactions (id);
create index transactions_created_idx on pay.transactions using brin (created);
create index transactions_pending_idx on pay.transactions (created) where state = 'pending';

-- What happened to a transaction: captures, refunds, voids and disputes. An entry that is not done is nobody's business but ours.
create table pay.trail (
  merchant_id text collate "C" not null,
  transaction_id text collate "C" not null,
  -- What the acquirer is asked with, so that asking again is harmless.
  id text collate "C" not null,
  -- Which entry of its transaction it is: 1, 2, 3 … in the order in which they took from the pots.
  position integer not null,
  kind text not null,
  state text not null,
  created timestamptz not null,
  amount bigint not null,
  gross bigint not null default 0,
  fee_flat bigint not null default 0,
  fee_rate bigint not null default 0,
  balance bigint not null default 0,
  descriptor text,
  line_id text collate "C",
  dispute_id text collate "C",
  dispute_won boolean,
  -- How the transaction's currency became the merchant's: units of the latter for one of the former.
  exchange_rate numeric,
  exchange_source text,
  exchange_day date,
  error_code smallint,
  acquirer_reference text,
  settled timestamptz,
  -- Which of its transaction's entries it was to be done or to fail: 1, 2, 3 … in the order in which they were, which no clock can tell.
  settlement integer,
  constraint trail_pkey primary key (merchant_id, transaction_id, id)
);

create index trail_pending_idx on pay.trail (created) where state = 'pending';

-- A transaction with all that moving its money takes: its trail, its merchant's terms and the price in force.
create view pay.movable_transactions as
  select transactions.*, merchants.currency as funding, can_capture, can_refund, can_void,
    rate, flat_currency, flat_amount, dispute_currency, dispute_amount,
    case when entries > 0 then (
      select json_agg(trail) from pay.trail
      where trail.merchant_id = transactions.merchant_id and transaction_id = transactions.id
    ) end as trail
  from pay.transactions
  join pay.merchants on merchants.id = transactions.merchant_id
  cross join lateral (
    select * from pay.prices where prices.merchant_id = transactions.merchant_id order by since desc limit 1
  ) price;

-- Deprecated: a card that was saved from a transaction.
create table pay.cards (
  merchant_id pay.id not null,
  id pay.id not null,
  created timestamptz not null,
  transaction_id pay.id not null,
  bin text not null,
  last4 text not null,
  expiry timestamptz not null,
  scheme text not null,
  notes text,
  deleted timestamptz,
  constraint cards_pkey primary key (merchant_id, id)
);

create index cards_id_idx on pay.cards (id);
