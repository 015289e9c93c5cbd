import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { startIdentity } from '@tollgate/identity/testing'
import { openDb, type Sql } from '@tollgate/kit/db'
import { scratchDatabase } from '@tollgate/kit/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort, message, runTollgate, settingsOf } from '../packages/tollgate/src/testing.ts'

/**
 * How many sessions are refreshed by how many at once. `REFRESH_STORM_SESSIONS=1000 npm test -- refresh-storm` is the whole of it; what runs
 * every time is a cut.
 */
const sessions = Number(process.env.REFRESH_STORM_SESSIONS ?? 40)
const parallel = 50
/** As many sessions at once as keep a browser's worth of tabs busy, and the connections of the service. */
const together = 4
const minutes = 60_000

type Place = {
  ask: Ask
  sql: Sql
  /** Lets time pass, as far as tokens know of it. */
  pass(seconds: number): Promise<void>
}

type Ask = (path: string, body: object, headers?: Record<string, string>) => Promise<{ status: number; told: Told }>
type Told = { refresh_token: string; access_token: string; error_code?: string }

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

/** Over connections that are kept, as clients and proxies do. */
function asker(origin: string): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  onTestFinished(() => agent.destroy())
  return async (path, body, headers = {}) => {
    const sent = request(`${origin}${path}`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.end(JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const text = String(Buffer.concat(await response.toArray()))
    return { status: response.statusCode ?? 0, told: text === '' ? {} : JSON.parse(text) }
  }
}

async function inOneProcess(): Promise<Place> {
  const service = await startIdentity(env)
  onTestFinished(() => service.stop())
  return { ask: asker(service.origin), sql: service.app.db, pass: async (seconds) => service.now.advance(seconds) }
}

async function withTwoWorkers(): Promise<Place> {
  const database = await scratchDatabase('template_identity')
  onTestFinished(() => database.drop())
  const db = openDb({ url: database.url, schema: { written: 'auth', actual: 'auth' }, name: 'refresh-storm' })
  onTestFinished(() => db.close())
  const port = await freePort()
  const program = runTollgate(['identity', 'serve'], { ...settingsOf(database, port, 2), ...env })
  await program.line(message('listening'))
  return {
    ask: asker(`http://127.0.0.1:${port}`),
    sql: db,
    // Its clock is that of the machine: instead of waiting, what happened is made to be longer ago.
    pass: async (seconds) =>
      void (await db`update auth.refresh_tokens set updated_at = updated_at - make_interval(secs => ${seconds})`),
  }
}

type Session = { id: string; token: string; authorization: string }

async function begin({ ask }: Place): Promise<Session> {
  const { status, told } = await ask('/signup', {})
  expect(status).toBe(200)
  return sessionOf(told)
}

function sessionOf({ refresh_token: token, access_token: access }: Told): Session {
  const { session_id: id } = JSON.parse(String(Buffer.from(access.split('.')[1] ?? '', 'base64url')))
  return { id, token, authorization: `Bearer ${access}` }
}

const refresh = ({ ask }: Place, token: string) => ask('/token?grant_type=refresh_token', { refresh_token: token })

async function exchange(place: Place, token: string): Promise<string> {
  const { status, told } = await refresh(place, token)
  expect(status).toBe(200)
  return told.refresh_token
}

async function inGroups<T>(items: readonly T[], work: (item: T) => Promise<void>) {
  for (let at = 0; at < items.length; at += together) await Promise.all(items.slice(at, at + together).map(work))
}

const repeated = <T>(count: number, make: () => T) => Array.from({ length: count }, make)

type Kept = { session: string; tokens: number; active: number; newest: boolean }

/** What became of the tokens of every session that is left; and whether an active one is always the last of its line. */
async function tokensBySession({ sql }: Place): Promise<Map<string, Kept>> {
  const kept = await sql<Kept>`
    select t.session_id as session, count(*)::integer as tokens, (count(*) filter (where not t.revoked))::integer as active,
      not bool_or(not t.revoked and exists (select from auth.refresh_tokens c where c.parent = t.token)) as newest
    from auth.refresh_tokens t group by t.session_id`
  return new Map(kept.map((each) => [each.session, each]))
}

async function storm(place: Place) {
  const begun = await Promise.all(repeated(sessions, () => begin(place)))
  const children = new Map<string, string>()
  await inGroups(begun, async ({ id, token }) => {
    const answers = await Promise.all(repeated(parallel, () => refresh(place, token)))
    const refusals = answers.filter(({ status }) => status !== 200)
    expect(refusals).toEqual([])
    const successors = new Set(answers.map(({ told }) => told.refresh_token))
    expect(successors.size).toBe(1)
    const [child = ''] = successors
    expect(child).not.toBe(token)
    expect(new Set(answers.map(({ told }) => sessionOf(told).id))).toEqual(new Set([id]))
    children.set(id, child)
  })
  const kept = await tokensBySession(place)
  const expected = begun.map(({ id }) => ({ session: id, tokens: 2, active: 1, newest: true }))
  expect(begun.map(({ id }) => kept.get(id))).toEqual(expected)
  return { begun, children }
}

/** Every other session is stolen: its first token turns up again when it has had descendants for a while. */
async function theft(place: Place, { begun, children }: Awaited<ReturnType<typeof storm>>) {
  const latest = new Map(children)
  const generations = 3
  await inGroups(begun, async ({ id }) => {
    for (let each = 0; each < generations; each++) latest.set(id, await exchange(place, latest.get(id) ?? ''))
  })
  await place.pass(11)
  const stolen = begun.filter((_, index) => index % 2 === 0)
  await inGroups(stolen, async ({ id, token }) => {
    const thieves = await Promise.all(repeated(5, () => refresh(place, token)))
    for (const { status, told } of thieves) expect([status, told.error_code]).toEqual([400, 'refresh_token_already_used'])
    const { status, told } = await refresh(place, latest.get(id) ?? '')
    expect([status, told.error_code]).toEqual([400, 'refresh_token_already_used'])
  })
  const kept = await tokensBySession(place)
  for (const [index, { id }] of begun.entries())
    expect(kept.get(id)).toEqual({ session: id, tokens: 2 + generations, active: index % 2 === 0 ? 0 : 1, newest: true })
  // Nobody else is signed out by it.
  await inGroups(
    begun.filter((_, index) => index % 2 === 1),
    async ({ id }) => void (await exchange(place, latest.get(id) ?? '')),
  )
}

/** Clients that are behind, clients that are not, and people who leave, all at once. */
async function mixedStorm(place: Place) {
  const begun = await Promise.all(
    repeated(Math.ceil(sessions / 2), async () => {
      const session = await begin(place)
      return { ...session, child: await exchange(place, session.token) }
    }),
  )
  const heard = new Map<string, string[]>()
  await inGroups(begun, async ({ id, token, child, authorization }) => {
    const leaves = Math.random() < 0.5
    const turns = [
      ...repeated(12, () => () => refresh(place, token)),
      ...repeated(12, () => () => refresh(place, child)),
      ...(leaves ? [() => place.ask('/logout?scope=local', {}, { authorization })] : []),
    ]
    const answers = await Promise.all(shuffled(turns).map((turn) => turn()))
    heard.set(
      id,
      answers.map(({ status, told }) => (status < 300 ? String(status) : `${status} ${told.error_code}`)),
    )
  })
  const kept = await tokensBySession(place)
  const ends = ['400 refresh_token_already_used', '400 refresh_token_not_found', '400 session_not_found']
  for (const { id } of begun) {
    const { active = 0, newest = true } = kept.get(id) ?? {}
    const outcomes = new Set(heard.get(id))
    expect([...outcomes].filter((outcome) => !['200', '204', ...ends].includes(outcome))).toEqual([])
    expect({ id, atMostOne: active <= 1, newest }).toEqual({ id, atMostOne: true, newest: true })
    // Somebody left, or a token came from further back than anybody honest is.
    const ended = outcomes.has('204') || ends.some((end) => outcomes.has(end))
    expect({ id, active }).toEqual({ id, active: ended ? 0 : 1 })
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  const placed = items.map((item) => ({ item, place: Math.random() }))
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}

describe.each([
  ['in one process', inOneProcess],
  ['with two worker processes', withTwoWorkers],
])('%s', (_, start) => {
  const told = `${sessions} sessions × ${parallel} refreshes at once`
  test(
    `${told}: one successor each, nobody signed out; what is stolen is revoked to the last descendant`,
    async () => {
      const place = await start()
      await theft(place, await storm(place))
    },
    30 * minutes,
  )

  test(
    'refreshes of parents and children and logouts at once leave a session one token or none',
    async () => {
      await mixedStorm(await start())
    },
    30 * minutes,
  )
})
