-- A merchant's view of a movement of money.
create table pay.lines (
  merchant_id text collate "C" not null,
  id text collate "C" not null,
  created timestamptz not null,
  test boolean not null,
  kind text not null,
  -- Of a dispute that was decided.
  won boolean,
  balance bigint not null,
  fee bigint not null,
  -- In the currency of the transaction, always positive.
  amount bigint not null,
  currency text collate "C" not null,
  transaction_id text collate "C",
  dispute_id text collate "C",
  iban text,
  description text,
  constraint lines_pkey primary key (merchant_id, id)
);

create index lines_created_idx on pay.lines (merchant_id, created) include (balance);

-- All lines of a merchant up to and including a moment, added up, so that a balance is the last sum and the few lines after it.
create table pay.line_sums (
  merchant_id pay.id not null,
  through timestamptz not null,
  lines bigint not null,
  balance bigint not null,
  constraint line_sums_pkey primary key (merchant_id, through)
);

-- A merchant as it is told: with the price in force and its balance, as far as a number can tell it.
create view pay.standing_merchants as
  select merchants.*, rate, flat_currency, flat_amount, dispute_currency, dispute_amount,
    greatest(least(coalesce(sums.balance, 0) + later.balance, 9007199254740991), -9007199254740991)::bigint as balance
  from pay.merchants
  cross join lateral (select * from pay.prices where merchant_id = merchants.id order by since desc limit 1) price
  left join lateral (
    select balance, through from pay.line_sums where merchant_id = merchants.id order by through desc limit 1
  ) sums on true
  cross join lateral (
    select coalesce(sum(balance), 0) as balance from pay.lines
    where merchant_id = merchants.id and lines.created > coalesce(sums.through, '-infinity')
  ) later;

-- Double entry. A posting takes an amount from one account and gives it to another in the same row, so that no movement can fail to sum
-- to zero in any currency, whoever writes it. Postings belong to the line that they explain.
--   merchant   what we owe the merchant        acquirer   what the acquirer owes us      fees       what we earned
--   exchange   what waits between currencies   reserve    what disputes hold             payouts    what was paid to bank accounts
--   rounding   what is left over when parts do not add up
create table pay.postings (
  merchant_id text collate "C" not null,
  line_id text collate "C" not null,
  number smallint not null,
  debit text collate "C" not null,
  credit text collate "C" not null,
  currency text collate "C" not null,
  amount bigint not null,
  constraint postings_pkey primary key (merchant_id, line_id, number),
  constraint postings_check check (amount > 0 and debit <> credit)
);

create function pay.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are only ever added', tg_table_name using errcode = 'restrict_violation';
end
$$;

create trigger postings_only_added before update or delete or truncate on pay.postings
  for each statement execute function pay.refuse_change();
create trigger lines_only_added before update or delete or truncate on pay.lines
  for each statement execute function pay.refuse_change();

-- The books as auditors read them: one row an account, debits positive, credits negative.
create view pay.ledger as
  select merchant_id, line_id, number, debit as account, currency, amount from pay.postings
  union all
  select merchant_id, line_id, number, credit, currency, -amount from pay.postings;

-- How many units of a currency one euro was worth on a day.
create table pay.exchange_rates (
  source text not null,
  day date not null,
  currency pay.currency not null,
  rate numeric not null constraint exchange_rates_rate_check check (rate > 0),
  loaded timestamptz not null,
  constraint exchange_rates_pkey primary key (day, source, currency)
);

create table pay.payouts (
  merchant_id pay.id not null,
  -- A merchant is paid once a day at most.
  day date not null,
  id pay.id not null,
  line_id pay.id not null,
  created timestamptz not null,
  test boolean not null,
  currency pay.currency not null,
  amount bigint not null constraint payouts_amount_check check (amount > 0),
  iban text not null,
  -- Whom the bank account belongs to, as the bank is told.
  holder text not null,
  constraint payouts_pkey primary key (merchant_id, day)
);

create index payouts_day_idx on pay.payouts (day, merchant_id);
