import { randomInt } from 'node:crypto'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { createCleanup } from '../bench/cleanup.ts'
import { checkIdentity, type Evidence, type IdentityRule } from '../torture/identity/checker.ts'
import type { Said } from '../torture/identity/client.ts'
import type { Account, KeptMessage, KeptToken } from '../torture/identity/ledger.ts'
import { type Handing, letterOf } from '../torture/identity/postbox.ts'
import { tellReport } from '../torture/report.ts'
import { torture } from '../torture/run.ts'
import type { FaultName } from '../torture/schedule.ts'
import { builtProgram } from './programs.ts'

/** Half of what the run of payments has, and all that is about messages; `npm run torture` has the rest, and minutes of them. */
const shortFaults: FaultName[] = ['commit', 'answer', 'cut', 'worker', 'service', 'postgres', 'clock', 'smtp', 'sms']

test('accounts, sessions, passwords and messages are what people were told, whatever goes wrong around the service', async () => {
  const cleanup = createCleanup()
  onTestFinished(() => cleanup.now())
  const seed = randomInt(2 ** 32)
  onTestFailed(() => void process.stdout.write(`torture: identity, seed ${seed}\n`))
  const program = await builtProgram()
  const run = { seed, seconds: 5, faults: shortFaults, longest: 1_000, workers: 2, pause: 20 }
  const load = { assistants: 0, customers: 0, people: 8 }
  const report = await torture({ ...run, ...load, service: 'identity', program }, cleanup)
  const told = tellReport(report, run)
  expect(report.findings, told).toEqual([])
  // Otherwise nothing was proved: there was load, and it felt what went wrong.
  for (const name of shortFaults) expect(report.strikes[name], told).toBeGreaterThan(0)
  expect(report.figures.unknown, told).toBeGreaterThan(0)
  expect(report.figures.entered, told).toBeGreaterThan(3)
  expect(report.figures.refreshed, told).toBeGreaterThan(3)
  expect((report.figures.mails ?? 0) + (report.figures.sms ?? 0), told).toBeGreaterThan(3)
}, 400_000)

const ann = 'ann@people.test'
const interval = 3_000

type Told = Partial<Said> & Pick<Said, 'act'> & { status?: number; json?: object }

/** One after the other, each so long after the one before. */
let moment = 0
function said({ status, json, ...more }: Told): Said {
  moment += 10
  const sent = more.sent ?? moment
  const answer = status === undefined ? undefined : { status, json: (json ?? {}) as Record<string, unknown> }
  return { contact: ann, path: '', body: {}, session: undefined, sent, heard: sent + 5, answer, ...more }
}

const access = (session: string) =>
  `h.${Buffer.from(JSON.stringify({ session_id: session, sub: 'ann' })).toString('base64url')}.s`
const entry = (session: string, refresh: string) => ({
  status: 200,
  json: { access_token: access(session), refresh_token: refresh },
})
const show = (token: string, answer: object = {}, more: Partial<Said> = {}) =>
  said({ act: 'refresh', body: { refresh_token: token }, ...answer, ...more })
const refused = { status: 400, json: { error_code: 'refresh_token_already_used' } }
const signIn = (password: string, answer: object) => said({ act: 'sign in', body: { email: ann, password }, ...answer })

