import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Called, oneProcess, testService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identity } from './main.ts'
import { createAccount, requiredSettings, startWithInbox } from './testing.ts'

/** Nobody finds out from any answer, by what it says or by when it comes, who has an account. */
type Service = Pick<Awaited<ReturnType<typeof startWithInbox>>, 'app' | 'call' | 'now'>

let service: Awaited<ReturnType<typeof startWithInbox>>
let patient: Awaited<ReturnType<typeof startWithInbox>>
let scarce: Awaited<ReturnType<typeof startWithInbox>>
let hash = ''
beforeAll(async () => {
  const noIntervals = { AUTH_SMTP_MAX_FREQUENCY: '0', AUTH_SMS_MAX_FREQUENCY: '0' }
  service = await startWithInbox()
  patient = await startWithInbox(noIntervals)
  scarce = await startWithInbox({ ...noIntervals, AUTH_RATE_LIMIT_EMAIL_SENT: '3', AUTH_RATE_LIMIT_SMS_SENT: '3' })
  hash = await service.app.passwords.hash('the right one')
})
afterAll(() => Promise.all([service.stop(), patient.stop(), scarce.stop()]))

type Way = 'email' | 'phone'
type Person = Record<Way, string>
const newcomer = (): Person => ({
  email: `${randomUUID()}@site.test`,
  phone: String(45_000_000_000 + Math.floor(Math.random() * 1e9)),
})

type Given = NonNullable<Parameters<typeof createAccount>[1]>
/** With an address and a number, of whom one is asked for. */
const account = (given: (now: Date) => Given, afterwards = async (_: Service, _id: string) => {}) => {
  return async (service: Service): Promise<Person> => {
    const person = newcomer()
    const now = service.now()
    const usual = { ...person, passwordHash: hash, phoneConfirmedAt: now, createdAt: new Date(now.getTime() - 86_400_000) }
    const { userId } = await createAccount(service, { ...usual, ...given(now) })
    await afterwards(service, userId)
    return person
  }
}

/** Who may be asked about. Each is made anew for every script, a day before it begins. */
const kinds = {
  unknown: async () => newcomer(),
  'another unknown': async () => newcomer(),
  confirmed: account(() => ({})),
  unconfirmed: account(() => ({ emailConfirmedAt: null, phoneConfirmedAt: null })),
  'unconfirmed, with metadata': account(() => ({
    emailConfirmedAt: null,
    phoneConfirmedAt: null,
    userMetadata: { secret: 'of theirs' },
    appMetadata: { provider: 'email', providers: ['email'], plan: 'gold' },
  })),
  'confirmed by the other way alone': account(() => ({ emailConfirmedAt: null })),
  'confirmed by mail alone': account(() => ({ phoneConfirmedAt: null })),
  invited: account((now) => ({ emailConfirmedAt: null, phoneConfirmedAt: null, passwordHash: null, invitedAt: now })),
  banned: account((now) => ({ bannedUntil: new Date(now.getTime() + 1e11) })),
  'banned and unconfirmed': account((now) => ({
    emailConfirmedAt: null,
    phoneConfirmedAt: null,
    bannedUntil: new Date(now.getTime() + 1e11),
  })),
  'without a password': account(() => ({ passwordHash: null })),
  'without a password, by choice': account(() => ({ passwordHash: '' })),
  'with a hash that nobody can read': account(() => ({ passwordHash: 'sha1:nonsense' })),
  'with a hash of an older kind': account(() => ({ passwordHash: `$2b$10$${'a'.repeat(21)}e${'b'.repeat(31)}` })),
  'deleted softly': account(
    () => ({}),
    async ({ app }, id) => void (await app.db`update auth.users set deleted_at = ${app.now()} where id = ${id}`),
  ),
  'of another audience': account(() => ({ aud: 'elsewhere' })),
  'of single sign-on': account(
    () => ({ phone: null, phoneConfirmedAt: null }),
    async ({ app }, id) => void (await app.db`update auth.users set is_sso_user = true where id = ${id}`),
  ),
  'changing their address and number': account(
    () => ({}),
    async ({ app }, id) =>
      void (await app.db`update auth.users set email_change = ${newcomer().email}, phone_change = ${newcomer().phone} where id = ${id}`),
  ),
} satisfies Record<string, (service: Service) => Promise<Person>>

type Kind = keyof typeof kinds

type Question = { path: string; way: Way; body: Record<string, unknown> }
const question = (path: string, way: Way, body: Record<string, unknown> = {}): Question => ({ path, way, body })

