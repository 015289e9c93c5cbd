import { AuthClient, type AuthFlowType, type Session } from '@supabase/auth-js'
import { adminAuthorization, startWithInbox } from '@tollgate/identity/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newAddress, pass, shareClock } from './auth-js-client.ts'

// Everything that goes by mail. Links are followed as a browser follows them, and lead to a page on which a client wakes up.
let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  service = await startWithInbox({
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_URI_ALLOW_LIST: 'https://*.preview.test/**,com.shop.app://**',
  })
  shareClock(service)
})
afterAll(async () => {
  vi.useRealTimers()
  await service.stop()
})

const password = 'correct horse'

type Browser = ReturnType<typeof browser>

/** Somebody's browser: what is kept from one page to the next, and a client on the first one. */
function browser(flowType: AuthFlowType = 'implicit', kept = new Map<string, string>()) {
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
  const open = () => new AuthClient({ url: service.origin, flowType, storage, autoRefreshToken: false, skipAutoInitialize: true })
  return { kept, open, auth: open() }
}

/** Where a link leads. The address of the service that mails name is this one to the outside. */
async function follow(link: string): Promise<string> {
  const { origin, pathname, search } = new URL(link)
  expect(origin).toBe('https://auth.site.test')
  const answer = await fetch(`${service.origin}${pathname}${search}`, { redirect: 'manual' })
  expect(answer.status).toBe(303)
  return answer.headers.get('location') ?? ''
}

/** A page that wakes up on an address, with its client, and the first thing that this tells of. */
async function visit({ open }: Browser, address: string) {
  const auth = open()
  const location = { href: address, hash: new URL(address).hash }
  const history = { state: null, replaceState: (_: unknown, __: string, href: string) => Object.assign(location, { href }) }
  vi.stubGlobal('window', { location, history })
  vi.stubGlobal('document', {})
  const waking = auth.initialize().finally(() => vi.unstubAllGlobals())
  const event = new Promise<string>((resolve) => {
    auth.onAuthStateChange((what) => what === 'INITIAL_SESSION' || resolve(what))
  })
  const { error } = await waking
  const { data } = await auth.getSession()
  return { auth, location, event, error, session: data.session }
}

const followAndVisit = async (from: Browser, link: string) => visit(from, await follow(link))

/** A confirmed account with a password, and the browser in which it was made. */
async function join(flowType: AuthFlowType = 'implicit', email = newAddress()) {
  const own = browser(flowType)
  await own.auth.signUp({ email, password })
  const { code } = await service.mailTo(email)
  const { data, error } = await own.auth.verifyOtp({ type: 'signup', email, token: code })
  expect(error).toBeNull()
  return { ...own, email, id: data.user?.id ?? '', session: data.session as Session }
}

/** Whatever went to an address, up to a mail that was asked for after all of it. */
async function mailsTo(address: string) {
  const last = newAddress()
  await browser().auth.signInWithOtp({ email: last })
  await service.mailTo(last)
  return service.mails.mails().filter(({ to }) => to.includes(address))
}

const expired = { name: 'AuthApiError', status: 403, code: 'otp_expired' }
const nobody = { user: null, session: null }

