import { createHash } from 'node:crypto'
import { identity } from '@tollgate/identity/main'
import { startWithInbox } from '@tollgate/identity/testing'
import { documentEndpoints } from '@tollgate/kit/documents'
import { describe as describeService } from '@tollgate/kit/service'
import { payments } from '@tollgate/payments/main'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asCall, type SoundCalls, soundIdentityCalls, soundPaymentsCalls } from './security-calls.ts'

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string }
type Endpoint = { method: string; path: string; reply: Readonly<Record<number, unknown>> }

let mailed: Awaited<ReturnType<typeof startWithInbox>>
let paid: Awaited<ReturnType<typeof startPayments>>
let shop: Awaited<ReturnType<typeof plantMerchant>>
let calls: Record<'identity' | 'payments', SoundCalls>

beforeAll(async () => {
  mailed = await startWithInbox({
    AUTH_MAILER_LINK_PAGE_ENABLED: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'our client',
    AUTH_EXTERNAL_GITHUB_SECRET: 'our secret',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
    AUTH_EXTERNAL_GITHUB_URL: 'https://127.0.0.1:9',
  })
  paid = await startPayments({ PAY_API_EXTERNAL_URL: 'https://pay.site.test' })
  shop = await plantMerchant(paid)
  calls = { identity: soundIdentityCalls(mailed), payments: soundPaymentsCalls(paid, shop) }
})
afterAll(async () => {
  await mailed?.stop()
  await paid?.stop()
})

const services = {
  identity: [...identity.endpoints, ...documentEndpoints(describeService(identity as never))] as Endpoint[],
  payments: [...payments.endpoints, ...documentEndpoints(describeService(payments as never))] as Endpoint[],
}

/** `200` of every page that an endpoint says it answers with. */
function pagesOf({ method, path, reply }: Endpoint): string[] {
  return Object.entries(reply)
    .filter(([, shape]) => (shape as { contentMediaType?: string }).contentMediaType === 'text/html')
    .map(([status]) => `${method} ${path} ${status}`)
}

type Framing = 'nobody' | 'anybody'

/** How to see each page, who may have it in a frame, and whether it is one that people stand before. */
const pages: Record<'identity' | 'payments', Record<string, { frames: Framing; see(): Promise<Answer> }>> = {
  identity: {
    'GET /docs 200': { frames: 'nobody', see: () => mailed.call('GET /docs') },
    'GET /verify 200': { frames: 'nobody', see: () => mailed.call('GET /verify?token=abc&type=signup') },
  },
  payments: {
    'GET /docs 200': { frames: 'nobody', see: () => paid.call('GET /docs') },
    'GET /pos 200': { frames: 'nobody', see: () => paid.call(`GET /pos?key=${shop.key}&test=1&value=1&text=Tea`) },
    'GET /pos 400': { frames: 'nobody', see: () => paid.call(`GET /pos?key=${shop.key}&value=1`) },
    'GET /pos 404': { frames: 'nobody', see: () => paid.call('GET /pos?key=unknown') },
    // Made to stand in pages of shops, wherever they are.
    'GET /pos/popup 200': { frames: 'anybody', see: () => paid.call(`GET /pos/popup?key=${shop.key}`) },
    'POST /payments/fingerprint 200': { frames: 'anybody', see: () => sound('POST /payments/fingerprint') },
    'POST /3dsecure/v2/method 200': { frames: 'anybody', see: () => sound('POST /3dsecure/v2/method') },
    'POST /3dsecure/v2/challenge 200': { frames: 'anybody', see: () => sound('POST /3dsecure/v2/challenge') },
  },
}

async function sound(endpoint: string): Promise<Answer> {
  const [make] = calls.payments[endpoint] ?? []
  if (!make) throw new Error(`Nobody knows how to ask ${endpoint}`)
  return paid.call(...asCall(endpoint, await make()))
}

/** `{ 'script-src': ["'self'"] }` */
function policyOf({ headers }: Answer): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split(';')
  return new Map(directives.map((each) => each.trim().split(/\s+/)).map(([name = '', ...values]) => [name, values]))
}

function checkEveryAnswer(what: string, { headers, status, text }: Answer) {
  const policy = policyOf({ headers, status, text })
  expect([what, policy.get('default-src'), policy.get('base-uri')]).toEqual([what, ["'none'"], ["'none'"]])
  // What is no page sends no form and stands in no frame.
  if (!String(headers['content-type']).startsWith('text/html'))
    expect([what, policy.get('form-action'), policy.get('frame-ancestors')]).toEqual([what, ["'none'"], ["'none'"]])
  expect([what, headers['referrer-policy']]).toEqual([what, 'no-referrer'])
  expect([what, headers['x-content-type-options']]).toEqual([what, 'nosniff'])
  expect([what, headers['strict-transport-security']]).toEqual([
    what,
    expect.stringMatching(/^max-age=31536000; includeSubdomains/i),
  ])
  expect([what, headers['set-cookie'], headers.server, headers['x-powered-by']]).toEqual([what, undefined, undefined, undefined])
  if (text !== '' && status !== 204)
    expect([what, headers['content-type']]).toEqual([what, expect.stringMatching(/^[a-z]+\/[a-z]/)])
}