const questions: Readonly<Record<string, Question>> = {
  'a password for an address': question('/token?grant_type=password', 'email', { password: 'a wrong one' }),
  'a password for a number': question('/token?grant_type=password', 'phone', { password: 'a wrong one' }),
  'no password for an address': question('/token?grant_type=password', 'email', { password: '' }),
  'a recovery': question('/recover', 'email'),
  'a recovery of a flow': question('/recover', 'email', { code_challenge: 'c'.repeat(43), code_challenge_method: 's256' }),
  'a code by mail': question('/otp', 'email', { data: { nick: 'ann' } }),
  'a code by mail for members': question('/otp', 'email', { create_user: false }),
  'a code by SMS': question('/otp', 'phone'),
  'a code by SMS for members': question('/otp', 'phone', { create_user: false }),
  'a link': question('/magiclink', 'email'),
  'the confirmation again': question('/resend', 'email', { type: 'signup' }),
  'the code again': question('/resend', 'phone', { type: 'sms' }),
  'the change of address again': question('/resend', 'email', { type: 'email_change' }),
  'the change of number again': question('/resend', 'phone', { type: 'phone_change' }),
  'to join by mail': question('/signup', 'email', { password: 'a wrong one', data: { nick: 'ann' } }),
  'to join by SMS': question('/signup', 'phone', { password: 'a wrong one' }),
}

const ask = ({ call }: Service, { path, way, body }: Question, person: Person) =>
  call(`POST ${path}`, { json: { ...body, [way]: person[way] } })

/** What somebody who asks several times can compare: ids by whether they come again, moments by how long ago they are. */
function transcriber(person: Person, began: Date) {
  const ids = new Map<string, string>()
  const settle = (text: string) =>
    text
      .replaceAll(person.email, '<the address>')
      .replaceAll(person.phone, '<the number>')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        ids.set(id, ids.get(id) ?? `<id ${ids.size + 1}>`)
        return ids.get(id) as string
      })
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) => `<${(Date.parse(moment) - began.getTime()) / 1000} s>`)
  return ({ status, headers, text }: Called): string[] => {
    const { date, 'x-request-id': id, ...telling } = headers
    const named = Object.entries(telling).map(([name, value]) => `${name}: ${value}`)
    const body = JSON.stringify(JSON.parse(settle(text)), null, 1).split('\n')
    return [`${status}`, ...(date && id ? [] : ['no date or id']), ...named, ...body]
  }
}

/** Where two transcripts part, for whoever has to mend it. */
function firstDifference(one: readonly string[][], other: readonly string[][]): string | undefined {
  for (const [turn, lines] of one.entries()) {
    const others = other[turn] ?? []
    const place = lines.findIndex((line, index) => line !== others[index])
    const at = place === -1 && others.length > lines.length ? lines.length : place
    if (at !== -1) return `request ${turn + 1}: ${others[at]?.trim() ?? 'nothing'} instead of ${lines[at]?.trim() ?? 'nothing'}`
  }
  return undefined
}

const everyKind = Object.keys(kinds) as Kind[]

/** Asks the same about everybody, in step; names those who are told apart from somebody unknown. */
async function tellApart(service: Service, asked: Question, pauses: readonly number[]) {
  const began = service.now()
  const people = await Promise.all(
    everyKind.map(async (kind) => {
      const person = await kinds[kind](service)
      return { kind, person, transcribe: transcriber(person, began), told: [] as string[][] }
    }),
  )
  for (const pause of pauses) {
    service.now.advance(pause)
    await Promise.all(people.map(async (each) => each.told.push(each.transcribe(await ask(service, asked, each.person)))))
  }
  const [unknown, ...others] = people
  const found = others.map(({ kind, told }) => [kind, firstDifference(unknown?.told ?? [], told)] as const)
  return {
    apart: Object.fromEntries(found.filter(([, difference]) => difference)),
    statuses: unknown?.told.map(([status]) => status),
  }
}

const isPassword = ({ path }: Question) => path.startsWith('/token')
const named = Object.entries(questions)

test.each(named)(
  'asked for %s, everybody is answered alike: at first and again, inside the interval and after',
  async (_, asked) => {
    const { apart, statuses } = await tellApart(service, asked, isPassword(asked) ? [0] : [0, 20, 41, 900])
    expect(apart).toEqual({})
    expect([...new Set(statuses)].sort()).toEqual(isPassword(asked) ? ['400'] : ['200', '429'])
  },
)

const fewKinds = [
  'unknown',
  'confirmed',
  'unconfirmed',
  'banned',
  'without a password',
  'deleted softly',
  'of another audience',
  'changing their address and number',
] as const satisfies Kind[]

test.each(named.filter(([, asked]) => !isPassword(asked)))(
  'asked for %s, everybody takes as much of what may be sent in all',
  async (_, asked) => {
    for (const kind of fewKinds) {
      scarce.now.advance(3600)
      const person = await kinds[kind](scarce)
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask(scarce, asked, person)))
      answers.sort((one, other) => one.status - other.status)
      const { headers, text } = answers[3] as Called
      expect({ kind, statuses: answers.map(({ status }) => status), wait: headers['retry-after'], text }).toEqual({
        kind,
        statuses: [200, 200, 200, 429],
        wait: '3600',
        text: expect.stringContaining('rate limit exceeded'),
      })
    }
  },
)

