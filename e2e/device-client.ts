/**
 * Clients of what the devices of payers call, written after the published ones in JavaScript, Dart, Kotlin and Swift: as particular as they are
 * about what they are answered, and as careless about what they send.
 */

type Answer = { status: number; headers: Headers; text: string }

/** How a request gets there. Tests hand in one that loses answers. */
export type Wire = (url: string, headers: Record<string, string>, body: string) => Promise<Answer>

export const overHttp: Wire = async (url, headers, body) => {
  const response = await fetch(url, { method: 'POST', headers, body })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export type Order = Record<string, unknown>

export type Challenge = { name: string; type: string; path: string }

/** What a request is answered with: one of several kinds of things. */
type Reply = {
  challenges?: Challenge[]
  authorizationId?: string
  hints?: string[]
  action?: string
  method?: string
  fields?: Record<string, string>
  timeout?: number
  width?: number
  height?: number
}

/** An error that was told in JSON, after which nobody tries again. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly body: Record<string, unknown>

  constructor(status: number, body: Record<string, unknown>) {
    super(`${body.message} (${body.code})`)
    this.status = status
    this.code = String(body.code)
    this.body = body
  }
}

/** What a payer does with the page of their bank. */
type Payer = 'confirms' | 'refuses'

/** One step of a payment: the hints it was taken with, and what was offered. */
export type Trail = { hints: number; offered: Challenge[]; taken: string; reply: Reply }[]

type Paid = { authorizationId: string; hints: string[]; trail: Trail }

/** What the page in a frame would tell the page around it. Undefined for one that never tells anything. */
export function toldBy(page: string, payer: Payer): string[] | undefined {
  const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1]
  if (data === undefined) return undefined
  const told = JSON.parse(data) as { hints: string[] } & Record<'approve' | 'fail', { hints: string[] }>
  return told.hints ?? told[payer === 'confirms' ? 'approve' : 'fail'].hints
}

type Options = { origin: string; wire?: Wire; payer?: Payer }

/** The delays in milliseconds before a request is sent again. */
function retryDelay(attempts: number): number {
  return [0, 100, 2000][attempts - 1] ?? 10_000
}

/**
 * The client for browsers: takes the lines of a success as they end, tries everything again but an error in JSON, and takes the first
 * challenge that it is offered.
 */
export function jsClient({ origin, wire = overHttp, payer = 'confirms' }: Options) {
  const waits: number[] = []

  async function request(path: string, data: object, attempts = 1): Promise<Reply & { token?: string }> {
    const headers = { 'x-client': 'js-c-1', 'accept-version': '1', 'content-type': 'application/json' }
    try {
      const answer = await wire(`${origin}${path}`, headers, JSON.stringify(data))
      if (answer.status < 300) return firstLine(answer.text)
      if (answer.status !== 429 && answer.headers.get('content-type')?.includes('json'))
        throw new Refused(answer.status, JSON.parse(answer.text))
      throw new Error(`${answer.status} ${answer.text}`)
    } catch (problem) {
      if (problem instanceof Refused || attempts > 10) throw problem
      // The clock of these tests stands still: how long would have been waited is kept instead.
      waits.push(retryDelay(attempts))
      return request(path, data, attempts + 1)
    }
  }

  async function openFrame({ action, method, fields, timeout, hints = [] }: Reply): Promise<string[]> {
    if (action === undefined || method !== 'POST') throw new Error(`There is no frame to open: ${method} ${action}`)
    const answer = await wire(action, formHeaders, new URLSearchParams(fields).toString())
    if (answer.status !== 200) throw new Error(`The frame shows an error: ${answer.status} ${answer.text}`)
    const told = toldBy(answer.text, payer)
    if (!told && timeout === undefined) throw new Error('The frame would be waited for for ever')
    return [...hints, ...(told ?? [])]
  }

  async function takeStep(order: Order, hints: string[], { type, path }: Challenge): Promise<{ reply: Reply; gained: string[] }> {
    const reply = await request(path, { ...order, hints })
    if (type === 'fetch') return { reply, gained: reply.hints ?? [] }
    if (type === 'iframe' || type === 'background-iframe') return { reply, gained: await openFrame(reply) }
    throw new Error(`Nobody here knows a challenge of type ${type}`)
  }

  return {
    waits,
    request,

    async tokenize(type: string, value: string): Promise<{ token?: string }> {
      return request('/vault', { type, value })
    },

    takeStep,

    /** With hints or none, until there is an answer. `choose` takes another challenge than the first. */
    async pay(order: Order, before?: string[], choose = (offered: Challenge[]) => offered[0]): Promise<Paid> {
      let hints = before ?? []
      const trail: Trail = []
      for (;;) {
        // Without any hints the real one sends none at all.
        const { authorizationId, challenges } = await request('/payments', hints.length > 0 ? { ...order, hints } : order)
        if (authorizationId !== undefined) return { authorizationId, hints, trail }
        const challenge = choose(challenges ?? [])
        if (!challenge || trail.length > 20) throw new Error(`There is no way on: ${JSON.stringify(trail)}`)
        const { reply, gained } = await takeStep(order, hints, challenge)
        trail.push({ hints: hints.length, offered: challenges ?? [], taken: challenge.name, reply })
        hints = [...hints, ...gained]
      }
    },
  }
}

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' }