describe('signing up', () => {
  test('asks for a confirmation, and the link in the mail leads to a session', async () => {
    const own = browser()
    const email = newAddress()
    const { data, error } = await own.auth.signUp({ email, password, options: { data: { nick: 'ann' } } })
    expect(error).toBeNull()
    expect(data.session).toBeNull()
    expect(data.user).toMatchObject({ email, identities: [{ provider: 'email' }], user_metadata: { nick: 'ann' } })
    expect(data.user?.email_confirmed_at).toBeUndefined()
    expect((await own.auth.signInWithPassword({ email, password })).error).toMatchObject({
      name: 'AuthApiError',
      status: 400,
      code: 'email_not_confirmed',
    })
    const { link, mail } = await service.mailTo(email)
    expect(mail.subject).toBe('Confirm Your Signup')
    const page = await followAndVisit(own, link)
    expect(page.error).toBeNull()
    expect(page.location).toMatchObject({ hash: '' })
    expect(page.session).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { id: data.user?.id, email } })
    expect(page.session?.expires_at).toBe(Math.floor(service.now().getTime() / 1000) + 3600)
    expect(await page.event).toBe('SIGNED_IN')
    expect((await page.auth.refreshSession()).data.user?.email_confirmed_at).toBeDefined()
    expect((await own.auth.signInWithPassword({ email, password })).error).toBeNull()
  })

  test('with a proof key leads to a code, which the browser that began exchanges', async () => {
    const own = browser('pkce')
    const email = newAddress()
    await own.auth.signUp({ email, password })
    const { link } = await service.mailTo(email)
    const address = await follow(link)
    expect(address).toMatch(/^https:\/\/site\.test\/?\?code=[\w-]{32}$/)
    const page = await visit(own, address)
    expect(page.error).toBeNull()
    expect(page.location.href).not.toContain('code=')
    expect(page.session).toMatchObject({ expires_in: 3600, user: { email } })
    expect((await page.auth.getClaims()).data?.claims).toMatchObject({ amr: [{ method: 'email/signup' }] })
  })

  test('leads to the page that was named, with its query', async () => {
    for (const flowType of ['implicit', 'pkce'] as const) {
      const own = browser(flowType)
      const email = newAddress()
      const emailRedirectTo = 'https://branch-7.preview.test/welcome?plan=pro&step=2'
      await own.auth.signUp({ email, password, options: { emailRedirectTo } })
      const address = await follow((await service.mailTo(email)).link)
      const { origin, pathname, searchParams } = new URL(address)
      expect({ origin, pathname }).toEqual({ origin: 'https://branch-7.preview.test', pathname: '/welcome' })
      expect(Object.fromEntries(searchParams)).toMatchObject({ plan: 'pro', step: '2' })
      expect((await visit(own, address)).session).toMatchObject({ user: { email } })
    }
  })

  test('leads to the site where the page that was named is not on the list', async () => {
    const own = browser()
    const email = newAddress()
    await own.auth.signUp({ email, password, options: { emailRedirectTo: 'https://evil.test/welcome' } })
    expect(new URL(await follow((await service.mailTo(email)).link)).origin).toBe('https://site.test')
  })

  test('leads into an app on a phone', async () => {
    const own = browser('pkce')
    const email = newAddress()
    await own.auth.signUp({ email, password, options: { emailRedirectTo: 'com.shop.app://signed-in' } })
    const address = await follow((await service.mailTo(email)).link)
    expect(address).toMatch(/^com\.shop\.app:\/\/signed-in\/?\?code=/)
    const { data, error } = await own.auth.exchangeCodeForSession(new URL(address).searchParams.get('code') ?? '')
    expect(error).toBeNull()
    expect(data.session?.user.email).toBe(email)
  })

  test('with the address of somebody else is answered as if it were new, and sends nothing', async () => {
    const { email, id } = await join()
    pass(service, 900)
    const { data, error } = await browser().auth.signUp({ email, password: 'another horse' })
    expect(error).toBeNull()
    expect(data).toMatchObject({ session: null, user: { email, identities: [{ provider: 'email' }] } })
    expect(data.user?.id).not.toBe(id)
    expect((await browser().auth.signInWithPassword({ email, password })).error).toBeNull()
    expect(await mailsTo(email)).toHaveLength(1)
  })

  test('twice in a row has to wait', async () => {
    const { auth } = browser()
    const email = newAddress()
    await auth.signUp({ email, password })
    expect((await auth.signUp({ email, password })).error).toMatchObject({
      name: 'AuthApiError',
      status: 429,
      code: 'over_email_send_rate_limit',
      message: 'For security purposes, you can only request this after 900 seconds.',
    })
  })
})

describe('a link', () => {
  test('works once', async () => {
    const own = browser()
    const email = newAddress()
    await own.auth.signInWithOtp({ email })
    const { link } = await service.mailTo(email)
    await follow(link)
    const page = await followAndVisit(own, link)
    expect(page.error).toMatchObject({
      name: 'AuthImplicitGrantRedirectError',
      message: 'Email link is invalid or has expired',
      details: { error: 'access_denied', code: 'otp_expired' },
    })
    expect(page.session).toBeNull()
  })

  test('of a flow with a proof key tells in the query, too, what went wrong', async () => {
    const own = browser('pkce')
    const email = newAddress()
    await own.auth.signInWithOtp({ email })
    const { link } = await service.mailTo(email)
    await follow(link)
    const address = await follow(link)
    expect(new URL(address).searchParams.get('error_code')).toBe('otp_expired')
    const page = await visit(own, address)
    expect(page.error).toMatchObject({ details: { error: 'access_denied', code: 'otp_expired' } })
  })

  test('is over after a day', async () => {
    const own = browser()
    const email = newAddress()
    await own.auth.signInWithOtp({ email })
    const { link } = await service.mailTo(email)
    pass(service, 86_401)
    expect((await followAndVisit(own, link)).error).toMatchObject({ details: { code: 'otp_expired' } })
  })

  test('that a mail scanner looks at is still good', async () => {
    const own = browser()
    const email = newAddress()
    await own.auth.signInWithOtp({ email })
    const { link } = await service.mailTo(email)
    const { pathname, search } = new URL(link)
    const looked = await fetch(`${service.origin}${pathname}${search}`, { method: 'HEAD', redirect: 'manual' })
    expect(looked.headers.get('location')).not.toContain('token')
    expect((await followAndVisit(own, link)).session).toMatchObject({ user: { email } })
  })
})