test('a password costs one hash, whoever it is for', async () => {
  const counted = () => service.apps.reduce((sum, { passwords }) => sum + passwords.stats().compared.completed, 0)
  for (const kind of everyKind) {
    const person = await kinds[kind](service)
    const before = counted()
    const answer = ask(service, questions['a password for an address'] as Question, person)
    // Its refusal is held back for much longer than that.
    await expect.poll(counted, { interval: 2, message: kind }).toBe(before + 1)
    void answer.catch(() => {})
  }
})

/** No more than how likely it is that samples this far apart come from one source: the rank test of Mann and Whitney, both ways. */
function likelihood(one: readonly number[], other: readonly number[]): number {
  let wins = 0
  for (const a of one) for (const b of other) wins += a < b ? 1 : a === b ? 0.5 : 0
  const pairs = one.length * other.length
  const deviations = Math.abs(wins - pairs / 2) / Math.sqrt((pairs * (one.length + other.length + 1)) / 12)
  // Chernoff's bound of both tails of the normal distribution: more than there is under them, by ten times where it matters here.
  return Math.min(1, 2 * Math.exp(-(deviations ** 2) / 2))
}

const median = (sample: readonly number[]) => sample.toSorted((a, b) => a - b)[Math.floor(sample.length / 2)] ?? 0

function shuffled<T>(items: readonly T[]): T[] {
  const placed = items.map((item) => ({ item, place: Math.random() }))
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}

/** Not once in ten thousand runs of everything below does chance alone make a test fail. */
const doubt = 1e-4
const comparisons = 50

type Timed = {
  asked: Question
  who: readonly Kind[]
  times: number
  atOnce: number
  /** Being asked for makes an account of somebody unknown, so that each time needs another; not where everybody is refused. */
  refused?: boolean
}

/**
 * Asks about everybody in random order, so that whatever else the machine does happens to all of them alike, and names those whose answers
 * come at other times than those about somebody unknown.
 */
async function tellApartByTime(service: Service, { asked, who, times, atOnce, refused = false }: Timed) {
  const samples = new Map<Kind, number[]>(who.map((kind) => [kind, []]))
  const people = new Map<Kind, Person>()
  for (const kind of who) people.set(kind, await kinds[kind](service))
  const one = async (kind: Kind) => {
    const person = kind === 'unknown' && !refused ? newcomer() : (people.get(kind) as Person)
    const started = performance.now()
    await ask(service, asked, person)
    return performance.now() - started
  }
  // The first of each is not like the others, and neither is what comes right after it.
  for (const kind of [...who, ...who]) await one(kind)
  const oftener = (kind: Kind) => (kind === 'unknown' ? 2 * times : times)
  const waiting = shuffled(who.flatMap((kind) => Array.from({ length: oftener(kind) }, () => kind)))
  const askOn = async () => {
    for (let kind = waiting.pop(); kind !== undefined; kind = waiting.pop()) samples.get(kind)?.push(await one(kind))
  }
  await Promise.all(Array.from({ length: atOnce }, askOn))
  const unknown = samples.get('unknown') ?? []
  const apart = [...samples].filter(([, sample]) => likelihood(unknown, sample) < doubt / comparisons)
  const tell = ([kind, sample]: [Kind, number[]]) => [
    kind,
    `${median(sample).toFixed(1)} ms, not ${median(unknown).toFixed(1)} ms`,
  ]
  return Object.fromEntries(apart.map(tell))
}

const timed = (name: string, given: Partial<Timed> = {}): Timed => ({
  asked: questions[name] as Question,
  who: ['unknown', 'confirmed', 'unconfirmed', 'banned', 'without a password', 'of another audience'],
  times: 30,
  atOnce: 5,
  ...given,
})
const passwords = timed('a password for an address', {
  who: ['unknown', 'confirmed', 'banned', 'without a password', 'with a hash of an older kind'],
  times: 16,
  atOnce: 6,
})

test.each([
  'a recovery',
  'a code by mail',
  'a code by mail for members',
  'a code by SMS',
  'the confirmation again',
  'to join by mail',
])('asked for %s, nobody is answered sooner or later than others', async (name) => {
  const hashes = name === 'to join by mail'
  expect(await tellApartByTime(patient, timed(name, hashes ? { times: 16, atOnce: 3 } : {}))).toEqual({})
})

test('inside the interval nobody is refused sooner or later than others', async () => {
  expect(await tellApartByTime(service, timed('a recovery', { refused: true }))).toEqual({})
})

