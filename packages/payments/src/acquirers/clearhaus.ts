import type { Fetch } from '@tollgate/kit/fetch'
import type { Log } from '@tollgate/kit/log'
import { acquirerError, approvedStatus } from '../rules/gateway-status.ts'
import type { Acquirer, AuthorizeAsk, CardMethod, MoveAsk, Outcome } from './acquirer.ts'
import {
  type Answer,
  amountThere,
  type ClearhausSettings,
  declineOf,
  type Form,
  isGatewayId,
  linkIn,
  listIn,
  openWire,
  resultIn,
  speakable,
  statement,
} from './clearhaus-wire.ts'

type Ask = AuthorizeAsk | MoveAsk

/** What can be told of an operation that was asked for before. */
type Trace = { kind: 'done'; id: string } | { kind: 'absent' } | { kind: 'unclear'; why: string }

/** Statuses with which whatever stands at the address says that it did nothing, even where the gateway's own words are missing. */
const refusals: ReadonlySet<number> = new Set([400, 401, 403, 404])

/**
 * https://docs.gateway.clearhaus.com
 *
 * The gateway does not recognise a request that it gets twice. What was left without an answer is therefore looked up there, and is
 * repeated only where it cannot happen twice.
 */
export function clearhaus(settings: ClearhausSettings, { fetch, log }: { fetch: Fetch; log: Log }): Acquirer {
  const wire = openWire(settings, fetch)
  let toldOfMissingMethod = false

  async function authorize(ask: AuthorizeAsk): Promise<Outcome> {
    const there = amountThere(ask.currency, ask.amount)
    if ('refused' in there) return { kind: 'declined', code: there.refused }
    // The gateway cannot be asked for an authorization by our reference, and a second one would reserve the money twice.
    if (ask.again)
      return { ...beyondUs(ask, 'clearhaus cannot be asked what became of an authorization without its id'), unknowable: true }
    if (!ask.method) return withoutMethod()
    if (ask.previous && !isGatewayId(ask.previous.acquirerReference))
      return impossible(ask, 'the payment that this one continues has no id at clearhaus')

    const answer = await wire.post('/authorizations', {
      amount: String(there.amount),
      currency: ask.currency,
      reference: ask.reference,
      ...statement(ask.descriptor),
      ...seriesOf(ask),
      ...cardOf(ask.method, ask.previous !== undefined),
    })
    const outcome = outcomeOf(ask, answer, there.amount)
    await releaseAfterError(ask, answer)
    return outcome
  }

  async function move(ask: MoveAsk): Promise<Outcome> {
    // There is no voiding of parts there: they are ours to remember, and the reservation lapses by itself.
    if (ask.kind === 'void' && !ask.endsAuthorization) return { kind: 'approved', acquirerReference: undefined }
    const { acquirerReference: id } = ask.authorization
    if (!isGatewayId(id)) return impossible(ask, 'the authorization has no id at clearhaus')
    // All that is left is voided, however much that is.
    const there = ask.kind === 'void' ? { amount: undefined } : amountThere(ask.currency, ask.amount)
    if ('refused' in there) return { kind: 'declined', code: there.refused }

    const { amount } = there
    const form = amount === undefined ? {} : { amount: String(amount), ...statement(ask.descriptor) }
    const post = async () => outcomeOf(ask, await wire.post(`/authorizations/${id}/${ask.kind}s`, form), amount)
    return ask.again ? moveAgain(ask, { id, amount, post }) : post()
  }

  type Moving = { id: string; amount: number | undefined; post(): Promise<Outcome> }

  /** Several processes may do this at once, and each has to come to the same end. */
  async function moveAgain(ask: MoveAsk, { id, amount, post }: Moving): Promise<Outcome> {
    const before = await trace(ask, id, amount)
    if (before.kind === 'done') return { kind: 'approved', acquirerReference: before.id }
    if (ask.kind !== 'void') {
      if (before.kind === 'unclear') return beyondUs(ask, before.why)
      // Over-capturing is refused there whoever asks; of refunding too much nothing is promised.
      const harmless = ask.kind === 'capture' && happensOnce(ask)
      if (!harmless) return impossible(ask, `clearhaus has no such ${ask.kind}, and another may be asked for`)
    }
    const outcome = await post()
    if (outcome.kind !== 'declined') return outcome
    // What was asked for before may have been late, and be the very reason for which this was refused.
    const after = await trace(ask, id, amount)
    if (after.kind === 'done') return { kind: 'approved', acquirerReference: after.id }
    return after.kind === 'absent' ? outcome : beyondUs(ask, after.why)
  }

  /** Looks for a movement among those that the gateway has for the authorization, where none carries a reference of ours. */
  async function trace(ask: MoveAsk, id: string, amount: number | undefined): Promise<Trace> {
    const all = await movements(`/authorizations/${id}`, `${ask.kind}s`)
    const done = all?.filter(({ code }) => code === approvedStatus)
    const told = done?.every((each) => amount === undefined || each.amount !== undefined)
    if (!done || !told) return { kind: 'unclear', why: `clearhaus does not tell which ${ask.kind}s there are` }
    const alike = amount === undefined ? done : done.filter((each) => each.amount === amount)
    const [first] = alike
    if (!first) return { kind: 'absent' }
    // Others of the same size are out of the question where there is room for one alone.
    if (alike.length === 1 && happensOnce(ask) && first.id) return { kind: 'done', id: first.id }
    return { kind: 'unclear', why: `clearhaus has ${alike.length} ${ask.kind}s that could be this one` }
  }

  async function movements(path: string, name: string) {
    const authorization = await wire.get(path)
    if (authorization.kind !== 'answered' || authorization.status !== 200) return undefined
    const embedded = listIn(authorization.body, name)
    if (embedded) return embedded
    // Followed only to where it has to lead: our key goes along.
    if (linkIn(authorization.body, name) !== `${path}/${name}`) return undefined
    const list = await wire.get(`${path}/${name}`)
    return list.kind === 'answered' && list.status === 200 ? listIn(list.body, name) : undefined
  }

  function outcomeOf(ask: Ask, answer: Answer, amount: number | undefined): Outcome {
    if (answer.kind === 'lost') return uncertain(ask, answer.what)
    // A reference that was asked before may have got through then.
    if (answer.kind === 'unsent') return ask.again ? uncertain(ask, answer.what) : impossible(ask, answer.what)
    const { asked, status } = answer
    const result = resultIn(answer.body)
    if (!result) {
      const what = `${asked} answered ${status} without saying what it did`
      return refusals.has(status) ? impossible(ask, what) : uncertain(ask, what)
    }
    if (result.code === approvedStatus) {
      const otherAmount = amount !== undefined && result.amount !== undefined && result.amount !== amount
      if (!result.id || otherAmount || (status !== 200 && status !== 201))
        return uncertain(ask, `${asked} answered ${status} with an approval that does not fit the question`)
      return { kind: 'approved', acquirerReference: result.id }
    }
    const code = declineOf(result.code)
    if (!code) return uncertain(ask, `${asked} answered ${status} with a status that it does not have`)
    const message = speakable(result.message, [settings.apiKey])
    log.info({ ...about(ask), clearhaus_status: result.code, clearhaus_message: message }, 'declined by clearhaus')
    return { kind: 'declined', code }
  }

  /** An authorization that failed over there may have reserved the money all the same. */
  async function releaseAfterError(ask: AuthorizeAsk, answer: Answer): Promise<void> {
    const result = answer.kind === 'answered' ? resultIn(answer.body) : undefined
    if (result?.code !== acquirerError || !result.id) return
    const voided = await wire.post(`/authorizations/${result.id}/voids`, {})
    if (voided.kind === 'answered' && resultIn(voided.body)?.code === approvedStatus) return
    log.warn(about(ask), 'a payment failed at clearhaus and could not be voided: its reservation may stay until it lapses')
  }

  function withoutMethod(): Outcome {
    if (!toldOfMissingMethod) log.warn('payments are declined: clearhaus needs card numbers, and there is none for them')
    toldOfMissingMethod = true
    return { kind: 'declined', code: 12 }
  }

  function impossible(ask: Ask, why: string): Outcome {
    log.warn({ ...about(ask), why }, 'declined without clearhaus')
    return { kind: 'declined', code: 12 }
  }

  function uncertain(ask: Ask, reason: string): Outcome {
    log.warn({ ...about(ask), reason }, 'clearhaus may or may not have done this')
    return { kind: 'unknown', reason }
  }

  /** For somebody who can look into the account there. */
  function beyondUs(ask: Ask, reason: string): Outcome & { kind: 'unknown' } {
    log.error({ ...about(ask), reason }, 'nobody but clearhaus knows whether this happened: look it up there')
    return { kind: 'unknown', reason }
  }

  return { name: 'clearhaus', authorize, move }
}

/** Whether there is room for one of this kind and amount alone: one void of an authorization, one movement of more than its half. */
function happensOnce({ kind, amount, authorization }: MoveAsk): boolean {
  return kind === 'void' || amount * 2 > authorization.amount
}

function about(ask: Ask) {
  const { reference, merchantId: merchant, currency, amount } = ask
  if (!('kind' in ask)) return { operation: 'authorize', reference, merchant, currency, amount }
  return { operation: ask.kind, reference, merchant, currency, amount, authorization: ask.authorization.acquirerReference }
}

function seriesOf({ previous, series }: AuthorizeAsk): Form {
  if (previous?.acquirerReference) return { 'series[previous][id]': previous.acquirerReference }
  return series ? { 'series[type]': series } : {}
}

function cardOf(method: CardMethod, continues: boolean): Form {
  const { number, expiryMonth, expiryYear, code } = method
  return {
    'card[pan]': number.reveal(),
    'card[expire_month]': String(expiryMonth).padStart(2, '0'),
    'card[expire_year]': String(expiryYear),
    // Refused there where the payer is not present.
    ...(code && !continues ? { 'card[csc]': code.reveal() } : {}),
  }
}