describe('a magic link', () => {
  test('signs somebody in who has an account', async () => {
    const { email, id } = await join()
    const own = browser()
    expect(await own.auth.signInWithOtp({ email })).toEqual({ data: nobody, error: null })
    const { link, mail } = await service.mailTo(email)
    expect(mail.subject).toBe('Your Magic Link')
    const page = await followAndVisit(own, link)
    expect(page.session?.user.id).toBe(id)
    expect((await page.auth.getClaims()).data?.claims).toMatchObject({ sub: id, amr: [{ method: 'otp' }] })
  })

  test('with a proof key signs in the browser that asked for it', async () => {
    const { email, id } = await join()
    const own = browser('pkce')
    await own.auth.signInWithOtp({ email, options: { emailRedirectTo: 'https://site.test/in' } })
    const address = await follow((await service.mailTo(email)).link)
    expect(address).toMatch(/^https:\/\/site\.test\/in\?code=/)
    const page = await visit(own, address)
    expect(page.session?.user.id).toBe(id)
    expect((await page.auth.getClaims()).data?.claims).toMatchObject({ amr: [{ method: 'magiclink' }] })
  })

  test('signs up somebody unknown, with their data', async () => {
    const own = browser()
    const email = newAddress()
    await own.auth.signInWithOtp({ email, options: { data: { nick: 'bob' } } })
    const page = await followAndVisit(own, (await service.mailTo(email)).link)
    expect(page.session).toMatchObject({ user: { email, user_metadata: { nick: 'bob' } } })
  })

  test('for somebody unknown who is not to be signed up is answered alike, and not sent', async () => {
    const { email } = await join()
    const unknown = newAddress()
    const options = { shouldCreateUser: false }
    const known = await browser().auth.signInWithOtp({ email, options })
    expect(await browser().auth.signInWithOtp({ email: unknown, options })).toEqual(known)
    expect(await mailsTo(unknown)).toHaveLength(0)
    expect((await browser().auth.signInWithOtp({ email: unknown, options })).error).toMatchObject({
      status: 429,
      code: 'over_email_send_rate_limit',
    })
  })
})

describe('the code of a flow', () => {
  /** A flow whose link was followed, in the browser that began it. */
  async function begin() {
    const own = browser('pkce')
    const email = newAddress()
    await own.auth.signInWithOtp({ email })
    const address = await follow((await service.mailTo(email)).link)
    return { ...own, email, code: new URL(address).searchParams.get('code') ?? '' }
  }

  test('is worth nothing to another browser, and still good for the right one', async () => {
    const { auth, code, email } = await begin()
    const { auth: thief } = await begin()
    expect(await thief.exchangeCodeForSession(code)).toMatchObject({
      data: nobody,
      error: { name: 'AuthApiError', status: 400, code: 'bad_code_verifier' },
    })
    expect((await browser('pkce').auth.exchangeCodeForSession(code)).error).toMatchObject({
      name: 'AuthPKCECodeVerifierMissingError',
    })
    expect((await browser().auth.exchangeCodeForSession(code)).error).toMatchObject({ status: 400, code: 'validation_failed' })
    expect((await auth.exchangeCodeForSession(code)).data.session?.user.email).toBe(email)
  })

  test('works once', async () => {
    const { auth, kept, code } = await begin()
    const again = browser('pkce', new Map(kept)).auth
    expect((await auth.exchangeCodeForSession(code)).error).toBeNull()
    expect((await again.exchangeCodeForSession(code)).error).toMatchObject({
      name: 'AuthApiError',
      status: 404,
      code: 'flow_state_not_found',
    })
  })

  test('opens one session when it is exchanged twice at once', async () => {
    const { auth, kept, code } = await begin()
    const again = browser('pkce', new Map(kept)).auth
    const outcomes = await Promise.all([auth.exchangeCodeForSession(code), again.exchangeCodeForSession(code)])
    expect(outcomes.filter(({ error }) => error === null)).toHaveLength(1)
  })

  test('is over after five minutes', async () => {
    const { auth, code } = await begin()
    pass(service, 301)
    expect((await auth.exchangeCodeForSession(code)).error).toMatchObject({
      name: 'AuthApiError',
      status: 422,
      code: 'flow_state_expired',
    })
  })
})

