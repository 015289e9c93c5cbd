import { type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type Fetch, OutsideTrouble } from '@tollgate/kit/fetch'
import type { Secret } from '@tollgate/kit/secret'
import { exponentOf } from '../rules/currencies.ts'
import { codeByStatus } from '../rules/gateway-status.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'

export type ClearhausSettings = {
  base: string
  apiKey: Secret
  signingKeyId: string
  signingKey: Secret<KeyObject>
  /** Seconds. */
  timeout: number
}

export type Answer =
  | { kind: 'answered'; asked: string; status: number; body: object | undefined }
  /** Nothing has left this machine. */
  | { kind: 'unsent'; what: string }
  /** Something has, and what came back, if anything did, is no answer. */
  | { kind: 'lost'; what: string }

export type Form = Record<string, string>

const signInBackground = promisify(sign)

/** Speaks to the gateway. What goes wrong on the way is an answer as well, and names neither header nor body. */
export function openWire(settings: ClearhausSettings, fetch: Fetch) {
  // The user name is the key, and there is no password.
  const authorization = `Basic ${Buffer.from(`${settings.apiKey.reveal()}:`).toString('base64')}`

  async function ask(method: 'GET' | 'POST', path: string, body?: string): Promise<Answer> {
    const asked = `clearhaus: ${method} ${path}`
    const headers = { authorization, accept: 'application/vnd.clearhaus-gateway.hal+json, application/json' }
    try {
      const answer = await fetch(`${settings.base}${path}`, {
        method,
        headers: body === undefined ? headers : { ...headers, ...(await signed(body)) },
        ...(body === undefined ? {} : { body }),
        timeout: settings.timeout,
        asked,
      })
      return { kind: 'answered', asked, status: answer.status, body: objectIn(answer.text) }
    } catch (problem) {
      if (!(problem instanceof OutsideTrouble)) throw problem
      const unsent = problem.kind === 'unreachable' || problem.kind === 'forbidden'
      return { kind: unsent ? 'unsent' : 'lost', what: problem.message }
    }
  }

  async function signed(body: string) {
    const signature = await signInBackground('sha256', Buffer.from(body), settings.signingKey.reveal())
    return {
      'content-type': 'application/x-www-form-urlencoded',
      signature: `${settings.signingKeyId} RS256-hex ${signature.toString('hex')}`,
    }
  }

  return {
    get: (path: string) => ask('GET', path),
    post: (path: string, form: Form) => ask('POST', path, new URLSearchParams(form).toString()),
  }
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

export type Result = { id: string | undefined; code: number; message: string | undefined; amount: number | undefined }

/** What the gateway says of an operation; undefined where that is not what it speaks of. */
export function resultIn(body: unknown): Result | undefined {
  const { id, status, amount } = (body ?? {}) as {
    id?: unknown
    status?: { code?: unknown; message?: unknown }
    amount?: unknown
  }
  const { code, message } = status ?? {}
  if (typeof code !== 'number') return undefined
  return {
    id: isGatewayId(id) ? id : undefined,
    code,
    message: typeof message === 'string' ? message : undefined,
    amount: typeof amount === 'number' ? amount : undefined,
  }
}

/** Also what stands in paths, which nothing else may. */
export function isGatewayId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)
}

type Linked = { _links?: Record<string, { href?: unknown } | undefined>; _embedded?: Record<string, unknown> }

export function linkIn(body: object | undefined, name: string): unknown {
  return (body as Linked | undefined)?._links?.[name]?.href
}

/** The whole list of that name inside of an answer; undefined where there is none, or only a part of it, or something else in it. */
export function listIn(body: object | undefined, name: string): Result[] | undefined {
  const list = (body as Linked | undefined)?._embedded?.[name]
  if (!Array.isArray(list) || linkIn(body, 'next') !== undefined) return undefined
  const results = list.map(resultIn).filter((result) => result !== undefined)
  return results.length === list.length ? results : undefined
}

/** Undefined for what is no refusal. One status alone approves, so that a new one that looks like the others refuses too. */
export function declineOf(status: number): ProcessingCode | undefined {
  const refuses = Number.isInteger(status) && status >= 40000 && status <= 59999
  return codeByStatus[status] ?? (refuses ? 12 : undefined)
}

const largestAmount = 999_999_999
/** Where its minor units are not ours. */
const decimalsThere: Readonly<Record<string, number>> = { ISK: 0 }
/** Of ours, those that it has forgotten. */
const goneThere: ReadonlySet<string> = new Set(['BYR'])

/** An amount as the gateway counts it, or why it cannot be told one. */
export function amountThere(currency: string, amount: number): { amount: number } | { refused: ProcessingCode } {
  const decimals = exponentOf(currency)
  if (decimals === undefined || goneThere.has(currency)) return { refused: 1 }
  const there = amount / 10 ** (decimals - (decimalsThere[currency] ?? decimals))
  if (!Number.isSafeInteger(there)) return { refused: 14 }
  return there > largestAmount ? { refused: 22 } : { amount: there }
}

/** Nothing where the gateway would refuse the text: the statement then has that of the account. */
export function statement(descriptor: string | undefined): Form {
  if (descriptor === undefined || !/^[\x20-\x7e]{2,22}$/.test(descriptor) || /^\d+$/.test(descriptor)) return {}
  const steps = new Set<number>()
  for (let at = 1; at < descriptor.length; at++) steps.add(descriptor.charCodeAt(at) - descriptor.charCodeAt(at - 1))
  const [step = 0] = steps
  const monotonous = steps.size === 1 && Math.abs(step) <= 1
  return monotonous ? {} : { text_on_statement: descriptor }
}

/** The gateway may repeat what it was sent, so that words of its with a number or a key in them are not passed on. */
export function speakable(words: string | undefined, unspeakable: readonly Secret[]): string | undefined {
  if (words === undefined || /\d\D?\d\D?\d/.test(words)) return undefined
  if (unspeakable.some((secret) => words.includes(secret.reveal()))) return undefined
  return words.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
}
