import { Json, type Sql } from '@tollgate/kit/db'
import type { Price } from '../rules/fees.ts'
import type { Page } from '../rules/page.ts'

export type Claims = {
  canChargeCard: boolean
  canSaveCard: boolean
  canTransferToCard: boolean
  canCapture: boolean
  canRefund: boolean
  canVoid: boolean
}

export type TdsMode = 'attempt' | 'full'
export type PayoutSchedule = 'daily' | 'weekly' | 'monthly' | 'never'

/** What is done about plans: they are written down, or their payments are made when due, and captured at once or not. */
export type PlanSetting = 'record' | 'authorize' | 'capture'

/** What is up to us and not to the merchant. */
export type Terms = Claims & { tdsMode: TdsMode; payouts: PayoutSchedule; plans: PlanSetting }

export type NewMerchant = {
  id: string
  key: string
  created: Date
  test: boolean
  currency: string
  name: string | null
  email: string
  website: string
  descriptor: string
  companyCountry: string
  companyNumber: string | null
  bankIban: string | null
}

/** A merchant as its members see it. */
export type Merchant = NewMerchant & Terms & { accent: string | null; price: Price; balance: number }

type RawMerchant = {
  id: string
  key: string
  created: Date
  test: boolean
  currency: string
  name: string | null
  email: string
  website: string
  descriptor: string
  company_country: string
  company_number: string | null
  bank_iban: string | null
  can_charge_card: boolean
  can_save_card: boolean
  can_transfer_to_card: boolean
  can_capture: boolean
  can_refund: boolean
  can_void: boolean
  tds_mode: TdsMode
  payouts: PayoutSchedule
  plans: PlanSetting
  accent: string | null
  rate: string
  flat_currency: string
  flat_amount: number
  dispute_currency: string
  dispute_amount: number
  balance: number
}

function merchantOf(row: RawMerchant): Merchant {
  const { id, key, created, test, currency, name, email, website, descriptor, payouts, plans, accent, balance } = row
  return {
    ...{ id, key, created, test, currency, name, email, website, descriptor, payouts, plans, accent, balance },
    companyCountry: row.company_country,
    companyNumber: row.company_number,
    bankIban: row.bank_iban,
    canChargeCard: row.can_charge_card,
    canSaveCard: row.can_save_card,
    canTransferToCard: row.can_transfer_to_card,
    canCapture: row.can_capture,
    canRefund: row.can_refund,
    canVoid: row.can_void,
    tdsMode: row.tds_mode,
    price: {
      rate: row.rate,
      flat: { currency: row.flat_currency, amount: row.flat_amount },
      dispute: { currency: row.dispute_currency, amount: row.dispute_amount },
    },
  }
}

/** A merchant with its price and its first member, all of them or none. Answers with the terms that it begins with. */
export async function insertMerchant(
  sql: Sql,
  merchant: NewMerchant,
  { price, member }: { price: Price; member: { id: string; kind: 'app' | 'user' } },
): Promise<Terms> {
  const [terms] = await sql<Terms>`
    with merchant as (
      insert into pay.merchants (id, key, created, test, currency, name, email, website, descriptor,
        company_country, company_number, bank_iban)
      values (${merchant.id}, ${merchant.key}, ${merchant.created}, ${merchant.test}, ${merchant.currency}, ${merchant.name},
        ${merchant.email}, ${merchant.website}, ${merchant.descriptor},
        ${merchant.companyCountry}, ${merchant.companyNumber}, ${merchant.bankIban})
      returning *
    ), price as (
      insert into pay.prices (merchant_id, since, rate, flat_currency, flat_amount, dispute_currency, dispute_amount)
      select id, created, ${price.rate}, ${price.flat.currency}, ${price.flat.amount}, ${price.dispute.currency}, ${price.dispute.amount}
      from merchant
    ), member as (
      insert into pay.members (merchant_id, identity_id, kind, created)
      select id, ${member.id}, ${member.kind}, created from merchant
    )
    select can_charge_card as "canChargeCard", can_save_card as "canSaveCard", can_transfer_to_card as "canTransferToCard",
      can_capture as "canCapture", can_refund as "canRefund", can_void as "canVoid", tds_mode as "tdsMode", payouts, plans
    from merchant`
  return terms as Terms
}

/** Seen by a member, or by null: whoever may see all of them, which nobody who calls from outside may. */
export async function findMerchant(sql: Sql, id: string, seenBy: string | null): Promise<Merchant | undefined> {
  const [merchant] = await sql<RawMerchant>`
    select * from pay.standing_merchants
    where id = ${id} and (
      ${seenBy}::text is null
      or exists (select from pay.members where merchant_id = standing_merchants.id and identity_id = ${seenBy})
    )`
  return merchant && merchantOf(merchant)
}

/** What merchants can be told apart by in a list. */
export type MerchantFilter = Partial<
  Pick<NewMerchant, 'test' | 'currency' | 'email' | 'website' | 'descriptor' | 'key'> & { name: string }
