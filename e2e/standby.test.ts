import { openDb } from '@tollgate/kit/db'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, message, runTollgate, settingsOf } from '../packages/tollgate/src/testing.ts'
import { type Client, createClient, findDifferences, judge, judgePurchases, load, openShop, shopping } from './payments-kill.ts'
import { ask, countWaiting, cutOff, kill, promote, startAddress, startPair } from './standby-pair.ts'
import { judgePeople, visiting } from './standby-people.ts'

/** Milliseconds from the moment when the new primary takes writes until either service has acknowledged one. */
const longestReturn = 5_000

/** One service as a process of its own. */
async function serve(name: 'identity' | 'payments', database: { url: string }, env: Record<string, string>) {
  const port = await freePort()
  const program = runTollgate([name, 'serve'], { ...settingsOf(database, port, 1), ...env, LOG_LEVEL: 'info' })
  await program.line(message('listening'))
  const origin = `http://127.0.0.1:${port}`
  return { origin, askReady: () => fetch(`${origin}/ready`).then(({ status }) => status) }
}

type Heard = { at: number; status: number | undefined; text: string }[]

/** A client whose answers are kept, with the moment at which they came. */
function listen(origin: string): { client: Client; heard: Heard } {
  const plain = createClient(origin)
  onTestFinished(() => plain.close())
  const heard: Heard = []
  return {
    heard,
    client: {
      ...plain,
      async post(...request) {
        const answer = await plain.post(...request)
        heard.push({ at: performance.now(), status: answer?.status, text: answer?.text ?? '' })
        return answer
      },
    },
  }
}

const isDone = (status: number | undefined) => status !== undefined && status < 300
/**
 * What may be said besides: that nobody can be served now, or that the acquirer was asked and its answer could not be written down; that the
 * same is under way (409), or that one has an account already (422).
 */
const isHonest = ({ status, text }: Heard[number]) =>
  [409, 422, 503].includes(status ?? 0) || (status === 504 && !/took too long|timed out/.test(text))
const isAway = (status: number | undefined) => status === 503

