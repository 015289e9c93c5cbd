import { Json, type Tx } from '@tollgate/kit/db'

/** One file after the other: what a second one finds is all of the first. */
export async function holdSeeding(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('pay.seed', 0))`
}

export async function listAppsLike(
  tx: Tx,
  { ids, keyHashes }: { ids: string[]; keyHashes: string[] },
): Promise<{ id: string; keyHash: string }[]> {
  return await tx<{ id: string; keyHash: string }>`
    select id, encode(key_hash, 'hex') as "keyHash" from pay.apps
    where id = any(${ids}) or key_hash in (select decode(hash, 'hex') from unnest(${keyHashes}::text[]) hash)`
}

export type FoundMerchant = {
  id: string
  key: string
  test: boolean
  currency: string
  descriptor: string
  iban: string | null
  holder: string
  prices: { since: string; rate: string; flat: Sum; dispute: Sum }[]
}

type Sum = { currency: string; amount: number }

export async function listMerchantsLike(tx: Tx, { ids, keys }: { ids: string[]; keys: string[] }): Promise<FoundMerchant[]> {
  return await tx<FoundMerchant>`
    select id, key, test, currency, descriptor, bank_iban as iban, coalesce(nullif(trim(name), ''), website) as holder,
      (select coalesce(json_agg(json_build_object('since', since, 'rate', rate::text,
         'flat', json_build_object('currency', flat_currency, 'amount', flat_amount),
         'dispute', json_build_object('currency', dispute_currency, 'amount', dispute_amount)) order by since), '[]')
       from pay.prices where merchant_id = merchants.id) as prices
    from pay.merchants where id = any(${ids}) or key = any(${keys})`
}

export type FoundTransaction = {
  id: string
  merchantId: string
  bin: string
  last4: string
  expiry: Date
  scheme: string
}

export async function listTransactionsLike(tx: Tx, ids: string[]): Promise<FoundTransaction[]> {
  return await tx<FoundTransaction>`
    select id, merchant_id as "merchantId", card_bin as bin, card_last4 as last4, card_expiry as expiry, card_scheme as scheme
    from pay.transactions where id = any(${ids})`
}

export type Found = { id: string; merchantId: string }

export async function listLinesLike(tx: Tx, ids: string[]): Promise<Found[]> {
  return await tx<Found>`select id, merchant_id as "merchantId" from pay.lines where id = any(${ids})`
}

export async function listCardsLike(tx: Tx, ids: string[]): Promise<Found[]> {
  return await tx<Found>`select id, merchant_id as "merchantId" from pay.cards where id = any(${ids})`
}

export async function listDisputesLike(tx: Tx, ids: string[]): Promise<Found[]> {
  return await tx<Found>`select id, merchant_id as "merchantId" from pay.disputes where id = any(${ids})`
}

export async function listFraudsLike(tx: Tx, ids: string[]): Promise<Found[]> {
  return await tx<Found>`select id, merchant_id as "merchantId" from pay.frauds where id = any(${ids})`
}

export async function listPayoutDays(tx: Tx, merchantIds: string[]): Promise<{ merchantId: string; day: string }[]> {
  return await tx<{ merchantId: string; day: string }>`
    select merchant_id as "merchantId", to_char(day, 'YYYY-MM-DD') as day from pay.payouts where merchant_id = any(${merchantIds})`
}

export async function insertApps(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.apps (id, name, key_hash, created)
    select id, name, decode("keyHash", 'hex'), created
    from json_to_recordset(${new Json(rows)}) as app(id text, name text, "keyHash" text, created timestamptz)`
}

export async function insertMerchants(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.merchants (id, key, created, test, currency, name, email, website, descriptor, company_country, company_number,
      bank_iban, can_charge_card, can_save_card, can_transfer_to_card, can_capture, can_refund, can_void, tds_mode, payouts,
      plans, plans_since, accent)
    select id, key, created, test, currency, name, email, website, descriptor, "companyCountry", "companyNumber",
      "bankIban", "canChargeCard", "canSaveCard", "canTransferToCard", "canCapture", "canRefund", "canVoid", "tdsMode", payouts,
      plans, case when plans <> 'record' then created end, accent
    from json_to_recordset(${new Json(rows)}) as merchant(id text, key text, created timestamptz, test boolean, currency text, name text,
      email text, website text, descriptor text, "companyCountry" text, "companyNumber" text, "bankIban" text, "canChargeCard" boolean,
      "canSaveCard" boolean, "canTransferToCard" boolean, "canCapture" boolean, "canRefund" boolean, "canVoid" boolean,
      "tdsMode" text, payouts text, plans text, accent text)`
}

export async function insertPrices(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.prices (merchant_id, since, rate, flat_currency, flat_amount, dispute_currency, dispute_amount)
    select "merchantId", since, rate, "flatCurrency", "flatAmount", "disputeCurrency", "disputeAmount"
    from json_to_recordset(${new Json(rows)}) as price("merchantId" text, since timestamptz, rate numeric, "flatCurrency" text,
      "flatAmount" bigint, "disputeCurrency" text, "disputeAmount" bigint)`
}

export async function insertAppMembers(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.members (merchant_id, identity_id, kind, created)
    select "merchantId", "appId", 'app', created
    from json_to_recordset(${new Json(rows)}) as member("merchantId" text, "appId" text, created timestamptz)`
}

/** Whoever is not known yet is entered. */
export async function insertUsers(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.users (id, email, created)
    select id, email, created from json_to_recordset(${new Json(rows)}) as person(id text, email text, created timestamptz)
    on conflict (email) do nothing`
}