type Sent = { email: string; code: string; token: string }
type Kind = 'signup' | 'invite' | 'magiclink' | 'recovery' | 'email' | 'email_change'

/** What a mail of each kind carries. */
const kinds: Record<Kind, (flowType: AuthFlowType) => Promise<Sent>> = {
  async signup(flowType) {
    const email = newAddress()
    await browser(flowType).auth.signUp({ email, password })
    return { email, ...(await service.mailTo(email)) }
  },
  async invite() {
    const email = newAddress()
    const { error } = await operator().admin.inviteUserByEmail(email)
    expect(error).toBeNull()
    return { email, ...(await service.mailTo(email)) }
  },
  async magiclink(flowType) {
    const { email } = await join()
    await browser(flowType).auth.signInWithOtp({ email })
    return { email, ...(await service.mailTo(email)) }
  },
  async recovery(flowType) {
    const { email } = await join()
    await browser(flowType).auth.resetPasswordForEmail(email)
    return { email, ...(await service.mailTo(email)) }
  },
  async email(flowType) {
    const email = newAddress()
    await browser(flowType).auth.signInWithOtp({ email })
    return { email, ...(await service.mailTo(email)) }
  },
  async email_change(flowType) {
    const { auth } = browser(flowType)
    await auth.signInAnonymously()
    const email = newAddress()
    await auth.updateUser({ email })
    return { email, ...(await service.mailTo(email)) }
  },
}

const operator = () =>
  new AuthClient({ url: service.origin, headers: { Authorization: adminAuthorization(service) }, autoRefreshToken: false })

const everyKind = Object.keys(kinds) as Kind[]