test('a synchronous standby that is promoted under load has all that was acknowledged, and both services go on by themselves', async () => {
  const pair = await startPair()
  const address = await startAddress(pair.primary)
  const database = { url: `postgres://tollgate@127.0.0.1:${address.port}/tollgate?sslmode=disable` }
  const payEnv = { PAY_ASK_AGAIN_AFTER: '1', PAY_VAULT_KEYS: `standby:${Buffer.alloc(32, 'standby').toString('base64')}` }
  const services = await Promise.all([
    serve('identity', database, { AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '60' }),
    serve('payments', database, payEnv),
  ])
  const [identity, payments] = services
  const [visitors, assistants, customers] = [listen(identity.origin), listen(payments.origin), listen(payments.origin)]
  const crowds = [visitors, assistants, customers]
  const shop = await openShop(assistants.client)

  // Whoever only reads may ask the standby, as soon as it can show what it has.
  const shown = () => ask(pair.standby.url('tollgate'), 'select from pay.merchants').catch(() => [])
  await expect.poll(shown, { timeout: 10_000, interval: 20 }).toHaveLength(2)
  const seen = await runTollgate(['payments', 'verify'], { DATABASE_URL: pair.standby.url('tollgate') }).ended
  expect(seen).toMatchObject({ code: 0, complaints: '', out: expect.stringContaining('no breach') })

  let open = true
  const isOpen = () => open
  const working = load(assistants.client, shop, { assistants: 3, isOpen })
  const buying = shopping(customers.client, shop, { customers: 2, isOpen })
  const joining = visiting(visitors.client, { visitors: 2, isOpen })
  const untilHeardByAll = async (count: number, since: number, fits: (status: number | undefined) => boolean) => {
    const short = () =>
      crowds
        .map(({ heard }) => heard.filter(({ at }) => at > since).map(({ status }) => status))
        .filter((statuses) => statuses.filter(fits).length < count)
    // Those who lack something, with all that they heard.
    await expect.poll(short, { timeout: 30_000, interval: 10 }).toEqual([])
  }
  await untilHeardByAll(20, 0, isDone)

  await kill(pair.primary)
  const killed = performance.now()
  for (const { askReady } of services) await expect.poll(askReady, { timeout: 5_000, interval: 50 }).toBe(503)
  await untilHeardByAll(1, killed, isAway)
  await promote(pair.standby)
  const promoted = performance.now()
  address.follow(pair.standby)
  for (const { askReady } of services) await expect.poll(askReady, { timeout: longestReturn, interval: 50 }).toBe(200)
  await untilHeardByAll(20, promoted, isDone)
  open = false
  const [history, purchases, { people, refusals }] = await Promise.all([working, buying, joining])

  const returns = crowds.map(({ heard }) => (heard.find(({ at, status }) => at > promoted && isDone(status))?.at ?? 0) - promoted)
  for (const each of returns) expect(each).toBeLessThan(longestReturn)
  const answers = crowds.flatMap(({ heard }) => heard)
  expect(answers.filter((answer) => !isDone(answer.status) && !isHonest(answer))).toEqual([])

  const sql = openDb({ url: pair.standby.url('tollgate'), schema: { written: 'pay', actual: 'pay' }, name: 'standby' })
  onTestFinished(() => sql.close())
  const money = await judge(sql, assistants.client, shop, history)
  expect(money).toMatchObject({ lost: [], doubled: [], refused: [], changed: [] })
  expect(await findDifferences(sql, shop, history)).toEqual([])
  const bought = await judgePurchases(sql, customers.client, shop, purchases)
  expect(bought).toMatchObject({ wrong: [], unasked: [], changed: [] })
  const joined = await judgePeople(sql, visitors.client, people)
  expect({ ...joined, refusals }).toMatchObject({ lost: [], doubled: [], ended: [], refusals: [] })
  const verified = await runTollgate(['payments', 'verify'], { DATABASE_URL: database.url }).ended
  expect(verified).toMatchObject({ code: 0, complaints: '', out: expect.stringContaining('no breach') })
  const figures = { awayMs: promoted - killed, returnMs: Math.max(...returns) }
  const counts = { captures: money.captures, purchases: bought.purchases, people: joined.people, tokens: joined.tokens }
  process.stdout.write(
    `standby: ${JSON.stringify({ ...figures, ...counts }, (_, value) => (typeof value === 'number' ? Math.round(value) : value))}\n`,
  )

  // Somebody turns the old primary on, and a node is led there: it reads what is old, and nobody is told that anything was written.
  const returned = await pair.restartPrimary()
  const misled = await serve('payments', { url: returned.url('tollgate') }, { ...payEnv, PAY_API_MAX_REQUEST_DURATION: '1' })
  expect((await listen(misled.origin).client.post('/apps', {}))?.status).toBe(504)
  expect(await countWaiting(returned)).toBe(1)
  expect(await misled.askReady()).toBe(200)
}, 180_000)

test('what is acknowledged without the standby is lost with the primary: by less than remote_write, or by cancelling', async () => {
  const pair = await startPair()
  const { primary, standby } = pair
  await ask(primary.url('tollgate'), 'create table payments (id text primary key)')
  await cutOff(pair)
  const told: string[] = []
  const pay = async (id: string, mode: string) => {
    const write = `set synchronous_commit = ${mode}; set application_name = '${id}'; insert into payments values ('${id}')`
    await ask(primary.url('tollgate'), write)
    told.push(id)
  }
  const patient = ['on', 'remote_apply', 'remote_write'].map((mode) => pay(mode, mode).catch(() => {}))
  const cancelled = pay('cancelled', 'on')
  await expect.poll(() => countWaiting(primary), { interval: 10 }).toBe(4)
  await pay('local', 'local')
  await pay('off', 'off')
  const cancel = "select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'cancelled'"
  await ask(primary.url('postgres'), cancel)
  await cancelled
  expect(await countWaiting(primary)).toBe(3)
  await kill(primary)
  await Promise.all(patient)
  expect(told).toEqual(['local', 'off', 'cancelled'])
  await promote(standby)
  expect(await ask(standby.url('tollgate'), 'select id from payments')).toEqual([])
}, 60_000)