describe.each(['identity', 'payments'] as const)('%s', (name) => {
  test('every page that an endpoint tells of is looked at', () => {
    expect(services[name].flatMap(pagesOf).toSorted()).toEqual(Object.keys(pages[name]).toSorted())
  })

  test('no page runs, loads or sends anything but its own, and only those made for it stand in a frame', async () => {
    for (const [what, { frames, see }] of Object.entries(pages[name])) {
      const page = await see()
      checkEveryAnswer(what, page)
      const { status, headers, text } = page
      expect([what, status, headers['content-type']]).toEqual([what, Number(what.slice(-3)), 'text/html; charset=utf-8'])
      const policy = policyOf(page)
      // Nobody else's page, unless it is one that shops show in theirs.
      expect([what, policy.get('frame-ancestors')?.join() === "'none'"]).toEqual([what, frames === 'nobody'])
      expect([what, policy.has('form-action')]).toEqual([what, true])
      for (const [directive, values] of policy) {
        const strange = values.filter((value) => /unsafe|data:|blob:|^http:|^https:$|\*/.test(value))
        // Where a form leads on to is not known beforehand.
        const allowed = directive === 'frame-ancestors' ? ['*'] : directive === 'form-action' ? ['https:'] : []
        expect([what, directive, strange.filter((value) => !allowed.includes(value))]).toEqual([what, directive, []])
      }
      checkContent(what, text, policy)
    }
  })

  test('nothing that a page shows is kept or told on', async () => {
    for (const [what, { see }] of Object.entries(pages[name])) {
      const { headers } = await see()
      expect([what, headers['cache-control']]).toEqual([what, 'no-store'])
    }
  })

  test('every endpoint answers with the headers of the house, whether it is pleased or not', async () => {
    const service = name === 'identity' ? mailed : paid
    for (const { method, path } of services[name]) {
      const what = `${method} ${path}`
      const [make] = calls[name][what] ?? [() => ({})]
      const pleased = await service.call(...asCall(what, (await make?.()) ?? {}))
      checkEveryAnswer(what, pleased)
      const filled = path.replace(/\{\w+\}/g, 'nothing')
      checkEveryAnswer(
        `${what}, badly`,
        await service.call(`${method} ${filled}`, { raw: '{', headers: { 'content-type': 'application/json' } }),
      )
      checkEveryAnswer(`TRACE ${path}`, await service.call(`TRACE ${filled}`))
    }
    checkEveryAnswer('nothing', await service.call('GET /nothing/here'))
  })

  test('TRACE and other methods that nobody offers are refused', async () => {
    const service = name === 'identity' ? mailed : paid
    for (const method of ['TRACE', 'TRACK', 'PROPFIND', 'CONNECTED']) {
      const answer = await service.call(`${method} /health`, { headers: { 'x-secret': 'echo me' } }).catch(() => undefined)
      expect([method, answer === undefined || answer.status >= 400, answer?.text.includes('echo me') ?? false]).toEqual([
        method,
        true,
        false,
      ])
    }
  })

  test('what somebody is told of themselves is kept nowhere', async () => {
    const service = name === 'identity' ? mailed : paid
    for (const { method, path, caller } of services[name] as (Endpoint & { caller: { security: unknown } })[]) {
      const [make] = calls[name][`${method} ${path}`] ?? []
      if (!make || caller.security === undefined) continue
      const { headers } = await service.call(...asCall(`${method} ${path}`, await make()))
      expect([method, path, headers['cache-control']]).toEqual([method, path, 'no-store'])
    }
  })
})

/** What stands in a page is what its policy names, to the letter. */
function checkContent(what: string, text: string, policy: Map<string, string[]>) {
  const hashed = (body: string) => `'sha256-${createHash('sha256').update(body).digest('base64')}'`
  for (const [tag, directive] of [
    ['script', 'script-src'],
    ['style', 'style-src'],
  ] as const)
    for (const [, attributes = '', body = ''] of text.matchAll(new RegExp(`<${tag}([^>]*)>(.*?)</${tag}>`, 'gs'))) {
      if (/type="application\/json"/.test(attributes)) continue
      if (body === '') expect([what, attributes]).toEqual([what, expect.stringMatching(/ src="\/[^/]/)])
      else expect([what, policy.get(directive)]).toEqual([what, expect.arrayContaining([hashed(body)])])
    }
  expect([what, text.match(/ on[a-z]+="|javascript:/i)]).toEqual([what, null])
  const outside = [...text.matchAll(/<(?:script|link|img|iframe|form|base)\b[^>]*\b(?:src|href|action)="([^"]*)"/g)].map(
    ([, url]) => url,
  )
  expect([what, outside.filter((url) => /^([a-z]+:|\/\/)/i.test(url ?? ''))]).toEqual([what, []])
}
