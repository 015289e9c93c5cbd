import { connect } from 'node:net'
import { admitsJson } from '@tollgate/payments/rules/accept'
import fc from 'fast-check'
import { createFindings } from './fuzz-findings.ts'
import { type Fuzzing, type FuzzNode, inParallel } from './fuzz-node.ts'
import { anyBytes, anyRequest, type FuzzRequest, valuesOf, wireOf } from './fuzz-requests.ts'

export type Heard = { status: number; headers: Map<string, string>; body: string }

/** Says the bytes and listens to the end. A sender who keeps the other side waiting for more hangs up halfway, like real ones do. */
export function exchange(origin: string, bytes: Buffer, whole: boolean): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    const heard: Buffer[] = []
    const enough = setTimeout(() => {
      socket.destroy()
      reject(new Error('no answer'))
    }, 5_000)
    socket.on('data', (chunk) => heard.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(enough)
      try {
        resolve(read(Buffer.concat(heard).toString('latin1')))
      } catch (problem) {
        reject(problem)
      }
    })
    if (whole) socket.write(bytes)
    else socket.end(bytes)
  })
}

/** Whoever hangs up before there is an answer gets none. */
export class HungUp extends Error {}

/** The first answer. What was sent may have been read as two requests, and been answered twice. */
function read(text: string): Heard {
  const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
  if (final === '') throw new HungUp('no answer')
  const [head = '', ...rest] = final.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Z]/.exec(first)?.[1])
  if (!status) throw new Error(`not an answer: ${JSON.stringify(text.slice(0, 200))}`)
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  const body = rest.join('\r\n\r\n')
  const length = Number(headers.get('content-length') ?? body.length)
  return { status, headers, body: Buffer.from(body.slice(0, length), 'latin1').toString('utf8') }
}

/** What an answer breaks of what is promised to everybody, if anything. */
export function wrongWithAny({ status, headers }: Heard): string | undefined {
  if (status >= 500) return `${status}`
  if (!/^[0-9a-f-]{32,36}$/.test(headers.get('x-request-id') ?? '')) return 'no request id'
  if (headers.get('x-content-type-options') !== 'nosniff') return 'no nosniff'
  if (!headers.get('strict-transport-security')?.includes('max-age=31536000')) return 'no strict transport security'
  if (!headers.get('content-security-policy')?.includes("default-src 'none'")) return 'no content security policy'
  return undefined
}

type Told = Record<string, unknown>
const hasOnly = (told: Told, ...names: string[]) => Object.keys(told).sort().join() === names.sort().join()

/** Before the head is understood nobody knows what its sender would like to read, so such a refusal has the plain form. */
export function wrongWithIdentity(heard: Heard, request: FuzzRequest): string | undefined {
  const { status, headers, body } = heard
  const wrong = wrongWithAny(heard)
  if (wrong !== undefined || status < 400 || request.method === 'HEAD') return wrong
  if (headers.get('content-type') !== 'application/json') return `${status} as ${headers.get('content-type')}`
  const told = JSON.parse(body) as Told
  const newer = headers.get('x-supabase-api-version') === '2024-01-01'
  const code = headers.get('x-sb-error-code')
  const fits = newer
    ? told.code === code && typeof told.message === 'string' && hasOnly(told, 'code', 'message')
    : told.code === status &&
      told.error_code === code &&
      typeof told.msg === 'string' &&
      hasOnly(told, 'code', 'error_code', 'msg')
  if (!fits || code === undefined) return `${status} that is not told as promised`
  const asked = valuesOf(request, 'x-supabase-api-version') === '2024-01-01'
  return told.error_code !== 'bad_request' && newer !== asked ? `${status} in the form of another version` : undefined
}

export function wrongWithPayments(heard: Heard, request: FuzzRequest): string | undefined {
  const { status, headers, body } = heard
  const wrong = wrongWithAny(heard)
  if (wrong !== undefined || status < 400 || request.method === 'HEAD') return wrong
  const type = headers.get('content-type')
  if (status !== 400 && status !== 431 && !admitsJson(valuesOf(request, 'accept')))
    return body === '' && type === undefined ? undefined : `${status} with a body for those who cannot read it`
  if (type !== 'application/json; charset=utf-8') return `${status} as ${type}`
  if (status !== 400)
    return /^\{"code":"[a-z_]+","message":"[^\n]+"\}\n$/.test(body) ? undefined : `${status} that is not told as promised`
  const told = JSON.parse(body) as Told[]
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const fits =
    told.length > 0 && told.every((each) => isText(each.field) && isText(each.message) && hasOnly(each, 'field', 'message'))
  return fits && body.endsWith(']\n') ? undefined : '400 that is no list of fields'
}

/** Requests as bytes, most of them whole: to `POST /apps`, which both services have when they are fuzzed, and to anything else. */
export function fuzzBytes(
  { origin, call, lines, heard }: Pick<FuzzNode<unknown>, 'origin' | 'call' | 'lines' | 'heard'>,
  { seed, wrongWith }: { seed: number; wrongWith(heard: Heard, request: FuzzRequest): string | undefined },
): Fuzzing {
  const findings = createFindings()
  const anything = fc.oneof(
    { weight: 3, arbitrary: anyRequest.map((request) => ({ request, ...wireOf(request) })) },
    { weight: 1, arbitrary: anyBytes.map((bytes) => ({ request: undefined, bytes, whole: false })) },
  )
  return {
    findings,
    async send(batch, count) {
      const sent = fc.sample(anything, { seed: (seed + batch) | 0, numRuns: count })
      await inParallel(sent, async ({ request, bytes, whole }) => {
        const note = (kind: string, requestId?: string) =>
          findings.note(`bytes: ${kind}`, JSON.stringify(bytes.toString('latin1').slice(0, 1_200)), requestId)
        try {
          const answer = await exchange(origin, bytes, whole)
          findings.count('bytes', answer.status)
          const wrong = request ? wrongWith(answer, request) : wrongWithAny(answer)
          if (wrong !== undefined) note(wrong, answer.headers.get('x-request-id'))
        } catch (problem) {
          const isOwnDoing = problem instanceof HungUp && !whole
          if (!isOwnDoing) note((problem as Error).message)
        }
      })
      const { status } = await call('GET /health')
      if (status !== 200) findings.note(`GET /health answers ${status}`, 'after requests that were only bytes')
      await heard()
      findings.explain(lines)
    },
    async finish() {},
    close() {},
  }
}
