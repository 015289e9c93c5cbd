-- What a payer agreed to together with a payment: that others may follow, made without them.
create table pay.agreements (
  merchant_id text collate "C" not null,
  transaction_id text collate "C" not null,
  created timestamptz not null,
  -- The payments to come, as they were announced.
  plan json,
  -- Whether the merchant, or the payer with one tap, may charge the card whenever there is reason to.
  unplanned_merchant boolean not null,
  unplanned_customer boolean not null,
  -- The number of the card, sealed by the vault: acquirers have to be told it every time.
  card bytea,
  constraint agreements_pkey primary key (merchant_id, transaction_id)
);
