import { compileInput, type Problem, settle } from '@tollgate/kit/shape'
import Type, { type Static, type TSchema } from 'typebox'
import { parseAccent } from './accent.ts'
import { exponentOf, fundingCurrencies } from './currencies.ts'
import { settleEmail } from './email.ts'
import { parseMoment } from './moment.ts'

const largest = Number.MAX_SAFE_INTEGER

const Id = Type.String({ pattern: '^[0-9a-f]{24}$' })
const Key = Type.String({ format: 'uuid', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' })
const Moment = settle(Type.String({ format: 'date-time' }), parseMoment)
const Text = Type.String({ minLength: 1, maxLength: 1000 })
const Amount = Type.Integer({ minimum: 1, maximum: largest })
const AmountOrNothing = Type.Integer({ minimum: 0, maximum: largest })
const Signed = Type.Integer({ minimum: -largest, maximum: largest })
const Currency = settle(Type.String({ format: 'currency', pattern: '^[A-Z]{3}$' }), (code) =>
  exponentOf(code) === undefined ? undefined : code,
)
const FundingCurrency = settle(Type.String({ format: 'funding currency', pattern: '^[A-Z]{3}$' }), (code) =>
  fundingCurrencies.includes(code) ? code : undefined,
)
const Descriptor = Type.String({ pattern: '^[\\x20-\\x7e]{0,22}$' })
// Somebody else's bank accounts may be made up: whoever pays out looks closer.
const Iban = Type.String({ pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9]{1,30}$' })
const Bin = Type.String({ pattern: '^[0-9]{6}$' })
const Last4 = Type.String({ pattern: '^[0-9]{4}$' })
const Scheme = Type.Enum(['visa', 'mastercard'])
const Flag = Type.Optional(Type.Boolean())

const App = Type.Object({
  id: Id,
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  key: Key,
  created: Moment,
})

const Sum = Type.Object({ currency: FundingCurrency, amount: AmountOrNothing })

const Merchant = Type.Object({
  id: Id,
  key: Key,
  created: Moment,
  name: Type.Optional(Text),
  currency: FundingCurrency,
  test: Flag,
  email: Text,
  website: Text,
  descriptor: Descriptor,
  company: Type.Object({ country: Type.String({ pattern: '^[A-Z]{2}$' }), number: Type.Optional(Text) }),
  bank: Type.Optional(Type.Object({ iban: Type.Optional(Iban) })),
  balance: Type.Optional(Signed),
  pricing: Type.Optional(
    Type.Object({
      rate: Type.Optional(Type.Number({ minimum: 0, exclusiveMaximum: 1 })),
      flat: Type.Optional(Sum),
      dispute: Type.Optional(Sum),
    }),
  ),
  claim: Type.Optional(
    Type.Object({
      canChargeCard: Flag,
      canSaveCard: Flag,
      canTransferToCard: Flag,
      canCapture: Flag,
      canRefund: Flag,
      canVoid: Flag,
    }),
  ),
  tds: Type.Optional(Type.Object({ mode: Type.Enum(['attempt', 'full']) })),
  payouts: Type.Optional(Type.Enum(['daily', 'weekly', 'monthly', 'never'])),
  plans: Type.Optional(Type.Enum(['record', 'authorize', 'capture'])),
  accent: Type.Optional(settle(Type.String({ format: 'colour' }), parseAccent)),
  apps: Type.Optional(Type.Array(Id)),
  users: Type.Optional(Type.Array(settle(Type.String({ format: 'email' }), settleEmail))),
})

const Entry = Type.Object({
  capture: Flag,
  refund: Flag,
  void: Flag,
  dispute: Type.Optional(Type.Object({ id: Id, won: Flag, lost: Flag })),
  created: Moment,
  amount: Amount,
  balance: Type.Optional(Signed),
  fee: Type.Optional(Type.Object({ flat: Signed, rate: Signed })),
  descriptor: Type.Optional(Descriptor),
  lineId: Type.Optional(Id),
})

const Transaction = Type.Object({
  id: Id,
  merchantId: Id,
  test: Flag,
  created: Moment,
  currency: Currency,
  amount: AmountOrNothing,
  pendingAmount: Type.Optional(AmountOrNothing),
  capturedAmount: Type.Optional(AmountOrNothing),
  refundedAmount: Type.Optional(AmountOrNothing),
  voidedAmount: Type.Optional(AmountOrNothing),
  disputedAmount: Type.Optional(AmountOrNothing),
  card: Type.Object({
    bin: Bin,
    last4: Last4,
    expiry: Moment,
    scheme: Scheme,
    code: Type.Optional(Type.Object({ present: Type.Boolean() })),
  }),
  tds: Type.Optional(Type.Enum(['none', 'attempt', 'full'])),
  recurring: Flag,
  custom: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  descriptor: Type.Optional(Descriptor),
  successful: Flag,
  error: Type.Optional(Type.Union([Type.Literal(false), Type.Object({ code: Type.Integer() })])),
  trail: Type.Optional(Type.Array(Entry)),
})

const Line = Type.Object({
  id: Id,
  merchantId: Id,
  test: Flag,
  created: Moment,
  balance: Signed,
  fee: Type.Optional(Signed),
  amount: Type.Optional(Type.Object({ currency: Currency, amount: Amount })),
  transactionId: Type.Optional(Id),
  description: Type.Optional(Text),
  bank: Type.Optional(Type.Object({ iban: Iban })),
  capture: Flag,
  refund: Flag,
  payout: Flag,
  dispute: Flag,
  won: Flag,
  lost: Flag,
})

const Card = Type.Object({
  id: Id,
  merchantId: Id,
  created: Moment,
  transactionId: Type.Optional(Id),
  bin: Bin,
  last4: Last4,
  expiry: Moment,
  scheme: Scheme,
  notes: Type.Optional(Text),
  deleted: Type.Optional(Moment),
})

const Dispute = Type.Object({
  id: Id,
  merchantId: Id,
  transactionId: Id,
  created: Moment,
  amount: Amount,
  reason: Type.Object({ code: Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }), title: Text }),
  due: Moment,
  decided: Type.Optional(Moment),
})

const Fraud = Type.Object({
  id: Id,
  merchantId: Id,
  transactionId: Id,
  created: Moment,
  reported: Type.Optional(Moment),
  reason: Type.Optional(Type.Integer({ minimum: 0, maximum: 8 })),
})

/** What a seed file holds: things with the ids, keys and dates that somebody else gave them, as a GET would show them. */
const SeedFile = Type.Object({
  apps: list(App),
  merchants: list(Merchant),
  transactions: list(Transaction),
  lines: list(Line, 1_000_000),
  cards: list(Card),
  disputes: list(Dispute),
  frauds: list(Fraud),
})

function list<S extends TSchema>(item: S, maxItems = 100_000) {
  return Type.Optional(Type.Array(item, { maxItems }))
}

export type SeedMerchant = Static<typeof Merchant>
export type SeedTransaction = Static<typeof Transaction>
export type SeedEntry = Static<typeof Entry>
export type SeedLine = Static<typeof Line>
export type SeedCard = Static<typeof Card>
export type SeedDispute = Static<typeof Dispute>
export type SeedFraud = Static<typeof Fraud>
export type Seed = { [List in keyof Static<typeof SeedFile>]-?: NonNullable<Static<typeof SeedFile>[List]> }

const read = compileInput(SeedFile, { absent: (value) => value === null, convertJson: false, caseInsensitive: false })

/** The file as it is meant, or a sentence a mistake. */
export function readSeed(content: unknown): Seed | { mistakes: string[] } {
  const problems: Problem[] = []
  const {
    apps = [],
    merchants = [],
    transactions = [],
    lines = [],
    cards = [],
    disputes = [],
    frauds = [],
  } = read(content, 'json', problems) ?? {}
  if (problems.length > 0)
    return { mistakes: problems.map(({ path, message }) => `${path === '' ? 'the file' : path}: ${message}`) }
  return { apps, merchants, transactions, lines, cards, disputes, frauds }
}
