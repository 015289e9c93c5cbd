create table pay.merchants (
  id pay.id not null constraint merchants_pkey primary key,
  -- The public key, which links and browsers name the merchant by.
  key text collate "C" not null constraint merchants_key_key unique,
  created timestamptz not null,
  test boolean not null,
  -- What everything is exchanged into upon capture.
  currency pay.currency not null,
  name text,
  email text not null,
  website text not null,
  descriptor text not null constraint merchants_descriptor_check check (descriptor ~ '^[\x20-\x7e]{0,22}$'),
  company_country text not null constraint merchants_company_country_check check (company_country ~ '^[A-Z]{2}$'),
  company_number text,
  bank_iban text,
  can_charge_card boolean not null default true,
  can_save_card boolean not null default true,
  can_transfer_to_card boolean not null default false,
  can_capture boolean not null default true,
  can_refund boolean not null default true,
  can_void boolean not null default true,
  tds_mode text not null default 'attempt' constraint merchants_tds_mode_check check (tds_mode in ('attempt', 'full')),
  payouts text not null default 'daily'
    constraint merchants_payouts_check check (payouts in ('daily', 'weekly', 'monthly', 'never')),
  -- What is done about the payments that payers have agreed to in advance: written down and nothing else, or made when they are due.
  plans text not null default 'record' constraint merchants_plans_check check (plans in ('record', 'authorize', 'capture')),
  -- Since when they are made. What was due before is the merchant's own business.
  plans_since timestamptz,
  -- The colour of its page; null is the house's.
  accent text constraint merchants_accent_check check (accent ~ '^#[0-9a-f]{6}$'),
  constraint merchants_plans_since_check check (plans = 'record' or plans_since is not null)
);

create index merchants_plans_idx on pay.merchants (id) where plans <> 'record';

-- What a merchant pays, from a moment on. The price list only grows, so that every fee can be explained later.
create table pay.prices (
  merchant_id pay.id not null constraint prices_merchant_fkey references pay.merchants,
  since timestamptz not null,
  -- A fraction of the amount: 0.025 is 2.5 %.
  rate numeric(9, 8) not null constraint prices_rate_check check (rate >= 0 and rate < 1),
  flat_currency pay.currency not null,
  flat_amount bigint not null constraint prices_flat_check check (flat_amount >= 0),
  dispute_currency pay.currency not null,
  dispute_amount bigint not null constraint prices_dispute_check check (dispute_amount >= 0),
  constraint prices_pkey primary key (merchant_id, since)
);

-- Who may do everything with a merchant: apps and people alike.
create table pay.members (
  merchant_id pay.id not null constraint members_merchant_fkey references pay.merchants,
  identity_id pay.id not null,
  kind text not null constraint members_kind_check check (kind in ('app', 'user')),
  created timestamptz not null,
  constraint members_pkey primary key (merchant_id, identity_id)
);

create index members_identity_idx on pay.members (identity_id, merchant_id);