/** What has no end of a line is dropped. */
function firstLine(text: string): Reply {
  const [line, ...rest] = text.split('\n')
  if (line === undefined || rest.length === 0) throw new Error(`A success without the end of a line: ${text}`)
  return JSON.parse(line)
}

type Language = 'dart' | 'kotlin' | 'swift'

/**
 * The clients for phones with the engines that drive them: they know three types of challenges and a closed list of errors, send no hint
 * twice, and count their hints.
 */
export function mobileClient({ origin, wire = overHttp, payer = 'confirms', language }: Options & { language: Language }) {
  const headers = { 'x-client': `${language}-1-a1B2c3`, 'accept-version': '1' }

  async function request(path: string, data: object): Promise<Reply & { token?: string }> {
    const answer = await wire(`${origin}${path}`, { ...headers, 'content-type': 'application/json' }, JSON.stringify(data))
    if (answer.status < 200 || answer.status > 299) throw refusal(answer)
    return decode(answer.text)
  }

  /** One run of the client: until there is a page to show, or the payment is made. */
  async function create(
    order: Order,
    hints: string[],
    trail: Trail,
  ): Promise<{ page?: string; authorizationId?: string; hints: string[] }> {
    const offer = await request('/payments', { ...order, hints })
    if (offer.authorizationId !== undefined) return { authorizationId: offer.authorizationId, hints }
    const challenge = choose(offer.challenges ?? [])
    const reply = await request(challenge.path, { ...order, hints })
    trail.push({ hints: hints.length, offered: offer.challenges ?? [], taken: challenge.name, reply })
    if (reply.action && reply.fields && Object.keys(reply.fields).length > 0) {
      const own = language === 'dart' ? {} : headers
      const answer = await wire(reply.action, { ...own, ...formHeaders }, new URLSearchParams(reply.fields).toString())
      if (answer.status !== 200) throw refusal(answer)
      // The one in Kotlin puts the newest first here, of all places.
      const both = language === 'kotlin' ? [reply.hints ?? [], hints] : [hints, reply.hints ?? []]
      return { page: answer.text, hints: unique(both.flat()) }
    }
    if (!reply.hints?.length) throw new Error(`Neither a page nor a hint: ${JSON.stringify(reply)}`)
    return create(order, unique([...hints, ...reply.hints]), trail)
  }

  return {
    request,

    /** The engine: one run, and one more after each of two pages at most. */
    async pay(order: Order): Promise<Paid> {
      const trail: Trail = []
      let hints: string[] = []
      for (const expected of [0, 6, 8]) {
        if (hints.length !== expected) throw new Error(`${hints.length} hints instead of ${expected}`)
        const run = await create(order, hints, trail)
        if (run.authorizationId !== undefined) return { authorizationId: run.authorizationId, hints: run.hints, trail }
        const told = toldBy(run.page ?? '', payer)
        if (!told?.length) throw new Error('The page tells nothing, and phones wait for ever')
        hints = unique([...run.hints, ...told])
      }
      throw new Error('A third page, and no phone shows one')
    },
  }
}

