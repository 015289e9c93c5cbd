import { Answer, Nothing } from '@tollgate/kit/endpoint'
import { settle, worded } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { createMerchant } from '../operations/create-merchant.ts'
import { limitCaller } from '../operations/limit.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { seeWholeMerchant } from '../operations/see-whole-merchant.ts'
import { MerchantReply, tellMerchant } from '../operations/tell-merchant.ts'
import { parseAccent } from '../rules/accent.ts'
import { admitsJson } from '../rules/accept.ts'
import { changedPaths } from '../rules/changed-paths.ts'
import { companyCountries } from '../rules/countries.ts'
import { fundingCurrencies } from '../rules/currencies.ts'
import { settleEmail } from '../rules/email.ts'
import { parseIban } from '../rules/iban.ts'
import { parseWebsite } from '../rules/website.ts'
import { Descriptor, Id, idempotencyNote } from '../shapes.ts'
import { setContact } from '../store/merchants.ts'

const Name = Type.String({
  maxLength: 200,
  pattern: '^\\P{Cc}*$',
  description: 'At most 200 characters, none of them a control character',
})
// Nobody is known by it, so it keeps its capitals.
const Email = settle(
  Type.String({ format: 'email', maxLength: 300, description: 'The contact address' }),
  (text) => settleEmail(text) && text.trim(),
)
const Website = settle(
  Type.String({ format: 'website', maxLength: 1000, description: 'A host name or an http(s) address' }),
  parseWebsite,
)
const Accent = worded(
  settle(Type.String({ maxLength: 20, description: 'The colour of its page as #rrggbb' }), parseAccent),
  'Must be a colour such as #0b6e4f',
)
const Iban = settle(Type.String({ format: 'IBAN', maxLength: 100 }), parseIban)

export const merchants = endpoint({
  method: 'POST',
  path: '/merchants',
  summary: 'Create a merchant',
  description: `The app or person who creates a merchant has access to it. Only name, email, descriptor and accent can be changed later. ${idempotencyNote}`,
  tag: 'Merchants',
  caller: identified,
  body: Type.Object({
    name: Type.Optional(Name),
    currency: Type.Enum([...fundingCurrencies], { description: 'The funding currency: what everything is exchanged into' }),
    test: Type.Optional(Type.Boolean({ description: 'Whether no real money is moved; false when not given' })),
    email: Email,
    website: Website,
    descriptor: Descriptor,
    company: Type.Object({
      country: Type.Enum([...companyCountries], { description: 'ISO 3166 code' }),
      number: Type.Optional(Type.String({ maxLength: 100, pattern: '^\\P{Cc}*$', description: 'The registration number' })),
    }),
    bank: Type.Optional(Type.Object({ iban: Type.Optional(Iban) })),
  }),
  reply: { 201: Type.Object({ merchant: MerchantReply }) },
  fails: [...onceFails, 'over_rate_limit'],

  async run(app, { who, body, request }) {
    await limitCaller(app, request, 'newcomers', app.config.rateLimit.newcomers)
    const { currency, test = false, email, website, descriptor, company } = body
    const given = {
      ...{ test, currency, name: body.name ?? null, email, website, descriptor },
      ...{ companyCountry: company.country, companyNumber: company.number ?? null, bankIban: body.bank?.iban ?? null },
    }
    return once(app, readClaim({ who, request, body }), async (tx) => ({
      merchant: tellMerchant(await createMerchant(app, tx, { who, given })),
    }))
  },
})

const params = Type.Object({ merchant_id: Id })

export const merchant = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}',
  summary: 'Tell a merchant',
  tag: 'Merchants',
  caller: identified,
  params,
  reply: { 200: Type.Object({ merchant: MerchantReply }) },
  fails: ['not_found'],
  subject: seeWholeMerchant,

  run(_, { subject }) {
    return { merchant: tellMerchant(subject) }
  },
})

const text = Type.Optional(Type.String())
const flag = Type.Optional(Type.Boolean())
const sum = Type.Optional(Type.Object({ currency: text, amount: Type.Optional(Type.Integer()) }))
const price = { rate: Type.Optional(Type.Number()), flat: sum, dispute: sum }

/** What callers may send along because they send the merchant back as it was told. The balance is not here: it moves by itself. */
const unchangeable = {
  id: text,
  key: text,
  currency: text,
  test: flag,
  website: Type.Optional(settle(Type.String(), (website) => parseWebsite(website) ?? website)),
  created: text,
  company: Type.Optional(Type.Object({ country: text, number: text })),
  bank: Type.Optional(Type.Object({ iban: Type.Optional(settle(Type.String(), (iban) => parseIban(iban) ?? iban)) })),
  claim: Type.Optional(
    Type.Object({
      ...{ canChargeCard: flag, canSaveCard: flag, canTransferToCard: flag },
      ...{ canCapture: flag, canRefund: flag, canVoid: flag },
    }),
  ),
  pricing: Type.Optional(
    Type.Object({ ...price, transfer: Type.Optional(Type.Object({ toCard: Type.Optional(Type.Object(price)) })) }),
  ),
  tds: Type.Optional(Type.Object({ mode: text })),
  plans: text,
}

export const changeMerchant = endpoint({
  method: 'PUT',
  path: '/merchants/{merchant_id}',
  summary: 'Change name, email, descriptor or accent of a merchant',
  description:
    'What is not given stays as it is; an accent of null is the colour of the house. Everything else is immutable: refused when it differs from what is there, ignored when it does ' +
    'not. Answers 204 without a body to callers whose Accept does not admit application/json, or who name their client in X-Client.',
  tag: 'Merchants',
  caller: identified,
  params,
  body: Type.Object({
    name: Type.Optional(Name),
    email: Type.Optional(Email),
    descriptor: Type.Optional(Descriptor),
    accent: Type.Optional(Type.Union([Accent, Type.Null()])),
    ...unchangeable,
  }),
  reply: { 200: Type.Object({ merchant: MerchantReply }), 204: Nothing },
  fails: ['not_found', 'validation_failed'],
  subject: seeWholeMerchant,

  async run({ db }, { who, subject, body, request }) {
    const { name = null, email = null, descriptor = null, accent, ...rest } = body
    const told = tellMerchant(subject)
    const problems = changedPaths(rest, { ...told, created: subject.created.toISOString() }).map((path) => ({
      path,
      kind: 'value' as const,
      message: 'Cannot be changed',
    }))
    if (problems.length > 0) throw fail('validation_failed', { problems })
    const contact = await setContact(db, { id: subject.id, memberId: who.id, name, email, descriptor, accent })
    if (!contact) throw fail('not_found')
    // The official Node client admits JSON and yet rejects every PUT that is answered with some; clients of its time tell their name.
    if (!admitsJson(request.headers.accept) || request.headers['x-client'] !== undefined) return new Answer(204, undefined)
    return { merchant: { ...told, ...contact } }
  },
})