/** Tests keep their database in memory; on a disk, whatever is written costs some milliseconds more than what is only read. */
async function writeLikeADisk({ app }: Service) {
  await app.db`
    create function public.slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.004); return new; end $$`
  await app.db`create trigger slowly before update on auth.one_time_tokens for each row execute function public.slowly()`
  return async () => void (await app.db`drop function public.slowly cascade`)
}

test('with a wrong code nobody is refused sooner or later than others', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, () => kinds.confirmed(patient)))
  // What is asked for beforehand is answered alike, whether there is somebody or not; so has to be what comes of it.
  for (const person of people) await ask(patient, questions['a recovery'] as Question, person)
  const quick = await writeLikeADisk(patient)
  const samples = { known: [] as number[], unknown: [] as number[] }
  const guesses = people.flatMap((person) => Array.from({ length: 5 }, () => ['known', person] as const))
  const strangers = guesses.map(() => ['unknown', newcomer()] as const)
  const waiting = shuffled([...guesses, ...strangers])
  const guessOn = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [kind, { email }] = next
      const started = performance.now()
      const { status } = await patient.call('POST /verify', { json: { type: 'recovery', email, token: 'wrong!' } })
      samples[kind].push(performance.now() - started)
      expect(status).toBe(403)
    }
  }
  // Each is held back for much longer than it takes.
  await Promise.all(Array.from({ length: 10 }, guessOn))
  await quick()
  expect([median(samples.known), median(samples.unknown)].map((each) => each > 150)).toEqual([true, true])
  expect(likelihood(samples.known, samples.unknown)).toBeGreaterThan(doubt / comparisons)
})

test('with a wrong password nobody is refused sooner or later than others', async () => {
  expect(await tellApartByTime(patient, passwords)).toEqual({})
})

describe('these tests would find out a service that', () => {
  /** The same, but that whoever is known waits for five milliseconds more. */
  async function startLeaky() {
    const endpoints = identity.endpoints.map((endpoint) => ({
      ...endpoint,
      async run(app: Service['app'], given: never) {
        const { body } = given as { body?: Record<string, unknown> }
        const known = await app.db`select from auth.users where email = ${String(body?.email)} or phone = ${String(body?.phone)}`
        try {
          return await endpoint.run(app, given)
        } finally {
          if (known.length > 0) await sleep(5)
        }
      },
    }))
    const env = { ...requiredSettings, AUTH_SMTP_PORT: String(patient.mails.port), AUTH_SMTP_MAX_FREQUENCY: '0' }
    return testService({ ...identity, endpoints }, { ...env, AUTH_RATE_LIMIT_EMAIL_SENT: '1000000' })
  }

  test('answers five milliseconds later for those whom it knows', async () => {
    const leaky = await oneProcess('what three nodes differ by drowns five milliseconds', startLeaky)
    const given = { who: ['unknown', 'confirmed'], atOnce: 2 } as const
    // On a busy machine it takes a few more questions.
    const found = async (timed: Timed) => {
      for (let round = 0; round < 6; round++)
        if ('confirmed' in (await tellApartByTime(leaky, { ...timed, times: timed.times * 2 ** round }))) return true
      return false
    }
    expect(await found(timed('a recovery', given))).toBe(true)
    await leaky.stop()
  }, 60_000)

  test('says one word, one header or one moment more', () => {
    const began = new Date('2030-01-01T00:00:00Z')
    const person = newcomer()
    const transcribe = () => transcriber(person, began)
    const answer = (body: object, headers = {}): Called => {
      const usual = { date: 'x', 'x-request-id': 'y', ...headers }
      return { status: 200, headers: usual, text: JSON.stringify(body), json: () => body as never }
    }
    const plain = { id: randomUUID(), at: '2030-01-01T00:00:00.000Z', email: person.email }
    const apart = (...answers: Called[]) => {
      const [one, other] = [transcribe(), transcribe()]
      return firstDifference([one(answer(plain)), one(answer(plain))], answers.map(other))
    }
    expect(apart(answer({ ...plain, id: 'x' }), answer(plain))).toMatch(/request 1: .*"x".* instead of .*<id 1>/)
    expect(apart(answer({ ...plain, more: 1 }), answer(plain))).toContain('request 1')
    expect(apart(answer(plain), answer(plain, { more: '1' }))).toContain('request 2: more: 1 instead of {')
    expect(apart(answer({ ...plain, at: '2029-12-31T23:59:59.000Z' }), answer(plain))).toContain('<-1 s>')
    const [one, other] = [randomUUID(), randomUUID()]
    expect(apart(answer({ ...plain, id: one }), answer({ ...plain, id: other }))).toContain('<id 2>')
    expect(apart(answer({ ...plain, id: one }), answer({ ...plain, id: one }))).toBeUndefined()
  })
})
