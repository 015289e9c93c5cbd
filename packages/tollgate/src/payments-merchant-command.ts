import { parseArgs } from 'node:util'
import { systemClock } from '@tollgate/kit/clock'
import { isId } from '@tollgate/kit/id'
import { editMerchant } from '@tollgate/payments/operations/edit-merchant'
import { parseAccent } from '@tollgate/payments/rules/accent'
import { majorText } from '@tollgate/payments/rules/money'
import { parseFraction, parseSum } from '@tollgate/payments/rules/price-settings'
import type { Merchant, Terms } from '@tollgate/payments/store/merchants'
import type { Command } from './command.ts'
import { Mistake } from './mistake.ts'
import type { WithDb } from './payments-payouts-command.ts'

const claims = {
  'can-charge-card': 'canChargeCard',
  'can-save-card': 'canSaveCard',
  'can-transfer-to-card': 'canTransferToCard',
  'can-capture': 'canCapture',
  'can-refund': 'canRefund',
  'can-void': 'canVoid',
} as const

const names = ['rate', 'flat', 'dispute', 'payouts', 'tds', 'plans', 'accent', ...Object.keys(claims)]

type Given = Partial<Record<string, string>>

export function merchantCommand(withDb: WithDb, now = systemClock): Command {
  return {
    summary: `Show a merchant, or change its terms: ${names.map((name) => `--${name}`).join(', ')}`,
    usage: "merchant ID [--rate 0.014] [--flat 'EUR 0.25'] [--can-capture no] …",
    async run(words) {
      const { id, given } = readWords(words)
      const changes = { terms: readTerms(given), price: readPrice(given), accent: readAccent(given) }
      await withDb(async ({ db }) => {
        const merchant = await editMerchant({ db, now }, id, changes)
        if (!merchant) throw new Mistake(`There is no merchant ${id}.`)
        console.log(describe(merchant))
      })
    },
  }
}

function readWords(words: readonly string[]): { id: string; given: Given } {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true })
  const ids: string[] = []
  const given: Given = {}
  for (const token of tokens) {
    if (token.kind === 'positional') ids.push(token.value)
    if (token.kind !== 'option') continue
    if (!names.includes(token.name))
      throw new Mistake(`merchant knows ${names.map((name) => `--${name}`).join(', ')}, not ${token.rawName}.`)
    if (token.value === undefined) throw new Mistake(`--${token.name} lacks its value.`)
    if (Object.hasOwn(given, token.name)) throw new Mistake(`--${token.name} is there twice.`)
    given[token.name] = token.value
  }
  const [id] = ids
  if (id === undefined || ids.length > 1) throw new Mistake('Name one merchant: tollgate payments merchant ID [--rate 0.014] …')
  if (!isId(id)) throw new Mistake(`ID must be 24 hex digits, not ${JSON.stringify(id)}.`)
  return { id, given }
}

function readTerms(given: Given): Partial<Terms> {
  const chosen = Object.entries(claims).flatMap(([name, claim]): [string, boolean][] => {
    const answer = choose(given, name, ['yes', 'no'])
    return answer === undefined ? [] : [[claim, answer === 'yes']]
  })
  const tdsMode = choose(given, 'tds', ['attempt', 'full'])
  const payouts = choose(given, 'payouts', ['daily', 'weekly', 'monthly', 'never'])
  const plans = choose(given, 'plans', ['record', 'authorize', 'capture'])
  return {
    ...Object.fromEntries(chosen),
    ...(tdsMode ? { tdsMode } : {}),
    ...(payouts ? { payouts } : {}),
    ...(plans ? { plans } : {}),
  }
}

function choose<const Choice extends string>(given: Given, name: string, choices: readonly Choice[]): Choice | undefined {
  const text = given[name]
  const choice = choices.find((each) => each === text)
  if (text !== undefined && choice === undefined)
    throw new Mistake(`--${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(text)}.`)
  return choice
}

function readPrice(given: Given) {
  const rate = read(given, 'rate', parseFraction)
  const flat = read(given, 'flat', parseSum)
  const dispute = read(given, 'dispute', parseSum)
  return { ...(rate ? { rate } : {}), ...(flat ? { flat } : {}), ...(dispute ? { dispute } : {}) }
}

/** Null is the colour of the house. */
function readAccent(given: Given): string | null | undefined {
  if (given.accent === 'none') return null
  return read(given, 'accent', (text) => parseAccent(text) ?? { expected: 'a colour such as #0b6e4f, or none' })
}

function read<T>(given: Given, name: string, parse: (text: string) => T | { expected: string }): T | undefined {
  const text = given[name]
  if (text === undefined) return undefined
  const value = parse(text)
  if (typeof value === 'object' && value !== null && 'expected' in value)
    throw new Mistake(`--${name} must be ${value.expected}, not ${JSON.stringify(text)}.`)
  return value as T
}

function describe(merchant: Merchant): string {
  const { price, currency, test } = merchant
  const sum = (each: { currency: string; amount: number }) => `${each.currency} ${majorText(each.amount, each.currency)}`
  const rows = {
    name: merchant.name ?? '(none)',
    balance: sum({ currency, amount: merchant.balance }),
    // Without the zeros that the table fills it up with.
    rate: String(Number(price.rate)),
    flat: sum(price.flat),
    dispute: sum(price.dispute),
    payouts: merchant.payouts,
    tds: merchant.tdsMode,
    plans: merchant.plans,
    accent: merchant.accent ?? '(none)',
    ...Object.fromEntries(Object.entries(claims).map(([name, claim]) => [name, merchant[claim] ? 'yes' : 'no'])),
  }
  const lines = Object.entries(rows).map(([name, text]) => `  ${name.padEnd(22)}${text}`)
  return [`Merchant ${merchant.id}${test ? ', for tests' : ''}`, ...lines].join('\n')
}