describe('verifyOtp', () => {
  test.each(everyKind)('takes the code of %s, once', async (type) => {
    const { email, code: token } = await kinds[type]('implicit')
    const { auth } = browser()
    const { data, error } = await auth.verifyOtp({ type, email, token })
    expect(error).toBeNull()
    expect(data).toMatchObject({ user: { email }, session: { token_type: 'bearer', expires_in: 3600, user: { email } } })
    expect(data.user?.email_confirmed_at).toBeDefined()
    expect((await auth.getUser()).data.user?.id).toBe(data.user?.id)
    expect(await browser().auth.verifyOtp({ type, email, token })).toMatchObject({ data: nobody, error: expired })
  })

  test.each(everyKind)('takes what the link of %s carries, once', async (type) => {
    const { email, token: token_hash } = await kinds[type]('implicit')
    const { data, error } = await browser().auth.verifyOtp({ type, token_hash })
    expect(error).toBeNull()
    expect(data).toMatchObject({ user: { email }, session: { user: { email } } })
    expect((await browser().auth.verifyOtp({ type, token_hash })).error).toMatchObject({
      ...expired,
      message: 'Email link is invalid or has expired',
    })
  })

  // A server that renders pages verifies what the link carries by itself, whoever began.
  test.each(everyKind.filter((type) => type !== 'invite'))(
    'takes what the link of %s carries in a flow with a proof key',
    async (type) => {
      const { email, token: token_hash } = await kinds[type]('pkce')
      expect(token_hash).toMatch(/^pkce_/)
      const { data, error } = await browser('pkce').auth.verifyOtp({ type, token_hash })
      expect(error).toBeNull()
      expect(data.session).toMatchObject({ expires_in: 3600, user: { email } })
    },
  )

  test('takes the code of a flow with a proof key', async () => {
    const { email, code: token } = await kinds.email('pkce')
    expect((await browser('pkce').auth.verifyOtp({ type: 'email', email, token })).error).toBeNull()
  })

  test('takes either code of somebody who signs in by mail as email', async () => {
    for (const { email, code: token } of [await kinds.signup('implicit'), await kinds.magiclink('implicit')])
      expect((await browser().auth.verifyOtp({ type: 'email', email, token })).error).toBeNull()
  })

  test('says that a password is to be recovered', async () => {
    const { email, code: token } = await kinds.recovery('implicit')
    const { auth } = browser()
    const events: string[] = []
    auth.onAuthStateChange((event) => void events.push(event))
    await auth.verifyOtp({ type: 'recovery', email, token, options: { redirectTo: 'https://site.test/new-password' } })
    expect(events).toContain('PASSWORD_RECOVERY')
  })

  test('refuses a wrong code, one of another kind and one of somebody else', async () => {
    const { email, code: token } = await kinds.magiclink('implicit')
    const wrong = token === '000000' ? '000001' : '000000'
    expect(await browser().auth.verifyOtp({ type: 'magiclink', email, token: wrong })).toMatchObject({
      data: nobody,
      error: { ...expired, message: 'Token has expired or is invalid' },
    })
    expect((await browser().auth.verifyOtp({ type: 'signup', email, token })).error).toMatchObject(expired)
    expect((await browser().auth.verifyOtp({ type: 'magiclink', email: newAddress(), token })).error).toMatchObject(expired)
    expect((await browser().auth.verifyOtp({ type: 'magiclink', email, token })).error).toBeNull()
  })

  test('lets in exactly one of those who present a code at once', async () => {
    const { email, code: token, token: token_hash } = await kinds.email('implicit')
    const outcomes = await Promise.all([
      browser().auth.verifyOtp({ type: 'email', email, token }),
      browser().auth.verifyOtp({ type: 'email', email, token }),
      browser().auth.verifyOtp({ type: 'email', token_hash }),
    ])
    expect(outcomes.filter(({ error }) => error === null)).toHaveLength(1)
    for (const { error } of outcomes) if (error) expect(error).toMatchObject(expired)
  })

  test('of somebody invited as a sign-up asks for a password, and uses nothing up', async () => {
    const { email, token: token_hash } = await kinds.invite('implicit')
    const { auth } = browser()
    expect((await auth.verifyOtp({ type: 'signup', token_hash })).error).toMatchObject({
      name: 'AuthApiError',
      status: 422,
      code: 'validation_failed',
    })
    // The client hands on what it does not know.
    const withPassword = { type: 'signup' as const, token_hash, password }
    expect((await auth.verifyOtp(withPassword)).error).toBeNull()
    expect((await browser().auth.signInWithPassword({ email, password })).error).toBeNull()
  })

  test('refuses a code that is a day old', async () => {
    const { email, code: token } = await kinds.email('implicit')
    pass(service, 86_401)
    expect((await browser().auth.verifyOtp({ type: 'email', email, token })).error).toMatchObject(expired)
  })
})

describe('a forgotten password', () => {
  test('is replaced by way of the link, and the old one and the old sessions are gone', async () => {
    const { auth: old, email, session } = await join()
    const own = browser()
    expect(await own.auth.resetPasswordForEmail(email, { redirectTo: 'https://site.test/new-password' })).toMatchObject({
      error: null,
    })
    const { link, mail } = await service.mailTo(email)
    expect(mail.subject).toBe('Reset Your Password')
    const page = await followAndVisit(own, link)
    expect(page.location.href).toMatch(/^https:\/\/site\.test\/new-password/)
    expect(await page.event).toBe('PASSWORD_RECOVERY')
    expect((await page.auth.updateUser({ password: 'another horse' })).error).toBeNull()
    expect((await old.refreshSession()).error).toMatchObject({ code: 'refresh_token_not_found' })
    expect((await browser().auth.refreshSession(session)).error).toMatchObject({ code: 'refresh_token_not_found' })
    expect((await browser().auth.signInWithPassword({ email, password })).error).toMatchObject({ code: 'invalid_credentials' })
    expect((await browser().auth.signInWithPassword({ email, password: 'another horse' })).error).toBeNull()
    expect((await page.auth.refreshSession()).error).toBeNull()
  })

  test('is replaced by way of a code for the browser that asked', async () => {
    const { email } = await join()
    const own = browser('pkce')
    await own.auth.resetPasswordForEmail(email)
    const address = await follow((await service.mailTo(email)).link)
    const { data, error } = await own.auth.exchangeCodeForSession(new URL(address).searchParams.get('code') ?? '')
    expect(error).toBeNull()
    expect(data).toMatchObject({ redirectType: 'recovery', session: { user: { email } } })
    expect((await own.auth.getClaims()).data?.claims).toMatchObject({ amr: [{ method: 'recovery' }] })
    expect((await own.auth.updateUser({ password: 'another horse' })).error).toBeNull()
    expect((await browser().auth.signInWithPassword({ email, password: 'another horse' })).error).toBeNull()
  })

  test('of somebody unknown is answered alike, and has to wait alike', async () => {
    const { email } = await join()
    const unknown = newAddress()
    const { auth } = browser()
    expect(await auth.resetPasswordForEmail(unknown)).toEqual(await auth.resetPasswordForEmail(email))
    const again = await auth.resetPasswordForEmail(email)
    expect(again.error).toMatchObject({ name: 'AuthApiError', status: 429, code: 'over_email_send_rate_limit' })
    expect((await auth.resetPasswordForEmail(unknown)).error).toEqual(again.error)
    expect(await mailsTo(unknown)).toHaveLength(0)
  })
})

