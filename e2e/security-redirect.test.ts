import { identity } from '@tollgate/identity/main'
import { adminAuthorization, createAccount, startWithInbox } from '@tollgate/identity/testing'
import { payments } from '@tollgate/payments/main'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { all, atOnce, refusedByList, refusedEverywhere, refusedWithoutTls, some } from './security-addresses.ts'

type Named = { method: string; path: string; query?: unknown; body?: unknown }

/** `POST /signup` for every endpoint one of whose parameters goes by the name. */
function takers(endpoints: readonly Named[], name: string): string[] {
  const has = (shape: unknown) => Object.hasOwn((shape as { properties?: object } | undefined)?.properties ?? {}, name)
  return endpoints.filter(({ query, body }) => has(query) || has(body)).map(({ method, path }) => `${method} ${path}`)
}

const query = (fields: Record<string, string>) => `?${new URLSearchParams(fields)}`

describe('identity', () => {
  const hostile = all(refusedEverywhere, refusedByList)
  const site = 'https://site.test'
  let service: Awaited<ReturnType<typeof startWithInbox>>
  let admin: Record<string, string>
  let signedIn: { userId: string; authorization: string }

  beforeAll(async () => {
    service = await startWithInbox({
      AUTH_URI_ALLOW_LIST: 'https://*.apps.test/**,https://one.test/callback,com.shop.app://*',
      AUTH_SMTP_MAX_FREQUENCY: '0',
      AUTH_RATE_LIMIT_VERIFY: '1000000',
      AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
      AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
      AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'our client',
      AUTH_EXTERNAL_GITHUB_SECRET: 'our secret',
      AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
    })
    admin = { authorization: adminAuthorization(service) }
    signedIn = await createAccount(service)
  })
  afterAll(() => service.stop())

  /** Where a redirect leads, without what is told there. */
  const placeOf = (location: unknown) =>
    String(location)
      .replace(/[?#].*$/s, '')
      .replace(/\/$/, '')

  /** Where somebody is sent who comes back from a provider without having been let in there. */
  async function wayBack(location: unknown): Promise<string> {
    const state = new URL(String(location)).searchParams.get('state') ?? ''
    return placeOf((await service.call(`GET /callback${query({ state, error: 'access_denied' })}`)).headers.location)
  }

  const person = async () => {
    const { userId, authorization } = await createAccount(service)
    return { email: `${userId}@site.test`, headers: { authorization } }
  }
  let number = 0
  const newcomer = () => `newcomer-${++number}@site.test`
  const mailedTo = async (email: string) => (await service.mailTo(email)).redirectTo

  /** What every endpoint makes of a `redirect_to`. */
  const ways: Record<string, (candidate: string) => Promise<string>> = {
    async 'GET /verify'(candidate) {
      const asked = query({ token: 'x', type: 'signup', redirect_to: candidate })
      return placeOf((await service.call(`GET /verify${asked}`)).headers.location)
    },
    async 'GET /authorize'(candidate) {
      const asked = query({ provider: 'github', redirect_to: candidate })
      return wayBack((await service.call(`GET /authorize${asked}`)).headers.location)
    },
    async 'GET /user/identities/authorize'(candidate) {
      const asked = query({ provider: 'github', redirect_to: candidate })
      const { authorization } = signedIn
      return wayBack(
        (await service.call(`GET /user/identities/authorize${asked}`, { headers: { authorization } })).headers.location,
      )
    },
    async 'POST /admin/generate_link'(candidate) {
      const json = { type: 'recovery', email: `${signedIn.userId}@site.test` }
      const asked = `POST /admin/generate_link${query({ redirect_to: candidate })}`
      return (await service.call(asked, { headers: admin, json })).json<{ redirect_to: string }>().redirect_to
    },
    async 'POST /admin/generate_link in its body'(candidate) {
      const json = { type: 'recovery', email: `${signedIn.userId}@site.test`, redirect_to: candidate }
      return (await service.call('POST /admin/generate_link', { headers: admin, json })).json<{ redirect_to: string }>()
        .redirect_to
    },
    async 'POST /verify'(candidate) {
      const { status, headers, text } = await service.call('POST /verify', {
        json: { type: 'signup', token: '123456', email: 'nobody@site.test', redirect_to: candidate },
      })
      // It leads nowhere, and repeats nothing.
      expect([status, headers.location, text.includes('evil')]).toEqual([403, undefined, false])
      return site
    },
    async 'POST /signup'(candidate) {
      const email = newcomer()
      await service.call(`POST /signup${query({ redirect_to: candidate })}`, { json: { email, password: 'correct horse' } })
      return mailedTo(email)
    },
    async 'POST /otp'(candidate) {
      const email = newcomer()
      await service.call(`POST /otp${query({ redirect_to: candidate })}`, { json: { email, create_user: true } })
      return mailedTo(email)
    },
    async 'POST /magiclink'(candidate) {
      const { email } = await person()
      await service.call(`POST /magiclink${query({ redirect_to: candidate })}`, { json: { email } })
      return mailedTo(email)
    },
    async 'POST /recover'(candidate) {
      const { email } = await person()
      await service.call(`POST /recover${query({ redirect_to: candidate })}`, { json: { email } })
      return mailedTo(email)
    },
    async 'POST /resend'(candidate) {
      const email = newcomer()
      await service.call('POST /otp', { json: { email, create_user: true } })
      await mailedTo(email)
      await service.call(`POST /resend${query({ redirect_to: candidate })}`, { json: { type: 'signup', email } })
      return mailedTo(email)
    },
    async 'POST /invite'(candidate) {
      const email = newcomer()
      await service.call(`POST /invite${query({ redirect_to: candidate })}`, { headers: admin, json: { email } })
      return mailedTo(email)
    },
    async 'PUT /user'(candidate) {
      const { headers } = await person()
      const email = newcomer()
      await service.call(`PUT /user${query({ redirect_to: candidate })}`, { headers, json: { email } })
      return mailedTo(email)
    },
  }
  const byMail = ['POST /signup', 'POST /otp', 'POST /magiclink', 'POST /recover', 'POST /resend', 'POST /invite', 'PUT /user']

  test('every endpoint that takes a redirect_to is tried', () => {
    const tried = new Set(Object.keys(ways).map((way) => way.replace(' in its body', '')))
    expect(new Set(takers(identity.endpoints, 'redirect_to'))).toEqual(tried)
  })

  test('there are more than five hundred hostile addresses', () => {
    expect(hostile.length).toBeGreaterThan(500)
  })

  test.each(Object.keys(ways).filter((endpoint) => endpoint !== 'POST /verify'))(
    '%s leads to an address of the site and of the list',
    async (endpoint) => {
      for (const good of ['https://site.test/welcome', 'https://a.apps.test/in']) expect(await ways[endpoint]?.(good)).toBe(good)
    },
  )

  test.each(Object.keys(ways).filter((endpoint) => !byMail.includes(endpoint)))(
    '%s sends nobody to any of the hostile addresses',
    async (endpoint) => {
      const elsewhere: [candidate: string, place: string][] = []
      await atOnce(hostile, async (candidate) => {
        const place = (await ways[endpoint]?.(candidate)) ?? ''
        if (place !== site) elsewhere.push([candidate, place])
      })
      expect(elsewhere).toEqual([])
    },
    60_000,
  )

  test.each(byMail)(
    '%s sends no mail whose link leads to one of every family of them',
    async (endpoint) => {
      await atOnce(some(refusedEverywhere, refusedByList), async (candidate) =>
        expect([candidate, await ways[endpoint]?.(candidate)]).toEqual([candidate, site]),
      )
    },
    60_000,
  )

  test.each(['redirect_to', 'referer'])('a header %s leads to none of them either', async (name) => {
    // What can be said in a header at all.
    const sayable = hostile.filter((candidate) => /^[\t\x20-\x7e\x80-\xff]*$/.test(candidate))
    expect(sayable.length).toBeGreaterThan(300)
    const asked = `GET /verify${query({ token: 'x', type: 'signup' })}`
    await atOnce(sayable, async (candidate) => {
      const { headers } = await service.call(asked, { headers: { [name]: candidate } })
      expect([candidate, placeOf(headers.location)]).toEqual([candidate, site])
    })
  })
})

describe('payments', () => {
  let service: Awaited<ReturnType<typeof startPayments>>
  let shops: Record<'test' | 'live', Awaited<ReturnType<typeof plantMerchant>>>

  beforeAll(async () => {
    service = await startPayments()
    shops = { test: await plantMerchant(service), live: await plantMerchant(service, { test: false }) }
  })
  afterAll(() => service.stop())

  const hostile = { test: all(refusedEverywhere), live: all(refusedEverywhere, refusedWithoutTls) }
  const good = 'https://shop.test/thanks?order=7'

  const page = (kind: 'test' | 'live', redirect: string) =>
    service.call(
      `GET /pos${query({ key: shops[kind].key, currency: 'EUR', value: '1', redirect, ...(kind === 'test' && { test: '1' }) })}`,
    )
  const link = (kind: 'test' | 'live', redirect: string) =>
    service.call(`POST /merchants/${shops[kind].id}/links`, {
      headers: { authorization: shops[kind].authorization },
      json: { value: '1', redirect },
    })

  test('nothing else takes a redirect, and there are more than five hundred hostile ones', () => {
    expect(takers(payments.endpoints, 'redirect')).toEqual(['POST /merchants/{merchant_id}/links'])
    for (const each of Object.values(hostile)) expect(each.length).toBeGreaterThan(500)
  })

  test.each(['test', 'live'] as const)('the page of a %s merchant opens for none of them', async (kind) => {
    expect((await page(kind, good)).text).toContain('"redirect":"https://shop.test/thanks?order=7"')
    const opened: string[] = []
    await atOnce(hostile[kind], async (candidate) => {
      const { status, text, headers } = await page(kind, candidate)
      if (status !== 400 || text.includes('"redirect"') || headers.location !== undefined) opened.push(candidate)
    })
    expect(opened).toEqual([])
  })

  test.each(['test', 'live'] as const)('no link of a %s merchant is made with any of them', async (kind) => {
    expect((await link(kind, good)).status).toBe(201)
    const made: [string, number][] = []
    await atOnce(hostile[kind], async (candidate) => {
      const { status, text } = await link(kind, candidate)
      if (status !== 400 || !text.includes('"field":"redirect"')) made.push([candidate, status])
    })
    expect(made).toEqual([])
  })
})
