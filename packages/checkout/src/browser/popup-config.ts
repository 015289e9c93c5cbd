import type { Amount } from '../money.ts'
import type { PageData } from '../page-data.ts'
import { type Coming, comingPayments } from './coming-payments.ts'

/** What the shop wants of the popup, once it was looked through. */
export type Wanted = {
  title: string | undefined
  description: string | undefined
  amount: Amount | undefined
  fields: readonly WantedField[]
  coming: Coming | undefined
  /** As they go into the order. */
  order: { amount?: unknown; text?: string; plan?: unknown; unplanned?: unknown; test?: object }
  custom: Readonly<Record<string, unknown>> | undefined
}

export type WantedField = { name: string; label: string; type: string; placeholder: string; required: boolean; value: string }

/** Words for whoever wrote the shop's page, who reads English. */
class Unusable extends Error {}

const fieldTypes = ['text', 'email', 'tel', 'url', 'number', 'date', 'amount', 'hidden']

type Facts = Pick<PageData, 'merchant' | 'currencies' | 'problem'>

export function readConfig(config: unknown, facts: Facts, now: Date): Wanted | { problem: string } {
  if (facts.problem !== undefined) return { problem: facts.problem }
  try {
    return read(record(config, 'The configuration'), facts, now)
  } catch (problem) {
    if (problem instanceof Unusable) return { problem: problem.message }
    throw problem
  }
}

function read(config: Record<string, unknown>, facts: Facts, now: Date): Wanted {
  const { amount, plan, unplanned, custom } = config
  const fields = readFields(config.fields)
  const asked = amount === undefined ? undefined : readMoney(amount, 'amount', facts)
  if (asked === undefined && plan === undefined && unplanned === undefined && !fields.some(isAmount))
    throw new Unusable('At least one of amount, plan and unplanned is required')
  return {
    title: textOf(config.title, 'title'),
    description: textOf(config.description, 'description'),
    amount: asked,
    fields,
    coming: plan === undefined ? undefined : readPlan(plan, facts, now),
    custom: custom === undefined || custom === null ? undefined : record(custom, 'custom'),
    order: {
      ...(amount === undefined ? {} : { amount }),
      ...readText(config.text),
      ...(plan === undefined ? {} : { plan }),
      ...(unplanned === undefined ? {} : { unplanned: record(unplanned, 'unplanned') }),
      ...readTest(config.test, facts),
    },
  }
}

/** What stands on the statement of the payer. */
function readText(given: unknown): { text?: string } {
  const text = textOf(given, 'text')
  if (text === undefined) return {}
  if (text.length < 2 || text.length > 1024) throw new Unusable('text must have from 2 to 1024 characters')
  return { text }
}

function readTest(test: unknown, { merchant }: Facts): { test?: object } {
  const given = test === undefined || test === null || test === false ? undefined : test === true ? {} : record(test, 'test')
  if (merchant.test && !given) throw new Unusable('This is the key of a test merchant: set test to true, or to what is to happen')
  if (!merchant.test && given) throw new Unusable('This is the key of a merchant who takes real payments: leave test out')
  return given ? { test: given } : {}
}

function readPlan(plan: unknown, facts: Facts, now: Date): Coming {
  if (!Array.isArray(plan) || plan.length === 0) throw new Unusable('plan must be a list of payments')
  const coming = comingPayments(plan, (money, path) => readMoney(money, path, facts), now)
  if ('problem' in coming) throw new Unusable(coming.problem)
  return coming
}

/** Any exponent will do; what is finer than the currency is rounded up, as the service does. */
function readMoney(given: unknown, path: string, { currencies = {} }: Facts): Amount {
  const { currency, exponent, value } = record(given, path)
  const decimals = Object.keys(currencies).find(
    (each) => typeof currency === 'string' && currencies[each]?.split(' ').includes(currency),
  )
  if (decimals === undefined) throw new Unusable(`${path}.currency must be the code of a currency, such as EUR`)
  if (!isWhole(exponent) || exponent > 30) throw new Unusable(`${path}.exponent must be a whole number, such as 2`)
  if (!isWhole(value) || value === 0) throw new Unusable(`${path}.value must be a positive whole number`)
  const finer = 10n ** BigInt(exponent)
  const minor = Number((BigInt(value) * 10n ** BigInt(decimals) + finer - 1n) / finer)
  if (!Number.isSafeInteger(minor)) throw new Unusable(`${path}.value is too large`)
  return { minor, currency: currency as string, decimals: Number(decimals) }
}

function readFields(fields: unknown): WantedField[] {
  if (fields === undefined || fields === null) return []
  if (!Array.isArray(fields)) throw new Unusable('fields must be a list')
  if (fields.length > 30) throw new Unusable('fields must not be more than 30')
  return fields.map((each: unknown, index) => {
    const given = typeof each === 'string' ? { name: each } : record(each, `fields[${index}]`)
    const { name, label, type = 'text', placeholder, required, value } = given as Record<string, unknown>
    if (typeof name !== 'string' || name === '') throw new Unusable(`fields[${index}].name must be a text`)
    if (['__proto__', 'constructor', 'prototype'].includes(name)) throw new Unusable(`fields[${index}].name cannot be ${name}`)
    return {
      name,
      label: textOf(label, `fields[${index}].label`) ?? name,
      type: typeof type === 'string' && fieldTypes.includes(type) ? type : 'text',
      placeholder: textOf(placeholder, `fields[${index}].placeholder`) ?? '',
      required: required === true,
      value: typeof value === 'string' || typeof value === 'number' ? String(value) : '',
    }
  })
}

export function isAmount({ name, type }: WantedField): boolean {
  return name === 'amount' || type === 'amount'
}

function textOf(given: unknown, path: string): string | undefined {
  if (given === undefined || given === null) return undefined
  if (typeof given !== 'string') throw new Unusable(`${path} must be a text`)
  return given
}

function record(given: unknown, path: string): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Unusable(`${path} must be an object`)
  return given as Record<string, unknown>
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
