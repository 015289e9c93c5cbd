import { type KeyObject, randomUUID, verify } from 'node:crypto'
import { type FakeAnswer, type FakeReply, type FakeRequest, startHttpFake } from '@tollgate/kit/http-fake'

type Movement = { id: string; status: { code: number }; processed_at: string; amount?: number }
type Lists = { captures: Movement[]; refunds: Movement[]; voids: Movement[] }
export type FakeAuthorization = Lists & {
  id: string
  status: { code: number }
  amount: number
  currency: string
  reference: string | undefined
  text: string | undefined
  series: { type: string; previous?: string } | undefined
}

/** What goes wrong with the next request, after the gateway has done what was asked (`done`) or before. */
export type Fault = { answer: FakeAnswer | ((right: FakeReply) => FakeAnswer); done: boolean }

export type Manners = {
  apiKey: string
  signingKeyId: string
  publicKey: KeyObject
  /** How much it tells of what it has: the lists behind links, inside of the authorization, or nothing. */
  reading?: 'linked' | 'embedded' | 'none'
}

type Form = ReadonlyMap<string, string>
type Doing = { reply: FakeReply; commit?(): void }

/** The payments that the real one lets an amount decide about. */
const telling = /^(420000\d+0000|555555\d+4444)$/
const codes = new Set([
  ...[20000, 40000, 40110, 40111, 40120, 40130, 40135, 40140, 40150, 40200, 40300, 40310, 40400, 40410, 40411, 40412, 40413],
  ...[40414, 40415, 40416, 40420, 50000],
])
const currencies = new Set(['EUR', 'DKK', 'ISK', 'JPY', 'KWD', 'USD'])

