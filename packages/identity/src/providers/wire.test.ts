import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Env } from '@tollgate/kit/env'
import type { FakeAnswer } from '@tollgate/kit/http-fake'
import { caller, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createAccount, requiredSettings, startWithInbox } from '../testing.ts'
import { providers } from './all.ts'
import type { Claims } from './provider.ts'
import { type Forgery, type Person, type ProviderFake, startProvider, startTwitter, twitterFacts, wires } from './wire-fakes.ts'

type Service = Awaited<ReturnType<typeof startWithInbox>>

const fakes = new Map<string, ProviderFake>()
/** Those that point the service to the fakes. */
let settings: Env
let service: Service
/** The same where people need no address, nor have to confirm one that nobody vouches for. */
let lenient: Service

beforeAll(async () => {
  const started = [startTwitter(), ...Object.entries(wires).map(([name, wire]) => startProvider(name, wire, () => service.now()))]
  for (const fake of await Promise.all(started)) fakes.set(fake.name, fake)
  settings = Object.assign({}, ...[...fakes.values()].map((fake) => fake.settings))
  const optional = names.map((name) => [`AUTH_EXTERNAL_${name.toUpperCase()}_EMAIL_OPTIONAL`, 'true'])
  service = await startWithInbox(settings)
  const unproved = { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' }
  lenient = await startWithInbox({ ...settings, ...Object.fromEntries(optional), ...unproved })
})
beforeEach(() => {
  for (const fake of fakes.values()) Object.assign(fake, { trouble: {}, change: (told: Claims) => told, complaints: [] })
})
afterAll(async () => {
  await Promise.all([service.stop(), lenient.stop()])
  await Promise.all([...fakes.values()].map((fake) => fake.close()))
})

const names = ['twitter', ...Object.keys(wires)]
const factsOf = (name: string) => wires[name] ?? twitterFacts
const withProfilePlaces = names.filter((name) => Object.keys(wires[name]?.places ?? { twitter: true }).length > 0)
/** Those that send id tokens along. */
const withIdTokens = names.filter((name) => wires[name]?.idTokens)
const doubtful = names.filter((name) => factsOf(name).vouches !== 'always')

let people = 0

function somebody(given: { email?: undefined; name?: undefined; verified?: boolean } = {}): Required<Person> {
  const number = 700_000_000 + ++people
  const person = { number, id: String(number), email: `p${number}@mail.test`, verified: true }
  return { ...person, name: { given: 'Ada', family: 'Lovelace' }, ...given } as Required<Person>
}

const fakeOf = (name: string) => fakes.get(name) as ProviderFake

type Back = { status: number; to: URL; query: Record<string, string>; fragment: Record<string, string>; complaints: string[] }

/** Goes all the way as a browser does: to the provider, which lets the person in, and back. */
async function signIn(name: string, person: Person, at = service): Promise<Back> {
  const fake = fakeOf(name)
  fake.person = person
  const left = await at.call(`GET /authorize?${new URLSearchParams({ provider: name, ...factsOf(name).query })}`)
  const there = new URL(String(left.headers.location))
  expect([left.status, there.origin + there.pathname]).toEqual([302, fake.authorize])
  const letIn = await caller(there.origin)(`GET ${there.pathname}${there.search}`)
  expect(fake.complaints).toEqual([])
  const form = letIn.headers.location === undefined
  const back = await (form
    ? at.call('POST /callback', { raw: letIn.text, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    : at.call(`GET /callback${new URL(String(letIn.headers.location)).search}`))
  const to = new URL(String(back.headers.location))
  return {
    status: back.status,
    to,
    query: Object.fromEntries(to.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(to.hash.slice(1))),
    complaints: fake.complaints,
  }
}

type Identity = { provider: string; id: string; email?: string; identity_data: Record<string, unknown> }
type User = {
  id: string
  email: string
  email_confirmed_at?: string
  app_metadata: Record<string, unknown>
  user_metadata: Record<string, unknown>
  identities: Identity[]
}

async function userOf({ fragment, complaints, query }: Back, at = service): Promise<User> {
  expect({ complaints, query }).toEqual({ complaints: [], query: {} })
  const answer = await at.call('GET /user', { headers: { authorization: `Bearer ${fragment.access_token}` } })
  return answer.json<User>()
}

test('every provider of the list has a fake', () => {
  expect(names.toSorted()).toEqual(providers.map(({ name }) => name).toSorted())
  expect(names).toHaveLength(24)
})

test.each(Object.keys(wires))('%s: more scopes are added to the usual ones', async (name) => {
  const left = await service.call(`GET /authorize?${new URLSearchParams({ provider: name, scopes: 'more,other more' })}`)
  const { searchParams } = new URL(String(left.headers.location))
  expect(searchParams.get('scope')).toBe([wires[name]?.scope ?? [], 'more', 'other'].flat().join(' '))
})

describe('somebody whom the provider knows everything of', () => {
  test.each(names)('%s', async (name) => {
    const facts = factsOf(name)
    const person = somebody()
    // Whose address nobody vouches for is let in after a mail, of which there is a test below.
    const confirmed = facts.vouches !== 'never'
    if (!confirmed) await confirmByMail(name, person)
    const back = await signIn(name, person)
    expect(back.fragment).toMatchObject({ provider: name, token_type: 'bearer' })
    expect(back.fragment).not.toHaveProperty('provider_token')
    const user = await userOf(back)
    const subject = facts.subject?.(person) ?? person.id
    const data = {
      sub: subject,
      provider_id: subject,
      email: person.email,
      email_verified: confirmed,
      phone_verified: false,
      ...facts.kept(person, new URL(fakeOf(name).authorize).origin),
    }
    expect(user).toMatchObject({
      email: person.email,
      email_confirmed_at: service.now().toISOString(),
      app_metadata: { provider: name, providers: [name] },
    })
    expect(user.identities).toHaveLength(1)
    expect(user.identities[0]).toMatchObject({ provider: name, id: subject, email: person.email })
    expect(user.identities[0]?.identity_data).toEqual(data)
    expect(user.user_metadata).toEqual(data)

    const again = await userOf(await signIn(name, person))
    expect(again.id).toBe(user.id)
  })
})

async function confirmByMail(name: string, person: Required<Person>) {
  const back = await signIn(name, person)
  expect(back.query).toMatchObject({ error: 'access_denied', error_code: 'provider_email_needs_verification' })
  const { token, type } = await service.mailTo(person.email)
  expect((await service.call('POST /verify', { json: { type, token_hash: token } })).status).toBe(200)
}

describe('odd people', () => {
  test.each(names)('%s: without an address nobody gets in, unless that is allowed', async (name) => {
    const person = somebody({ email: undefined })
    const back = await signIn(name, person)
    expect([back.status, back.to.origin, back.complaints]).toEqual([302, 'https://site.test', []])
    expect(back.query).toEqual({
      error: 'server_error',
      error_code: 'unexpected_failure',
      error_description: 'Error getting user email from external provider',
    })
    const user = await userOf(await signIn(name, person, lenient), lenient)
    expect(user).toMatchObject({ email: '', app_metadata: { provider: name } })
    expect(user).not.toHaveProperty('email_confirmed_at')
    expect(user.identities[0]?.identity_data).toMatchObject({ email_verified: false })
    expect(user.identities[0]?.identity_data).not.toHaveProperty('email')
  })

  test.each(names)('%s: without a name they are called as the provider calls them, or not at all', async (name) => {
    const person = somebody({ name: undefined })
    const user = await userOf(await signIn(name, person, lenient), lenient)
    expect(user.identities[0]?.identity_data.full_name).toBe(factsOf(name).nameless?.(person))
  })

  test.each(doubtful)('%s: an address that it does not vouch for opens nobody’s account', async (name) => {
    const person = somebody({ verified: false })
    const { userId } = await createAccount(service, { email: person.email })
    const user = await userOf(await signIn(name, person))
    expect(user.id).not.toBe(userId)
    expect(user).toMatchObject({ email: '', app_metadata: { providers: [name] } })
    expect(user.identities[0]?.identity_data).toMatchObject({ email: person.email, email_verified: false })
  })

  test.each(doubtful)('%s: an address that it does not vouch for has to be confirmed by mail', async (name) => {
    const person = somebody({ verified: false })
    const back = await signIn(name, person)
    expect(back.fragment).not.toHaveProperty('access_token')
    expect(back.query).toEqual({
      error: 'access_denied',
      error_code: 'provider_email_needs_verification',
      error_description: `Unverified email with ${name}. A confirmation email has been sent to your ${name} email`,
    })
    const [row] = await service.app.db`select email_confirmed_at as confirmed from auth.users where email = ${person.email}`
    expect(row).toEqual({ confirmed: null })
  })

  test.each(names.filter((name) => factsOf(name).vouches !== 'never'))(
    '%s: an address that it vouches for opens the account that has it',
    async (name) => {
      const person = somebody()
      const createdAt = new Date(service.now().getTime() - 1000)
      const { userId } = await createAccount(service, { email: person.email, createdAt })
      const user = await userOf(await signIn(name, person))
      expect(user).toMatchObject({ id: userId, app_metadata: { provider: 'email', providers: ['email', name] } })
    },
  )

  test.each(['bitbucket', 'github'])(
    '%s: of several addresses every confirmed one opens an account, and no other',
    async (name) => {
      const [one, other] = [somebody(), somebody()]
      const { userId: first } = await createAccount(service, { email: `first-${one.id}@mail.test` })
      expect((await userOf(await signIn(name, one))).id).toBe(first)
      const { userId: last } = await createAccount(service, { email: `last-${other.id}@mail.test` })
      const user = await userOf(await signIn(name, other))
      expect([user.id === last, user.email]).toEqual([false, other.email])
    },
  )

  test('gitlab: no address but the first opens an account, whatever it says of the others', async () => {
    const person = somebody()
    const { userId } = await createAccount(service, { email: `last-${person.id}@mail.test` })
    expect((await userOf(await signIn('gitlab', person))).id).not.toBe(userId)
  })

  test('google: who gets no id token is asked for at the older endpoint', async () => {
    fakeOf('google').trouble.idToken = 'none at all'
    const person = somebody()
    const user = await userOf(await signIn('google', person))
    expect(user).toMatchObject({ email: person.email, email_confirmed_at: expect.any(String) })
    expect(user.identities[0]).toMatchObject({
      id: person.id,
      identity_data: { full_name: 'Ada Lovelace', email_verified: true },
    })
  })

  test('azure: an address is vouched for where the tenant is not asked whether the domain is its own', async () => {
    fakeOf('azure').change = ({ xms_edov: _, ...told }) => told
    expect(await userOf(await signIn('azure', somebody()))).toHaveProperty('email_confirmed_at')
  })

  test('kakao: an address that has become somebody else’s is not vouched for', async () => {
    fakeOf('kakao').change = ({ kakao_account, ...told }) => ({
      ...told,
      kakao_account: { ...(kakao_account as Claims), is_email_valid: false },
    })
    expect((await signIn('kakao', somebody())).query).toMatchObject({ error_code: 'provider_email_needs_verification' })
  })

  test.each(['keycloak', 'slack_oidc'])('%s: nobody gets in who is somebody else in the id token', async (name) => {
    fakeOf(name).change = (told) => (told.sub === undefined ? told : { ...told, sub: 'somebody else' })
    expect((await signIn(name, somebody())).query).toMatchObject(noProfile)
  })

  const unkeepable = 'a\u0000b\ud800c'
  test.each(names)('%s: signs that cannot be kept keep nobody out', async (name) => {
    fakeOf(name).change = (told) => spoil(told, unkeepable)
    const back = await signIn(name, somebody(), lenient)
    expect([back.status, back.to.origin]).toEqual([302, 'https://site.test'])
    expect(back.fragment).toHaveProperty('access_token')
  })
})

const ids = new Set(['id', 'id_str', 'uuid', 'sub', 'user_id', 'externalId', 'https://slack.com/user_id'])

const withOtherIds = (told: Claims, id: string | undefined): unknown =>
  JSON.parse(JSON.stringify(told), (field, value) => (ids.has(field) ? id : value))

/** Adds signs to every text but those that somebody is known by. */
function spoil(told: unknown, signs: string): unknown {
  if (Array.isArray(told)) return told.map((each) => spoil(each, signs))
  if (typeof told !== 'object' || told === null) return told
  const isKept = (field: string) => ids.has(field) || /email/i.test(field)
  const entries = Object.entries(told).map(([field, value]) => {
    const change = typeof value === 'string' && !isKept(field) && !/^https?:/.test(value)
    return [field, change ? `${value}${signs}` : isKept(field) ? value : spoil(value, signs)]
  })
  return Object.fromEntries([...entries, ['unheard_of', { deep: [signs], [signs]: true }]])
}

const noProfile = {
  error: 'server_error',
  error_code: 'unexpected_failure',
  error_description: 'Error getting user profile from external provider',
}
const noExchange = { ...noProfile, error_description: 'Unable to exchange external code: abcd' }

describe('providers in trouble', () => {
  const theirs = 'their-own-words'
  const html = { headers: { 'content-type': 'text/html' }, text: `<html><p>${theirs} access_token ${theirs}</p></html>` }
  /** What every provider is tried with. */
  const common: Record<string, FakeAnswer> = {
    'an error of its own': { status: 500, json: { error: theirs, access_token: theirs } },
    HTML: html,
    'an empty answer': {},
  }
  /** What is the same for all who share the way in which they are asked. */
  const rare: Record<string, FakeAnswer> = {
    'no answer': 'cut',
    'half an answer': 'cut in the middle',
    'no HTTP': 'garbage',
    'a redirect': { status: 302, headers: { location: 'https://evil.test/' } },
  }
  const refusal = { status: 401, json: { error: theirs, error_description: theirs, message: theirs } }
  const otherJson: Record<string, FakeAnswer> = {
    'a refusal': refusal,
    'a list': { json: [theirs] },
    null: { json: null },
    'an object without anything': { json: {} },
  }
  const lookalike = {
    'an error that looks like success': {
      json: { error: 'bad_verification_code', error_description: theirs, error_uri: theirs },
    },
  }
  const noToken: Record<string, FakeAnswer> = {
    'an error that is no word': { json: { error: { message: theirs, code: 190 } } },
    'a token that is no text': { json: { access_token: { theirs }, token_type: 'bearer' } },
  }
  const each = (all: readonly string[], answers: Record<string, FakeAnswer>) =>
    all.flatMap((name) => Object.entries(answers).map(([what, answer]) => ({ name, what, answer })))
  /** One for each way to ask for a token. */
  const ways = ['github', 'spotify', 'notion', 'twitter']
  const tokenTroubles = [...each(names, { ...common, ...lookalike }), ...each(ways, { ...rare, ...otherJson, ...noToken })]
  const profileTroubles = [...each(withProfilePlaces, { ...common, ...otherJson }), ...each(['github', 'twitter'], rare)]

  /** Nobody gets in, and nothing of it is told or written down. */
  async function expectRefusal(name: string, expected: Record<string, unknown>) {
    const before = lenient.lines.length
    const fake = fakeOf(name)
    const back = await signIn(name, somebody(), lenient)
    expect([back.status, back.to.origin]).toEqual([302, 'https://site.test'])
    expect(back.query).toEqual(expected)
    expect(back.fragment).toEqual({ ...expected, sb: '' })
    const lines = lenient.lines.slice(before)
    expect(lines.filter(({ message, status }) => message === 'request' && Number(status) >= 500)).toEqual([])
    const written = JSON.stringify(lines)
    for (const secret of [theirs, ...fake.secrets]) {
      expect(back.to.href).not.toContain(secret)
      expect(written.includes(JSON.stringify(secret).slice(1, -1)) && secret).toBe(false)
    }
    return written
  }

  test.each(tokenTroubles)('$name: $what instead of a token', async ({ name, answer }) => {
    fakeOf(name).trouble.token = answer
    const written = await expectRefusal(name, name === 'twitter' ? noProfile : noExchange)
    expect(written).toMatch(new RegExp(`"provider":"${name}"`))
  })

  test.each(profileTroubles)('$name: $what instead of a profile', async ({ name, answer }) => {
    if (name === 'google') fakeOf(name).trouble.idToken = 'none at all'
    fakeOf(name).trouble.profile = answer
    const written = await expectRefusal(name, noProfile)
    expect(written).toMatch(new RegExp(`"provider":"${name}"`))
  })

  test('none that never answers keeps anybody waiting for longer than was set', async () => {
    const hasty = await startWithInbox({ ...settings, AUTH_INTERNAL_HTTP_TIMEOUT: '0.5' })
    onTestFinished(() => hasty.stop())
    for (const fake of fakes.values()) fake.trouble.token = 'hang'
    const backs = await Promise.all(names.map((name) => signIn(name, somebody(), hasty)))
    const told = backs.map(({ query }) => query.error_description)
    expect(told).toEqual(names.map((name) => (name === 'twitter' ? noProfile : noExchange).error_description))
  })

  test.each(each(['twitter'], { ...common, ...rare, ...otherJson }))(
    '$name: $what instead of a request token',
    async ({ answer }) => {
      fakeOf('twitter').trouble.requestToken = answer
      const left = await service.call('GET /authorize?provider=twitter')
      expect([left.status, left.headers.location]).toEqual([503, undefined])
      expect(left.text).not.toContain(theirs)
    },
  )

  const forgeries: [Forgery, string][] = [
    ['no JWT', 'The ID token is not'],
    ['audience', 'The ID token was issued to another application'],
    ['issuer', 'The ID token comes from an issuer that is not accepted'],
    ['key', 'The ID token has a wrong signature'],
    ['nonce', 'The ID token has another nonce than was expected'],
  ]
  const forged = withIdTokens.flatMap((name) => forgeries.map(([forgery, words]) => ({ name, forgery, words })))
  test.each(forged.filter(({ name, forgery }) => forgery !== 'nonce' || wires[name]?.nonce))(
    '$name: an id token with another $forgery',
    async ({ name, forgery, words }) => {
      fakeOf(name).trouble.idToken = forgery
      await expectRefusal(name, {
        error: 'invalid_request',
        error_code: 'bad_oauth_callback',
        error_description: expect.stringContaining(words),
      })
    },
  )

  test.each(withIdTokens.filter((name) => !withProfilePlaces.includes(name)))('%s: no id token at all', async (name) => {
    fakeOf(name).trouble.idToken = 'none at all'
    await expectRefusal(name, noProfile)
  })

  // Of an id token the fake writes the subject itself; what becomes of one without is told where those are tested.
  const withIds = names.filter((name) => name === 'workos' || withProfilePlaces.includes(name))
  test.each(withIds)('%s: somebody without an id is nobody', async (name) => {
    if (name === 'google') fakeOf(name).trouble.idToken = 'none at all'
    fakeOf(name).change = (told) => withOtherIds(told, undefined)
    await expectRefusal(name, noProfile)
  })

  test.each(withIds)('%s: somebody with an id that is too long to be one is nobody', async (name) => {
    if (name === 'google') fakeOf(name).trouble.idToken = 'none at all'
    fakeOf(name).change = (told) => withOtherIds(told, randomBytes(5000).toString('hex'))
    await expectRefusal(name, noProfile)
  })
})

describe('a provider that is added by one file and one line', () => {
  const root = join(import.meta.dirname, '../../../..')
  const run = promisify(execFile)

  /** The tree as it is, with room for changes: the identity service and the tool that prints documents are copies. */
  async function copyTree(): Promise<string> {
    const tree = await mkdtemp(join(tmpdir(), 'tollgate-provider-'))
    onTestFinished(() => rm(tree, { recursive: true }))
    const modules = join(tree, 'node_modules')
    await mkdir(join(modules, '@tollgate'), { recursive: true })
    const linked = (await readdir(join(root, 'node_modules'))).filter((name) => name !== '@tollgate')
    await Promise.all([
      ...linked.map((name) => symlink(join(root, 'node_modules', name), join(modules, name))),
      ...['kit', 'payments'].map((name) => symlink(join(root, 'packages', name), join(modules, '@tollgate', name))),
      symlink(join(tree, 'packages/identity'), join(modules, '@tollgate/identity')),
      cp(join(root, 'packages/identity'), join(tree, 'packages/identity'), {
        recursive: true,
        filter: (path) => !path.endsWith('.test.ts'),
      }),
      cp(join(root, 'tools'), join(tree, 'tools'), { recursive: true }),
      cp(join(root, 'package.json'), join(tree, 'package.json')),
    ])
    return tree
  }

  const acme = `import type { Provider } from './provider.ts'

export const acme: Provider = {
  name: 'acme',
  base: 'https://acme.test',
  authorize: '/authorize',
  token: '/token',
  scopes: ['email'],
  profile: async ({ get, api }) => ({ subject: String((await get(\`\${api}/me\`)).id), emails: [] }),
}
`

  const ask = `import { systemClock } from '@tollgate/kit/clock'
import { identity } from '@tollgate/identity/main'
import { createLog } from '@tollgate/kit/log'
import { startService } from '@tollgate/kit/service'

const telemetry = { metrics: undefined, startSpan: undefined, snapshot: () => undefined, stop: async () => {} }
const log = createLog({ level: 'error', service: 'test', sink: { write() {}, flush() {} } })
const { config } = identity.settings.read(process.env)
const running = await startService(identity, config, { log, telemetry, now: systemClock, strict: true })
const get = (path) => fetch(\`http://127.0.0.1:\${running.port}\${path}\`, { redirect: 'manual' })
const { external } = await (await get('/settings')).json()
const location = (await get('/authorize?provider=acme')).headers.get('location')
const openapi = JSON.stringify(await (await get('/openapi.json')).json())
await running.stop(0)
await import('./tools/docs.ts')
console.log(JSON.stringify({ external, location, inOpenapi: /\\bacme\\b/.test(openapi) }))
`

  test('is in settings, /settings and documents, and can be gone to', async () => {
    const [tree, database] = await Promise.all([copyTree(), scratchDatabase('template_identity')])
    onTestFinished(() => database.drop())
    const list = join(tree, 'packages/identity/src/providers/all.ts')
    await writeFile(join(tree, 'packages/identity/src/providers/acme.ts'), acme)
    const before = await readFile(list, 'utf8')
    await writeFile(list, `import { acme } from './acme.ts'\n${before.replace('  zoom,\n', '  zoom,\n  acme,\n')}`)
    await writeFile(join(tree, 'ask.ts'), ask)

    const env = {
      PATH: process.env.PATH,
      ...requiredSettings,
      AUTH_API_HOST: '127.0.0.1',
      AUTH_API_PORT: '0',
      DATABASE_URL: database.url,
      AUTH_EXTERNAL_ACME_ENABLED: 'true',
      AUTH_EXTERNAL_ACME_CLIENT_ID: 'ours',
      AUTH_EXTERNAL_ACME_SECRET: 'secret',
      AUTH_EXTERNAL_ACME_REDIRECT_URI: 'https://auth.site.test/callback',
    }
    const { stdout } = await run(process.execPath, ['ask.ts'], { cwd: tree, env })
    const told = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(Object.keys(told.external).slice(-4)).toEqual(['zoom', 'acme', 'email', 'phone'])
    expect(told).toMatchObject({ external: { acme: true, zoom: false }, inOpenapi: true })
    expect(told.location).toMatch(/^https:\/\/acme\.test\/authorize\?client_id=ours&/)

    const read = (path: string) => readFile(join(tree, path), 'utf8')
    const block = 'ENABLED CLIENT_ID SECRET REDIRECT_URI URL API_URL EMAIL_OPTIONAL SKIP_NONCE_CHECK'.split(' ')
    const [configuration, example, openapi] = await Promise.all(
      ['docs/configuration.md', '.env.example', 'docs/identity.openapi.json'].map(read),
    )
    for (const name of block) {
      expect(configuration).toContain(`\`AUTH_EXTERNAL_ACME_${name}\``)
      expect(example).toContain(`AUTH_EXTERNAL_ACME_${name}=`)
    }
    expect(openapi).toMatch(/\bacme\b/)
  })
})
