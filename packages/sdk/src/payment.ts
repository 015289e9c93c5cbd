/** Money as a whole number: `{ currency: 'EUR', exponent: 2, value: 2450 }` is 24.50 euro. */
export type Amount = { currency: string; exponent: number; value: number }

export type Interval = { unit: 'day' | 'week' | 'month' | 'year'; value?: number }

/** A later payment that the customer agrees to: once, or again and again. */
export type PlannedPayment =
  | { amount: Amount; scheduled: string | Date }
  | { amount: Amount; repeat: { first?: string | Date; count?: number; interval: Interval } }

/** A question to the customer. What they answer is put into `custom` under its name; one named `amount` lets them choose what they pay. */
export type Field =
  | string
  | {
      name: string
      label?: string
      type?: string
      placeholder?: string
      required?: boolean
      value?: string | number | boolean
    }

/** What a customer is asked to pay, or to agree to: at least one of `amount`, `plan` and `unplanned`, or a field for the amount. */
export type Payment = {
  amount?: Amount
  /** Later payments, agreed to now. */
  plan?: readonly PlannedPayment[]
  /** Later payments that nobody can tell the day of: those that the shop asks for, or the customer in the shop. */
  unplanned?: { merchant?: boolean; customer?: boolean }
  /** For test merchants: `true`, or how the payment is to go. */
  test?: boolean | object
  /** What stands over the card form, and under that. */
  title?: string
  description?: string
  /** `da` or `da_DK`; what the customer's browser prefers unless given. */
  locale?: string
  /** What stands on the customer's bank statement. */
  text?: string
  /** Whatever the shop wants to find with the transaction. */
  custom?: object
  fields?: readonly Field[]
  /** The public key of another merchant. */
  key?: string
}

/** A payment that can be asked for: as it was when `pay` was called, whatever becomes of the object since. */
export type SettledPayment = Omit<Payment, 'key'> & { key: string }

/** Throws an Error that names what is wrong. */
export function settlePayment(given: Payment, ownKey: string | undefined): SettledPayment {
  if (!isObject(given)) throw new Error('pay: the first argument must be an object with what is to be paid')
  const payment = toJson(given)
  const { amount, plan, unplanned, test, fields, key = ownKey } = payment
  if (typeof key !== 'string' || key === '') throw new Error('key: must be the public key of a merchant')
  if (amount === undefined && plan === undefined && unplanned === undefined && !asksHowMuch(fields))
    throw new Error('amount: missing, and so are plan and unplanned; give at least one of them')
  if (amount !== undefined) checkAmount(amount)
  if (plan !== undefined && !(Array.isArray(plan) && plan.length > 0))
    throw new Error('plan: must be a list of at least one payment')
  if (unplanned !== undefined && !isObject(unplanned))
    throw new Error('unplanned: must be an object with merchant or customer set to true')
  if (typeof test !== 'boolean' && test !== undefined && !isObject(test)) throw new Error('test: must be true or an object')
  if (fields !== undefined && !Array.isArray(fields)) throw new Error('fields: must be a list')
  // A shop that computes the flag says false where another leaves it out.
  const { test: _, ...others } = payment
  return { ...others, ...(test ? { test } : {}), key }
}

/** What goes to another window has to be plain data; null is how some languages that make pages leave a property out. */
function toJson(given: Payment): Payment {
  const entries = Object.entries(JSON.parse(JSON.stringify(given)))
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}

function checkAmount(amount: Amount): void {
  if (!isObject(amount)) throw new Error("amount: must be an object such as { currency: 'EUR', exponent: 2, value: 2450 }")
  const { currency, exponent, value } = amount
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    throw new Error('amount.currency: must be three capital letters, such as EUR')
  if (!Number.isSafeInteger(exponent) || exponent < 0) throw new Error('amount.exponent: must be a whole number from 0')
  if (!Number.isSafeInteger(value) || value < 1) throw new Error('amount.value: must be a whole number from 1')
}

/** Whether the customer chooses the amount, which is then in the currency of `amount`, or in that of the merchant. */
function asksHowMuch(fields: unknown): boolean {
  if (!Array.isArray(fields)) return false
  return fields.some(
    (field: Field) => field === 'amount' || (isObject(field) && (field.name === 'amount' || field.type === 'amount')),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