function unique(hints: string[]): string[] {
  return [...new Set(hints)]
}

function choose(challenges: Challenge[]): Challenge {
  const unseen = ({ type, name }: Challenge) => type === 'background-iframe' && name === 'tds-fingerprint'
  const chosen = challenges.find(({ type }) => type === 'fetch') ?? challenges.find(unseen) ?? challenges[0]
  if (!chosen) throw new Error('Neither a challenge nor an authorization')
  return chosen
}

const isText = (value: unknown) => typeof value === 'string'
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText)
const isWhole = (value: unknown) => Number.isInteger(value)

/** As decoders into declared types have it. What is not declared is passed over. */
const decoders: Record<string, (value: unknown) => boolean> = {
  challenges: (value) => Array.isArray(value) && value.every(isChallenge),
  hints: isTexts,
  action: isText,
  method: isText,
  fields: (value) => typeof value === 'object' && value !== null && isTexts(Object.values(value)),
  timeout: isWhole,
  authorizationId: isText,
  token: isText,
}

function isChallenge(value: unknown): boolean {
  const { name, type, path } = value as Challenge
  return isText(name) && isText(path) && ['fetch', 'iframe', 'background-iframe'].includes(type)
}

function decode(text: string): Reply {
  const body = JSON.parse(text) as Record<string, unknown>
  for (const [name, fits] of Object.entries(decoders))
    if (body[name] !== undefined && !fits(body[name])) throw new Error(`${name} cannot be decoded: ${text}`)
  return body
}

/** Every code that there is; some clients cannot so much as read another. */
export const statusCodes: readonly string[] = [
  'INTERNAL_ERROR ENDPOINT_NOT_FOUND VERSION_MISSING VERSION_UNSUPPORTED BODY_INVALID REQUEST_INVALID TOKEN_INVALID TOKEN_TYPE_UNEXPECTED',
  'TEST_MODE_MIXED PAYMENT_INTEGRATION_KEY_UNKNOWN PAYMENT_INTEGRATION_DISABLED PAYMENT_CHALLENGE_UNAVAILABLE PAYMENT_CARD_NUMBER_INVALID',
  'PAYMENT_CARD_SCHEME_UNKNOWN PAYMENT_CARD_SCHEME_UNSUPPORTED PAYMENT_CARD_SECURITY_CODE_INVALID PAYMENT_CARD_EXPIRED PAYMENT_CARD_DISABLED',
  'PAYMENT_CARD_LOST PAYMENT_APPLEPAY_AMOUNT_MISMATCH PAYMENT_APPLEPAY_EXPIRED PAYMENT_AMOUNT_LIMIT PAYMENT_INSUFFICIENT_FUNDS',
  'PAYMENT_RECEIVER_BLOCKED PAYMENT_REJECTED_BY_ISSUER PAYMENT_REJECTED PAYMENT_METHOD_ERROR TDSECURE_REQUIRED TDSECURE_FAILED',
  'APPLEPAY_TOKEN_INVALID GOOGLEPAY_TOKEN_INVALID APPLEPAY_CONFIGURATION_INVALID GOOGLEPAY_CONFIGURATION_INVALID',
  'APPLEPAY_UNREGISTERED_APPLE_DOMAIN GOOGLEPAY_DECODING_ERROR TDSECURE_PARES_INVALID APPLEPAY_VALIDATION_URL_INVALID',
].flatMap((line) => line.split(' '))

function refusal({ status, text }: Answer): Error {
  try {
    const body = JSON.parse(text) as { code: string; message: string; errors?: unknown }
    const fits = statusCodes.includes(body.code) && isText(body.message) && body.message !== ''
    if (fits && (body.errors === undefined || isTexts(body.errors))) return new Refused(status, body)
  } catch {
    // Told below.
  }
  return new Error(`An error that cannot be decoded: ${status} ${text}`)
}