describe('a new address', () => {
  test('has to be confirmed from both sides, in whatever order', async () => {
    for (const newFirst of [true, false]) {
      const { auth, email, id } = await join()
      const newEmail = newAddress()
      const { data, error } = await auth.updateUser({ email: newEmail })
      expect(error).toBeNull()
      expect(data.user).toMatchObject({ email, new_email: newEmail })
      const sides = [
        { email, token: (await service.mailTo(email)).code },
        { email: newEmail, token: (await service.mailTo(newEmail)).code },
      ]
      const [first, second] = newFirst ? sides.toReversed() : sides
      if (!first || !second) throw new Error('There are not two mails')
      expect(await auth.verifyOtp({ type: 'email_change', ...first })).toEqual({ data: nobody, error: null })
      expect((await auth.getUser()).data.user).toMatchObject({ email, new_email: newEmail })
      expect(await auth.verifyOtp({ type: 'email_change', ...second })).toMatchObject({
        error: null,
        data: { user: { id, email: newEmail }, session: { user: { email: newEmail } } },
      })
      expect((await auth.getUserIdentities()).data?.identities).toMatchObject([{ identity_data: { email: newEmail } }])
      expect((await browser().auth.signInWithPassword({ email: newEmail, password })).error).toBeNull()
      expect((await browser().auth.signInWithPassword({ email, password })).error).toMatchObject({ code: 'invalid_credentials' })
    }
  })

  test('is confirmed by two links, the first of which leads to a page that says so', async () => {
    const own = await join()
    const newEmail = newAddress()
    await own.auth.updateUser({ email: newEmail }, { emailRedirectTo: 'https://site.test/account' })
    const address = await follow((await service.mailTo(own.email)).link)
    expect(new URLSearchParams(new URL(address).hash.slice(1)).get('message')).toBe(
      'Confirmation link accepted. Please proceed to confirm link sent to the other email',
    )
    const first = await visit(own, address)
    expect(first.error).toBeNull()
    expect(first.session?.user.email).toBe(own.email)
    const second = await followAndVisit(own, (await service.mailTo(newEmail)).link)
    expect(second.error).toBeNull()
    expect(second.session?.user).toMatchObject({ id: own.id, email: newEmail })
  })

  test('is confirmed by two links in a flow with a proof key, and shows at the next refresh', async () => {
    const own = await join('pkce')
    const newEmail = newAddress()
    await own.auth.updateUser({ email: newEmail })
    const first = await visit(own, await follow((await service.mailTo(own.email)).link))
    expect(first).toMatchObject({ error: null, session: { user: { email: own.email } } })
    const address = await follow((await service.mailTo(newEmail)).link)
    expect(new URL(address).searchParams.get('code')).toMatch(/^[\w-]{32}$/)
    // This client forgets its verifier as soon as it keeps the answer to updateUser, so that it goes on with the session that it has.
    const second = await visit(own, address)
    expect(second).toMatchObject({ error: null, session: { refresh_token: own.session.refresh_token } })
    expect((await second.auth.refreshSession()).data.user).toMatchObject({ id: own.id, email: newEmail })
  })

  test('makes somebody anonymous permanent, who then chooses a password', async () => {
    const { auth } = browser()
    const { data: before } = await auth.signInAnonymously()
    const email = newAddress()
    expect((await auth.updateUser({ email })).data.user).toMatchObject({ new_email: email, is_anonymous: true })
    const { code: token } = await service.mailTo(email)
    const { data } = await auth.verifyOtp({ type: 'email_change', email, token })
    expect(data.user).toMatchObject({ id: before.user?.id, email, is_anonymous: false, identities: [{ provider: 'email' }] })
    expect((await auth.updateUser({ password })).error).toBeNull()
    expect((await browser().auth.signInWithPassword({ email, password })).data.user?.id).toBe(before.user?.id)
  })
})

