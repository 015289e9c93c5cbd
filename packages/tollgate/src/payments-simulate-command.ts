import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type Clock, systemClock } from '@tollgate/kit/clock'
import { Failure } from '@tollgate/kit/failure'
import { createIds, isId } from '@tollgate/kit/id'
import { createInTurn } from '@tollgate/kit/in-turn'
import { decideDispute } from '@tollgate/payments/operations/decide-dispute'
import { recordDispute } from '@tollgate/payments/operations/record-dispute'
import { recordFraud } from '@tollgate/payments/operations/record-fraud'
import { disputeCodes, disputeReason, usualDue } from '@tollgate/payments/rules/dispute-reasons'
import { majorText } from '@tollgate/payments/rules/money'
import { findDisputePlace, findTransactionPlace, type Place } from '@tollgate/payments/store/places'
import type { Command } from './command.ts'
import { Mistake } from './mistake.ts'
import type { WithDb } from './payments-payouts-command.ts'
import { withRates } from './payments-with-rates.ts'

type App = Parameters<Parameters<WithDb>[0]>[0]

type Told = { app: App; now: Clock; id: string; place: Place; amount: number | undefined; reason: number | undefined }

type Event = {
  about: 'transaction' | 'dispute'
  options: readonly string[]
  /** Lets it happen, and says what has happened. */
  tell(told: Told): Promise<string>
}

const usage =
  'simulate dispute TRANSACTION [--amount N] [--reason CODE] | won DISPUTE | lost DISPUTE | fraud TRANSACTION [--reason 0-8]'

const events: Readonly<Record<string, Event>> = {
  dispute: { about: 'transaction', options: ['amount', 'reason'], tell: openDispute },
  won: { about: 'dispute', options: [], tell: (told) => endDispute(told, true) },
  lost: { about: 'dispute', options: [], tell: (told) => endDispute(told, false) },
  fraud: { about: 'transaction', options: ['reason'], tell: raiseAlert },
}

export function simulateCommand(withDb: WithDb, now = systemClock): Command {
  return {
    summary:
      'Let a payment to a test merchant be disputed, a dispute be won or lost, or a fraud alert be raised; amounts are in minor units',
    usage,
    async run(words) {
      const { name, event, id, given } = readWords(words)
      const [amount, reason] = [readNumber(given, 'amount'), readNumber(given, 'reason')]
      await withDb(async (app) => {
        const place = await (event.about === 'dispute' ? findDisputePlace : findTransactionPlace)(app.db, id)
        if (!place) throw new Mistake(`There is no ${event.about} ${id}.`)
        if (!place.test) throw new Mistake(`Merchant ${place.merchantId} is live: simulate ${name} is for test merchants alone.`)
        console.log(await orMistake(event.tell({ app, now, id, place, amount, reason })))
      })
    },
  }
}

function readWords(words: readonly string[]) {
  const options = { amount: { type: 'string' as const }, reason: { type: 'string' as const } }
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true })
  const [name, id, ...rest] = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const event = name !== undefined && Object.hasOwn(events, name) ? events[name] : undefined
  if (name === undefined || !event) throw new Mistake(`Say what is to happen: tollgate payments ${usage}`)
  const given = new Map<string, string | undefined>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (!event.options.includes(token.name)) throw new Mistake(`simulate ${name} does not know ${token.rawName}.`)
    if (given.has(token.name)) throw new Mistake(`--${token.name} is there twice.`)
    given.set(token.name, token.value)
  }
  if (id === undefined || rest.length > 0) throw new Mistake(`Name one ${event.about}: tollgate payments simulate ${name} ID`)
  if (!isId(id)) throw new Mistake(`The id of a ${event.about} is 24 hex digits, not ${JSON.stringify(id)}.`)
  return { name, event, id, given }
}

function readNumber(given: ReadonlyMap<string, string | undefined>, name: string): number | undefined {
  if (!given.has(name)) return undefined
  const text = given.get(name) ?? ''
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(number)) throw new Mistake(`--${name} must be a whole number, not ${JSON.stringify(text)}.`)
  if (name === 'amount' && number === 0) throw new Mistake('--amount must be at least 1.')
  return number
}

async function openDispute({ app, now, id, place, amount, reason: code }: Told): Promise<string> {
  const reason = disputeReason(code === undefined ? {} : { code })
  if (!reason) throw new Mistake(`--reason must be one of ${disputeCodes.join(', ')}, not ${code}.`)
  const due = usualDue(now())
  const notice = {
    merchantId: place.merchantId,
    transactionId: id,
    amount,
    reason,
    due,
    acquirerReference: `simulated ${randomUUID()}`,
  }
  // The fee may be in another currency than the merchant's.
  const dispute = await withRates(app, now, ({ rates }) => recordDispute({ ...app, ...making(now), rates }, notice))
  const sum = `${place.currency} ${majorText(dispute.amount, place.currency)}`
  return `Dispute ${dispute.id} about ${sum} of transaction ${id} is open, until ${due.toISOString()}: ${reason.title} (${reason.code}).`
}

async function endDispute({ app, now, id, place }: Told, won: boolean): Promise<string> {
  const { decided } = await decideDispute({ ...app, ...making(now) }, { merchantId: place.merchantId, disputeId: id, won })
  return `Dispute ${id} is ${won ? 'won' : 'lost'}, since ${decided?.toISOString()}.`
}

async function raiseAlert({ app, now, id, place, reason }: Told): Promise<string> {
  if (reason !== undefined && reason > 8) throw new Mistake(`--reason must be from 0 to 8, not ${reason}.`)
  const notice = {
    merchantId: place.merchantId,
    transactionId: id,
    reported: now(),
    reason,
    acquirerReference: `simulated ${randomUUID()}`,
  }
  const fraud = await recordFraud({ ...app, ...making(now) }, notice)
  return `Fraud alert ${fraud.id} about transaction ${id} is raised.`
}

function making(now: Clock) {
  return { now, mintId: createIds(now), inTurn: createInTurn() }
}

/** What a caller would have been refused with is told in a sentence. */
async function orMistake<T>(work: Promise<T>): Promise<T> {
  return await work.catch((problem: unknown) => {
    if (!(problem instanceof Failure)) throw problem
    const [first] = problem.problems
    throw new Mistake(`${first ? `${first.path}: ${first.message}` : problem.message}.`)
  })
}