/** Ann signs up, loses the answer of the first refresh, logs out of another session, and has a new password. */
function rightRun() {
  moment = 0
  const accounts: Account[] = [{ id: 'ann', contact: ann, confirmed: true, identities: 1, note: 2 }]
  const tokens: KeptToken[] = [
    { token: 'h1', parent: null, session: 'one', revoked: true },
    { token: 'h2', parent: 'h1', session: 'one', revoked: false },
  ]
  const messages: KeptMessage[] = [
    { id: 'm1', channel: 'mail', number: 1, to: ann, code: '123456', link: 'abc', state: 'sent', error: null },
    {
      id: 'm2',
      channel: 'mail',
      number: 2,
      to: ann,
      code: '234567',
      link: 'def',
      state: 'given up',
      error: 'it may have been sent',
    },
  ]
  const handings: Handing[] = [{ channel: 'mail', to: ann, id: 'm1', text: '', kept: true, told: 'yes' }]
  const history: Said[] = [
    said({ act: 'sign up', body: { email: ann, password: 'old' }, status: 200, json: { id: 'ann' } }),
    said({ act: 'send', path: '/otp', status: 503 }),
    said({ act: 'verify', body: { token: '123456' }, ...entry('one', 't1') }),
    show('t1'),
    show('t1', entry('one', 't2')),
    show('t1', entry('one', 't2')),
    signIn('old', entry('two', 'u1')),
    said({ act: 'log out', body: { scope: 'local' }, session: 'two', status: 204 }),
    show('u1', refused),
    said({ act: 'look', session: 'two', status: 403, json: { error_code: 'session_not_found' } }),
    said({ act: 'note', session: 'one', body: { data: { note: 1 } }, status: 200 }),
    said({ act: 'note', session: 'one', body: { data: { note: 2 } }, status: 503 }),
    said({ act: 'password', session: 'one', body: { password: 'new' } }),
    said({ act: 'password', session: 'one', body: { password: 'new' }, status: 422, json: { error_code: 'same_password' } }),
    signIn('old', { status: 400 }),
    said({ act: 'look', session: 'one', status: 200 }),
  ]
  const sessions = [{ id: 'one', user: 'ann' }]
  const evidence = { history, interval, wrong: [] as { from: number; to: number }[], handings }
  return { ...evidence, ledger: { accounts, sessions, tokens, messages } } satisfies Evidence
}

type Run = ReturnType<typeof rightRun>

test('a run in which all went well has no findings', () => {
  expect(checkIdentity(rightRun())).toEqual([])
})

const first = <T>(list: readonly T[]) => list[0] as T

test.each<[rule: IdentityRule, spoil: (run: Run) => unknown]>([
  ['an answer was a 500', ({ history }) => history.push(said({ act: 'look', session: 'one', status: 500 }))],
  ['an account was acknowledged and is lost', ({ ledger }) => ledger.accounts.pop()],
  ['an account was acknowledged and is lost', ({ ledger }) => Object.assign(first(ledger.accounts), { id: 'another' })],
  ['an account is there twice', ({ ledger }) => ledger.accounts.push({ ...first(ledger.accounts), id: 'again' })],
  [
    'an account was told under two names',
    ({ history }) => history.push(said({ act: 'sign up', body: { password: 'old' }, status: 200, json: { id: 'bea' } })),
  ],
  [
    'an account is there that nobody asked for',
    ({ ledger }) => ledger.accounts.push({ ...first(ledger.accounts), contact: 'x@y.z' }),
  ],
  [
    'an account has not the one identity that it should',
    ({ ledger }) => Object.assign(first(ledger.accounts), { identities: 2 }),
  ],
  ['a confirmation was acknowledged and is lost', ({ ledger }) => Object.assign(first(ledger.accounts), { confirmed: false })],
  ['what somebody told of themselves is lost', ({ ledger }) => Object.assign(first(ledger.accounts), { note: null })],
  ['what somebody told of themselves is lost', ({ ledger }) => Object.assign(first(ledger.accounts), { note: 3 })],
  ['a session was acknowledged and is lost', ({ ledger }) => ledger.sessions.pop()],
  ['a session is there that nobody asked for', ({ ledger }) => ledger.sessions.push({ id: 'three', user: 'ann' })],
  ['an ended session is there', ({ ledger }) => ledger.sessions.push({ id: 'two', user: 'ann' })],
  [
    'a family has two living tokens',
    ({ ledger }) => ledger.tokens.push({ token: 'h3', parent: 'h2', session: 'one', revoked: false }),
  ],
  ['a token has two children', ({ ledger }) => ledger.tokens.push({ token: 'h3', parent: 'h1', session: 'one', revoked: true })],
  [
    'a living token is not the last of its line',
    ({ ledger }) => ledger.tokens.push({ token: 'h3', parent: 'h2', session: 'one', revoked: true }),
  ],
  ['one token was exchanged for two', ({ history }) => history.push(show('t1', entry('one', 't3')))],
  ['a refresh token was refused without a reason', ({ history }) => history.push(show('t2', refused))],
  ['a refresh token was refused without a reason', ({ history }) => history.push(show('t1', refused))],
  ['a refresh token was accepted that should not be', ({ history }) => history.push(show('u1', entry('two', 'u2')))],
  [
    'a refresh token was accepted that should not be',
    ({ history }) => history.push(show('t2', entry('one', 't3')), show('t1', entry('one', 't2'))),
  ],
  [
    'a refresh token was accepted that should not be',
    ({ history }) => history.push(show('t1', entry('one', 't2'), { sent: 5_000, heard: 5_001 })),
  ],
  [
    'a refresh token was accepted that should not be',
    ({ history }) => {
      history.push(show('t1', refused, { sent: 5_000, heard: 5_001 }))
      history.push(show('t2', entry('one', 't3'), { sent: 5_002, heard: 5_003 }))
    },
  ],
  [
    'an access token was accepted after its session had ended',
    ({ history }) => history.push(said({ act: 'look', session: 'two', status: 200 })),
  ],
  ['the right password was refused', ({ history }) => history.push(signIn('new', { status: 400 }))],
  ['an old password was accepted', ({ history }) => history.push(signIn('old', entry('three', 'v1')))],
  [
    'a code was refused without a reason',
    ({ history }) => {
      history.splice(2, 1)
      history.push(said({ act: 'verify', body: { token: '234567' }, status: 403 }))
    },
  ],
  [
    'a code was accepted twice',
    ({ history }) => history.push(said({ act: 'verify', body: { token: '123456' }, ...entry('three', 'v1') })),
  ],
  ['something was refused without a reason', ({ history }) => history.push(said({ act: 'send', path: '/otp', status: 422 }))],
  [
    'something was refused without a reason',
    ({ history }) => history.push(said({ act: 'look', session: 'one', status: 403, json: { error_code: 'session_not_found' } })),
  ],
  ['a message was promised and is not there', ({ ledger }) => ledger.messages.splice(0)],
  ['a message is there that nobody asked for', ({ ledger }) => ledger.messages.push({ ...first(ledger.messages), id: 'm3' })],
  ['a message is still waiting', ({ ledger }) => Object.assign(first(ledger.messages), { state: 'waiting' })],
  ['a message was sent twice', ({ handings }) => handings.push({ ...first(handings), told: 'nothing' })],
  ['a message was said to be sent and was not', ({ handings }) => Object.assign(first(handings), { told: 'no' })],
  [
    'a message was given up without need',
    ({ ledger }) => Object.assign(first(ledger.messages), { state: 'given up', error: 'it could not be sent in time' }),
  ],
  [
    'a message was given up that is known to be taken',
    ({ ledger }) =>
      Object.assign(first(ledger.messages), { state: 'given up', error: 'twilio: answered 200: it may have been sent' }),
  ],
])('a run in which %s is found out', (rule, spoil) => {
  const run = rightRun()
  spoil(run)
  expect(checkIdentity(run).map((finding) => finding.rule)).toContain(rule)
})