/** For tests: the gateway as far as the adapter speaks to it, over real HTTP, with a memory and with bad days. */
export async function startClearhausFake(manners: Manners) {
  const authorizations = new Map<string, FakeAuthorization>()
  const faults: Fault[] = []

  const http = await startHttpFake((request) => {
    const { reply, commit } = doing(request)
    const fault = faults.shift()
    if (!fault || fault.done) commit?.()
    if (!fault) return reply
    return typeof fault.answer === 'function' ? fault.answer(reply) : fault.answer
  })

  function doing(request: FakeRequest): Doing {
    if (request.headers.authorization !== `Basic ${btoa(`${manners.apiKey}:`)}`) return { reply: { status: 401 } }
    const [, name, id, list] = /^\/(authorizations)(?:\/([^/]+))?(?:\/(captures|refunds|voids))?$/.exec(request.path) ?? []
    const authorization = id === undefined ? undefined : authorizations.get(id)
    if (!name || (id !== undefined && !authorization)) return { reply: { status: 404 } }
    if (request.method === 'GET')
      return { reply: authorization ? tell(authorization, list as keyof Lists | undefined) : { status: 404 } }
    if (!signed(request)) return refuse(40000, 'invalid signature')
    if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') return refuse(40000, 'not a form')
    const form = new Map(new URLSearchParams(request.body))
    if (!authorization) return authorize(form)
    return list ? move(authorization, list as keyof Lists, form) : { reply: { status: 404 } }
  }

  function signed({ headers, body }: FakeRequest): boolean {
    const [keyId, algorithm, signature = ''] = String(headers.signature).split(' ')
    if (keyId !== manners.signingKeyId || algorithm !== 'RS256-hex' || !/^([0-9a-f]{2})+$/.test(signature)) return false
    return verify('sha256', Buffer.from(body), manners.publicKey, Buffer.from(signature, 'hex'))
  }

  function authorize(form: Form): Doing {
    const [amount, currency = '', pan = '', text] = ['amount', 'currency', 'card[pan]', 'text_on_statement'].map((name) =>
      form.get(name),
    )
    const previous = form.get('series[previous][id]')
    const type = form.get('series[type]')
    if (!/^(0|[1-9]\d{0,8})$/.test(amount ?? '')) return refuse(40000, "parameter 'amount' is invalid")
    if (!currencies.has(currency)) return refuse(40140)
    if (!/^\d{12,19}$/.test(pan)) return refuse(40110, `invalid card number ${pan}`)
    if (!/^(0[1-9]|1[0-2])$/.test(form.get('card[expire_month]') ?? '')) return refuse(40130)
    if (!/^20\d{2}$/.test(form.get('card[expire_year]') ?? '')) return refuse(40130)
    if (!/^\d{3}$/.test(form.get('card[csc]') ?? '000')) return refuse(40120)
    if (!/^[\x20-\x7e]{1,30}$/.test(form.get('reference') ?? '-')) return refuse(40000, "parameter 'reference' is invalid")
    if (text !== undefined && unfit(text)) return refuse(40150)
    if (previous !== undefined && (type !== undefined || form.has('card[csc]'))) return refuse(40000, 'not a series')
    const before = previous === undefined ? undefined : authorizations.get(previous)?.series
    if (previous !== undefined && !before) return refuse(40000, 'not a series')

    const chosen = codes.has(Number(amount)) ? Number(amount) : 40110
    const made: FakeAuthorization = {
      id: randomUUID(),
      status: { code: telling.test(pan) ? chosen : 20000 },
      amount: Number(amount),
      currency,
      reference: form.get('reference'),
      text,
      series: before && previous ? { type: before.type, previous } : type ? { type } : undefined,
      ...{ captures: [], refunds: [], voids: [] },
    }
    const csc = { present: form.has('card[csc]'), matches: form.get('card[csc]') === '987' }
    return {
      reply: say(201, { ...told(made), csc, _links: linksOf(made) }),
      commit: () => void authorizations.set(made.id, made),
    }
  }

  function move(authorization: FakeAuthorization, list: keyof Lists, form: Form): Doing {
    const { captures, refunds, voids, status } = authorization
    if (unfit(form.get('text_on_statement') ?? 'fit')) return refuse(40150)
    const approved = status.code === 20000 && voids.length === 0
    const left = {
      captures: approved ? authorization.amount - sum(captures) : 0,
      refunds: sum(captures) - sum(refunds),
      voids: (approved && captures.length === 0) || (status.code === 50000 && voids.length === 0) ? 1 : 0,
    }[list]
    const amount = list === 'voids' ? 1 : Number(form.get('amount') ?? left)
    if (amount < 1 || !Number.isInteger(amount)) return refuse(40000, "parameter 'amount' is invalid")
    if (amount > left) return refuse(40000, list === 'voids' ? 'cannot be voided' : 'amount exceeds what is left')
    const made = { ...told({ id: randomUUID(), status: { code: 20000 } }), ...(list === 'voids' ? {} : { amount }) }
    const _links = { authorization: { href: `/authorizations/${authorization.id}` } }
    return { reply: say(201, { ...made, _links }), commit: () => void authorization[list].push(made) }
  }

  function tell(authorization: FakeAuthorization, list: keyof Lists | undefined): FakeReply {
    const { reading = 'linked' } = manners
    if (reading === 'none') return { status: 404 }
    const { captures, refunds, voids } = authorization
    if (list) return say(200, { _embedded: { [list]: authorization[list] } })
    const _embedded = reading === 'embedded' ? { _embedded: { captures, refunds, voids } } : {}
    return say(200, { ...told(authorization), _links: linksOf(authorization), ..._embedded })
  }

  return {
    origin: http.origin,
    requests: http.requests,
    /** What it has, oldest first. */
    authorizations: () => [...authorizations.values()],
    /** What its next requests will suffer, one each. */
    suffer(...next: Fault[]) {
      faults.push(...next)
    },
    /** Forgets what it has not suffered yet. */
    recover() {
      faults.length = 0
    },
    close: () => http.close(),
  }
}

function say(status: number, body: object): FakeReply {
  const type = 'application/vnd.clearhaus-gateway.hal+json; version=0.10.0; charset=utf-8'
  return { status, headers: { 'content-type': type }, json: body }
}

function refuse(code: number, message?: string): Doing {
  return { reply: say(400, { status: { code, message } }) }
}

function told({ id, status }: Pick<Movement, 'id' | 'status'>): Movement {
  return { id, status, processed_at: new Date().toISOString() }
}

function linksOf({ id }: FakeAuthorization) {
  return Object.fromEntries(['captures', 'refunds', 'voids'].map((name) => [name, { href: `/authorizations/${id}/${name}` }]))
}

function sum(movements: readonly Movement[]): number {
  return movements.reduce((total, { amount = 0 }) => total + amount, 0)
}

function unfit(text: string): boolean {
  const steps = new Set([...text].slice(1).map((letter, at) => letter.charCodeAt(0) - text.charCodeAt(at)))
  return !/^[\x20-\x7e]{2,22}$/.test(text) || /^\d+$/.test(text) || (steps.size === 1 && (steps.has(0) || steps.has(1)))
}
