-- What opens the security code of a card that is being paid with: the code itself travels, encrypted with this key, in a token that is with the
-- payer's device alone. Deleted together with the authorization, or when it has expired: the token is worth nothing from then on, whoever has it.
create table pay.security_codes (
  id bytea not null constraint security_codes_pkey primary key,
  -- Encrypted with one of PAY_VAULT_KEYS.
  wrapped_key bytea not null,
  expires timestamptz not null
);

create index security_codes_expires_idx on pay.security_codes (expires);