>

export async function listMerchantsOf(
  sql: Sql,
  identityId: string,
  { page, filter }: { page: Page; filter: MerchantFilter },
): Promise<Merchant[]> {
  const { limit, before, after, ascending } = page
  const wanted = new Json(filter)
  // With an offset, of nothing, each merchant is looked up by itself: joined, all that there are before the page would be gone through.
  const merchants = await sql<RawMerchant>`
    with page as (
      (
        select id from pay.members cross join lateral (
          select id from pay.merchants
          where id = merchant_id and jsonb_build_object('test', test, 'currency', currency, 'name', name, 'email', email,
            'website', website, 'descriptor', descriptor, 'key', key) @> ${wanted}::jsonb
          offset 0
        ) as merchant
        where identity_id = ${identityId} and merchant_id < ${before} and merchant_id > ${after} and not ${ascending}::boolean
        order by merchant_id desc limit ${limit}
      ) union all (
        select id from pay.members cross join lateral (
          select id from pay.merchants
          where id = merchant_id and jsonb_build_object('test', test, 'currency', currency, 'name', name, 'email', email,
            'website', website, 'descriptor', descriptor, 'key', key) @> ${wanted}::jsonb
          offset 0
        ) as merchant
        where identity_id = ${identityId} and merchant_id < ${before} and merchant_id > ${after} and ${ascending}::boolean
        order by merchant_id limit ${limit}
      )
    )
    select merchant.* from page cross join lateral (
      select * from pay.standing_merchants where standing_merchants.id = page.id offset 0
    ) as merchant
    order by case when ${ascending}::boolean then page.id end, page.id desc`
  return merchants.map(merchantOf)
}

export type Contact = Pick<Merchant, 'name' | 'email' | 'descriptor' | 'accent'>

type ContactChange = { name: string | null; email: string | null; descriptor: string | null; accent: string | null | undefined }

/**
 * What a member may change; null leaves it as it is, but for the accent, where undefined does and null takes it away. Undefined when the
 * one who asks is no member any more.
 */
export async function setContact(
  sql: Sql,
  { id, memberId, name, email, descriptor, accent }: { id: string; memberId: string } & ContactChange,
): Promise<Contact | undefined> {
  const [contact] = await sql<Contact>`
    update pay.merchants
    set name = coalesce(${name}, name), email = coalesce(${email}, email), descriptor = coalesce(${descriptor}, descriptor),
      accent = case when ${accent !== undefined}::boolean then ${accent ?? null} else accent end
    where id = ${id} and exists (select from pay.members where merchant_id = merchants.id and identity_id = ${memberId})
    returning name, email, descriptor, accent`
  return contact
}

/** Terms that are not named stay as they are. False when there is no such merchant; if there is, it is locked. */
export async function setTerms(sql: Sql, id: string, terms: Partial<Terms>, now: Date): Promise<boolean> {
  const { count } = await sql`
    update pay.merchants set
      can_charge_card = coalesce(${terms.canChargeCard ?? null}, can_charge_card),
      can_save_card = coalesce(${terms.canSaveCard ?? null}, can_save_card),
      can_transfer_to_card = coalesce(${terms.canTransferToCard ?? null}, can_transfer_to_card),
      can_capture = coalesce(${terms.canCapture ?? null}, can_capture),
      can_refund = coalesce(${terms.canRefund ?? null}, can_refund),
      can_void = coalesce(${terms.canVoid ?? null}, can_void),
      tds_mode = coalesce(${terms.tdsMode ?? null}, tds_mode),
      payouts = coalesce(${terms.payouts ?? null}, payouts),
      plans = coalesce(${terms.plans ?? null}, plans),
      plans_since = case
        when coalesce(${terms.plans ?? null}, plans) = 'record' then null
        when plans = 'record' then ${now}
        else plans_since
      end
    where id = ${id}`
  return count === 1
}

/** Null is the house's colour. */
export async function setAccent(sql: Sql, id: string, accent: string | null): Promise<void> {
  await sql`update pay.merchants set accent = ${accent} where id = ${id}`
}

/** A merchant as its customers see it, who know its public key. */
export type Payee = Pick<NewMerchant, 'id' | 'test' | 'currency' | 'name' | 'website' | 'descriptor'> &
  Pick<Terms, 'canChargeCard' | 'canSaveCard' | 'tdsMode'> & { accent: string | null }

export async function findPayee(sql: Sql, key: string): Promise<Payee | undefined> {
  // Whatever else was put there by mistake, a card number even, is not for the log of a database.
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key)) return undefined
  const [payee] = await sql<Payee>`
    select id, test, currency, name, website, descriptor, can_charge_card as "canChargeCard", can_save_card as "canSaveCard",
      tds_mode as "tdsMode", accent
    from pay.merchants where key = ${key}`
  return payee
}