test.each<[why: string, change: (run: Run) => unknown]>([
  [
    'was shown for the first time too long ago',
    ({ history }) => history.push(show('t1', refused, { sent: 4_000, heard: 4_001 })),
  ],
  [
    'was shown while clocks were wrong',
    (run) => {
      run.wrong.push({ from: 0, to: 1_000 })
      run.history.push(show('t1', refused))
    },
  ],
  ['is older than the last but one', ({ history }) => history.push(show('t2', entry('one', 't3')), show('t1', refused))],
  [
    'is of a family of which an old one was shown',
    ({ history }) => history.push(show('t2', entry('one', 't3')), show('t1', refused), show('t3', refused)),
  ],
  [
    'may have been refused because of a request that was given up',
    ({ history }) => history.push(show('t2', entry('one', 't3')), show('t1'), show('t3', refused)),
  ],
])('a token that %s may be refused', (_, change) => {
  const run = rightRun()
  change(run)
  expect(checkIdentity(run)).toEqual([])
})

test('a gateway that takes a message and says no is believed: what is sent again then is not sent twice', () => {
  const run = rightRun()
  run.handings.unshift({ ...first(run.handings), told: 'no' })
  expect(checkIdentity(run)).toEqual([])
})

test('a code and a link are read out of a message, and no other digits', () => {
  expect(letterOf('Your code is 123456')).toEqual({ code: '123456', link: undefined })
  const link = 'ab'.repeat(28)
  const mail = `color: #123456; href="https://x/verify?token=${link}&type=signup" or enter the code: 654321 at 7654321`
  expect(letterOf(mail)).toEqual({ code: '654321', link })
})