export async function insertUserMembers(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.members (merchant_id, identity_id, kind, created)
    select "merchantId", users.id, 'user', member.created
    from json_to_recordset(${new Json(rows)}) as member("merchantId" text, email text, created timestamptz)
    join pay.users on users.email = member.email`
}

export async function insertTransactions(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.transactions (merchant_id, id, created, test, state, error_code, currency, amount, captured, refunded, voided, disputed,
      capturable, refundable, captured_gross, captured_rate_fee, returned, returned_gross, returned_rate_fee, entries, settlements,
      descriptor, custom, recurring, tds, card_bin, card_last4, card_expiry, card_scheme, card_code_present, acquirer, acquirer_reference)
    select "merchantId", id, created, test, state, "errorCode", currency, amount, captured, refunded, voided, disputed,
      capturable, refundable, "capturedGross", "capturedRateFee", returned, "returnedGross", "returnedRateFee", entries, entries,
      descriptor, custom, recurring, tds, bin, last4, expiry, scheme, "codePresent", acquirer, "acquirerReference"
    from json_to_recordset(${new Json(rows)}) as it("merchantId" text, id text, created timestamptz, test boolean, state text,
      "errorCode" smallint, currency text, amount bigint, captured bigint, refunded bigint, voided bigint, disputed bigint,
      capturable bigint, refundable bigint, "capturedGross" bigint, "capturedRateFee" bigint, returned bigint, "returnedGross" bigint,
      "returnedRateFee" bigint, entries integer, descriptor text, custom json, recurring boolean, tds text, bin text, last4 text,
      expiry timestamptz, scheme text, "codePresent" boolean, acquirer text, "acquirerReference" text)`
}

export async function insertTrail(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount, gross, fee_flat, fee_rate, balance,
      descriptor, line_id, dispute_id, dispute_won, exchange_rate, exchange_source, exchange_day, acquirer_reference, settled,
      settlement)
    select "merchantId", "transactionId", id, position, kind, state, created, amount, gross, "feeFlat", "feeRate", balance,
      descriptor, "lineId", "disputeId", "disputeWon", "exchangeRate", "exchangeSource", "exchangeDay", "acquirerReference", settled,
      settlement
    from json_to_recordset(${new Json(rows)}) as entry("merchantId" text, "transactionId" text, id text, position integer, kind text,
      state text, created timestamptz, amount bigint, gross bigint, "feeFlat" bigint, "feeRate" bigint, balance bigint, descriptor text,
      "lineId" text, "disputeId" text, "disputeWon" boolean, "exchangeRate" numeric, "exchangeSource" text, "exchangeDay" date,
      "acquirerReference" text, settled timestamptz, settlement integer)`
}

export async function insertLines(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.lines (merchant_id, id, created, test, kind, won, balance, fee, amount, currency, transaction_id, dispute_id, iban,
      description)
    select "merchantId", id, created, test, kind, won, balance, fee, amount, currency, "transactionId", "disputeId", iban, description
    from json_to_recordset(${new Json(rows)}) as line("merchantId" text, id text, created timestamptz, test boolean, kind text, won boolean,
      balance bigint, fee bigint, amount bigint, currency text, "transactionId" text, "disputeId" text, iban text, description text)`
}

export async function insertPostings(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
    select "merchantId", "lineId", number, debit, credit, currency, amount
    from json_to_recordset(${new Json(rows)}) as posting("merchantId" text, "lineId" text, number smallint, debit text, credit text,
      currency text, amount bigint)`
}

export async function insertOperations(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, code, created)
    select "merchantId", reference, "authorizationReference", kind, amount, currency, approved, code, created
    from json_to_recordset(${new Json(rows)}) as operation("merchantId" text, reference text, "authorizationReference" text, kind text,
      amount bigint, currency text, approved boolean, code smallint, created timestamptz)`
}

export async function insertPayouts(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.payouts (merchant_id, day, id, line_id, created, test, currency, amount, iban, holder)
    select "merchantId", day, id, "lineId", created, test, currency, amount, iban, holder
    from json_to_recordset(${new Json(rows)}) as payout("merchantId" text, day date, id text, "lineId" text, created timestamptz,
      test boolean, currency text, amount bigint, iban text, holder text)`
}

export async function insertCards(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.cards (merchant_id, id, created, transaction_id, bin, last4, expiry, scheme, notes, deleted)
    select "merchantId", id, created, "transactionId", bin, last4, expiry, scheme, notes, deleted
    from json_to_recordset(${new Json(rows)}) as card("merchantId" text, id text, created timestamptz, "transactionId" text, bin text,
      last4 text, expiry timestamptz, scheme text, notes text, deleted timestamptz)`
}

/** The id stands for what the acquirer called it, too. */
export async function insertDisputes(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.disputes (merchant_id, id, transaction_id, created, amount, reason_code, reason_title, due, won, decided, held,
      acquirer_reference)
    select "merchantId", id, "transactionId", created, amount, (reason ->> 'code')::integer, reason ->> 'title', due, won, decided, held, id
    from json_to_recordset(${new Json(rows)}) as dispute("merchantId" text, id text, "transactionId" text, created timestamptz,
      amount bigint, reason json, due timestamptz, won boolean, decided timestamptz, held bigint)`
}

export async function insertFrauds(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into pay.frauds (merchant_id, id, transaction_id, created, reported, reason, acquirer_reference)
    select "merchantId", id, "transactionId", created, reported, reason, id
    from json_to_recordset(${new Json(rows)}) as fraud("merchantId" text, id text, "transactionId" text, created timestamptz,
      reported timestamptz, reason smallint)`
}