describe('resend', () => {
  test('sends the confirmation of a sign-up again after the interval, and the first one is over', async () => {
    const { auth } = browser()
    const email = newAddress()
    await auth.signUp({ email, password })
    const first = await service.mailTo(email)
    expect((await auth.resend({ type: 'signup', email })).error).toMatchObject({
      name: 'AuthApiError',
      status: 429,
      code: 'over_email_send_rate_limit',
    })
    pass(service, 901)
    expect(await auth.resend({ type: 'signup', email })).toEqual({ data: nobody, error: null })
    const second = await service.mailTo(email)
    expect((await auth.verifyOtp({ type: 'signup', token_hash: first.token })).error).toMatchObject(expired)
    expect((await auth.verifyOtp({ type: 'signup', email, token: second.code })).error).toBeNull()
  })

  test('sends the confirmation of a sign-up again in a flow with a proof key, to another page', async () => {
    const own = browser('pkce')
    const email = newAddress()
    await own.auth.signUp({ email, password })
    await service.mailTo(email)
    pass(service, 901)
    await own.auth.resend({ type: 'signup', email, options: { emailRedirectTo: 'https://site.test/again' } })
    const page = await followAndVisit(own, (await service.mailTo(email)).link)
    expect(page.location.href).toBe('https://site.test/again')
    expect(page.session?.user.email).toBe(email)
  })

  test('sends both mails of a change of address again', async () => {
    const { auth, email } = await join()
    const newEmail = newAddress()
    await auth.updateUser({ email: newEmail })
    for (const address of [email, newEmail]) await service.mailTo(address)
    pass(service, 61)
    expect((await auth.resend({ type: 'email_change', email })).error).toBeNull()
    for (const address of [email, newEmail]) {
      const { code: token } = await service.mailTo(address)
      expect((await auth.verifyOtp({ type: 'email_change', email: address, token })).error).toBeNull()
    }
    expect((await auth.getUser()).data.user?.email).toBe(newEmail)
  })

  test('is answered alike where there is nothing to send', async () => {
    const { auth, email } = await join()
    pass(service, 901)
    expect(await auth.resend({ type: 'signup', email })).toEqual({ data: nobody, error: null })
    expect(await auth.resend({ type: 'signup', email: newAddress() })).toEqual({ data: nobody, error: null })
    expect(await mailsTo(email)).toHaveLength(1)
  })
})

test('an invitation leads in, and the guest chooses a password', async () => {
  const email = newAddress()
  const { data, error } = await operator().admin.inviteUserByEmail(email, {
    data: { team: 'blue' },
    redirectTo: 'https://site.test/join',
  })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, user_metadata: { team: 'blue' } })
  expect(data.user?.invited_at).toBeDefined()
  const { link, mail } = await service.mailTo(email)
  expect(mail.subject).toBe('You have been invited')
  const page = await followAndVisit(browser(), link)
  expect(page.location.href).toMatch(/^https:\/\/site\.test\/join/)
  expect(page.session?.user).toMatchObject({ id: data.user?.id, email })
  expect((await page.auth.updateUser({ password })).error).toBeNull()
  expect((await browser().auth.signInWithPassword({ email, password })).error).toBeNull()
})

test('a token that the secret signed is proved by asking the service', async () => {
  const { auth, id } = await join()
  const { data, error } = await auth.getClaims()
  expect(error).toBeNull()
  expect(data).toMatchObject({ header: { alg: 'HS256' }, claims: { sub: id, amr: [{ method: 'otp' }] } })
  const { access_token } = (await auth.getSession()).data.session as Session
  expect((await auth.getClaims(`${access_token.slice(0, -4)}AAAA`)).error).toMatchObject({ status: 403, code: 'bad_jwt' })
})
