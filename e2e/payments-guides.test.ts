import { execFile, spawnSync } from 'node:child_process'
import { createPrivateKey, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { deviceCodeOf } from '@tollgate/payments/rules/device-codes'
import { disputeCodes } from '@tollgate/payments/rules/dispute-reasons'
import { type ProcessingCode, processingError } from '@tollgate/payments/rules/processing-errors'
import { codeByAmount, testCards } from '@tollgate/payments/rules/test-cards'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curl, shellWords } from './curl.ts'
import { type DevProcess, freePorts, startDev } from './dev-process.ts'
import { jsClient, Refused } from './device-client.ts'
import { buildPrograms } from './programs.ts'

/** The guides to payments, followed command by command: with development mode, and with the programs that they tell to build. */
const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-pay-'))
const programs = join(folder, 'programs')
const moving = 'docs/guides/moving-from-paylike.md'
/** What stands behind the names of keys in the guides, and is three dots there. */
const vaultKeys = new Map(['old', 'new'].map((id) => [id, `${id}:${randomBytes(32).toString('base64')}`]))
let dev: DevProcess
let database: string
let seeded: string

beforeAll(async () => {
  // What the acquirer did not answer is asked about in a few seconds, and not in a minute.
  writeFileSync(join(folder, '.env'), `PAY_ASK_AGAIN_AFTER=3\nPAY_VAULT_KEYS=${[...vaultKeys.values()]}\n`)
  mkdirSync(programs)
  dev = startDev(folder, await freePorts())
  await buildPrograms(join(programs, 'dist'))
  await dev.ready
  database = await databaseAddress()
  await signUpAnn()
  writeFileSync(join(programs, 'seed.json'), seedExample())
  writeSettings(moving)
  seeded = await run('node dist/payments.mjs seed seed.json')
})

afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.exited
  rmSync(folder, { recursive: true, force: true })
})

test('the seed file of the guide is loaded as it says, and breaks no promise', async () => {
  expect(seeded.trim()).toBe(blocksOf(moving).find(({ kind }) => kind === 'text')?.text)
  expect(await run('node dist/payments.mjs seed seed.json')).toBe('Loaded nothing, for all of it is there already.\n')
  expect(await run('node dist/payments.mjs verify')).toContain(': no breach.\n')
})

test.each([
  ['README.md', 4],
  ['docs/guides/payments.md', 18],
  ['docs/guides/books.md', 15],
  ['docs/guides/simulator.md', 14],
  ['docs/guides/idempotency.md', 10],
  ['docs/guides/checkout.md', 6],
  ['docs/guides/paying.md', 15],
  ['docs/guides/payment-links.md', 3],
  ['docs/guides/recurring.md', 12],
  [moving, 6],
  // After the others, so that there are cards to be moved to another key.
  ['docs/guides/vault.md', 4],
])('every command of %s goes as it says', { timeout: 90_000 }, async (document, count) => {
  const steps = stepsOf(document)
  expect(steps).toHaveLength(count)
  writeSettings(document)
  const reader = await newReader()
  for (const { command, shown } of steps) {
    const [, name, value] = /^([A-Z]+)=(.*)$/.exec(command) ?? []
    if (name !== undefined && value !== undefined) reader.keep(name, await evaluate(value, reader))
    else if (command.startsWith('node')) reader.remember(await runShown(command, shown, reader))
    else if (command.startsWith('curl')) reader.remember(await ask(reader.readdress(command), shown, reader))
    else await query(reader.fillIn(command), shown)
  }
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

test.runIf(hasOpenssl)('the keys for wallets are made as the guide says', async () => {
  const steps = stepsOf('docs/guides/wallets.md')
  expect(steps).toHaveLength(4)
  const outputs = await steps.reduce(
    async (before, { command }) => [
      ...(await before),
      (await promisify(execFile)('sh', ['-c', command], { cwd: programs })).stdout,
    ],
    Promise.resolve<string[]>([]),
  )
  for (const name of ['applepay.pem', 'googlepay.pem'])
    expect(createPrivateKey(readFileSync(join(programs, name))).asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
  expect(readFileSync(join(programs, 'applepay.csr'), 'utf8')).toContain('BEGIN CERTIFICATE REQUEST')
  // An uncompressed point of the curve.
  const point = Buffer.from(outputs.at(-1) ?? '', 'base64')
  expect([point.length, point[0]]).toEqual([65, 4])
})

test('the picture of the payment link is there', () => {
  expect(readFileSync(join(programs, 'tea.svg'), 'utf8')).toContain('Corner shop')
})

test('the file for the bank has the payouts in it', () => {
  const file = readFileSync(join(programs, 'payouts.xml'), 'utf8')
  expect(file).toContain('urn:iso:std:iso:20022:tech:xsd:pain.001.001.09')
  expect(file).toContain('<Nm>Tea and Toast</Nm>')
})

test('the verdict after all of the guides is that no promise is broken', async () => {
  expect(await run('node dist/payments.mjs verify')).toContain(': no breach.\n')
})

const simulator = readFileSync(join(root, 'docs/guides/simulator.md'), 'utf8')

test('the guide lists the test cards that there are', () => {
  const networks = { visa: 'Visa', mastercard: 'Mastercard' }
  const told = [...simulator.matchAll(/^\| ([\d ]{19}) \| (\w+) \| (.+) \|$/gm)].map(([, number, network, fate]) => ({
    number: number?.replaceAll(' ', ''),
    network,
    fate,
  }))
  const listed = testCards.map(({ number, scheme, fate }) => ({ number, network: networks[scheme], fate: wordsOf(fate) }))
  expect(told.toSorted(byNumber)).toEqual(listed.toSorted(byNumber))
})

function wordsOf(fate: (typeof testCards)[number]['fate']): string {
  if (typeof fate === 'number') return `${fate} ${processingError(fate).message}`
  return fate === 'by amount' ? 'the amount decides' : fate
}

function byNumber(one: { number: string | undefined }, other: { number: string | undefined }): number {
  return (one.number ?? '') < (other.number ?? '') ? -1 : 1
}

test('the guide tells of every amount what it decides', () => {
  const rows = [...simulator.matchAll(/^\| ([\d, ]+(?:and every other amount)?) \| (\d+|none: approved) \|$/gm)]
  const told = rows.flatMap(([, amounts = '', code]) => (amounts.match(/\d+/g) ?? []).map((amount) => [Number(amount), code]))
  const decided = Array.from({ length: 20_000 }, (_, index) => index + 40_000).concat(20_000)
  const special = decided.filter((amount) => codeByAmount(amount) !== codeByAmount(1))
  expect(told.map(([amount]) => amount).toSorted()).toEqual([40_110, ...special].toSorted())
  for (const [amount, code] of told)
    expect([amount, String(codeByAmount(Number(amount)) ?? 'none: approved')]).toEqual([amount, code])
  expect(rows.find(([row]) => row.includes('every other amount'))?.[2]).toBe(String(codeByAmount(1)))
})

test('the guide names the reasons of disputes that have a title', () => {
  const sentence = /known are ([\d, ]+(?:to \d+)?[\d, and]+),/.exec(simulator)?.[1] ?? ''
  const told = [...sentence.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
  )
  expect(told).toEqual(disputeCodes)
})

const paying = readFileSync(join(root, 'docs/guides/paying.md'), 'utf8')

test('the simulated bank behaves as the guide says', { timeout: 30_000 }, async () => {
  const shop = new Map(await openShop())
  const rows = [...paying.matchAll(/^\| ([\w ]+) \| (?:nothing|`(\{.*\})`) \| .+ \| (.+) \|$/gm)].map(
    ([, name, tds = '{}', outcome]) => ({
      name,
      tds: JSON.parse(tds),
      outcome: outcome === 'as above' ? 'full' : /`(full|attempt|TDSECURE_\w+)`/.exec(outcome ?? '')?.[1],
    }),
  )
  expect(rows).toHaveLength(9)
  // Whoever closes the page sends nothing more.
  for (const { name, tds, outcome } of rows.filter((row) => row.name !== 'abandoned')) {
    const payer = name === 'refused' ? 'refuses' : 'confirms'
    expect([name, await payAt(shop, { payer, tds })]).toEqual([name, outcome])
  }
})

/** How far 3-D Secure came, or what the payment was refused with. */
async function payAt(shop: ReadonlyMap<string, string>, { payer, tds }: { payer: 'confirms' | 'refuses'; tds: object }) {
  const { tokenize, pay } = jsClient({ origin: dev.payments, payer })
  const card = {
    number: await tokenize('pcn', '4100000000000000'),
    code: await tokenize('pcsc', '123'),
    expiry: { month: 8, year: 2066 },
  }
  const amount = { currency: 'EUR', exponent: 2, value: 1250 }
  try {
    const { authorizationId } = await pay({ integration: { key: shop.get('MERCHANT_KEY') }, test: { tds }, amount, card })
    const { text } = await curl(`curl -u :${shop.get('KEY')} ${dev.payments}/transactions/${authorizationId}`)
    return JSON.parse(text).transaction.tds
  } catch (problem) {
    if (problem instanceof Refused) return problem.code
    throw problem
  }
}

test('the guide tells the codes that devices are told', () => {
  const told = [...paying.matchAll(/^\| ([\d, ]+|any other) \| `([A-Z_]+)` \|$/gm)].flatMap(([, numbers = '', code]) =>
    numbers.split(', ').map((number) => [number, code]),
  )
  const codes = Array.from({ length: 99 }, (_, index) => (index + 1) as ProcessingCode)
  const own = codes.map((code) => [String(code), deviceCodeOf(code)]).filter(([, code]) => code !== 'PAYMENT_METHOD_ERROR')
  expect(told).toEqual([...own, ['any other', 'PAYMENT_METHOD_ERROR']])
})

test('what documents point to is there, to the heading', () => {
  const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`)
  const broken = ['README.md', 'CONTRIBUTING.md', ...guides].flatMap((document) => {
    const text = readFileSync(join(root, document), 'utf8')
    const places = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, place = '']) => place)
    return places.filter((place) => !leadsSomewhere(document, place)).map((place) => `${document}: ${place}`)
  })
  expect(broken).toEqual([])
})

function leadsSomewhere(document: string, place: string): boolean {
  const [path, heading] = place.split('#', 2)
  const file = path ? join(root, dirname(document), path) : join(root, document)
  if (!existsSync(file) || heading === undefined) return existsSync(file)
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, words = '']) => words)
  return headings.some(
    (words) =>
      words
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-') === heading,
  )
}

type Block = { kind: string; about: string; text: string }

function blocksOf(document: string): Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  // One that stands in a list stands in by as much as the list.
  return [...text.matchAll(/^( *)```(\w+)(?: ([^\n]+))?\n([\s\S]*?)```/gm)].map(
    ([, margin, kind = '', about = '', block = '']) => ({
      kind,
      about,
      text: block.replaceAll(new RegExp(`^${margin}`, 'gm'), '').trim(),
    }),
  )
}

type Step = { command: string; shown: Block | undefined }

/** What a document tells to do, each with what it shows of the outcome. */
function stepsOf(document: string): Step[] {
  const blocks = blocksOf(document)
  return blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1]
    if (kind === 'sql') return [{ command: text, shown: next?.kind === 'text' ? next : undefined }]
    // The README is about more than payments: the rest of it is run elsewhere.
    if (kind !== 'sh' || (document === 'README.md' && !text.startsWith('# A merchant'))) return []
    const commands = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const shows = commands.at(-1)?.startsWith('curl') ? 'json' : 'text'
    const outcome = next?.kind === shows ? next : undefined
    return commands.map((command, place) => ({ command, shown: place === commands.length - 1 ? outcome : undefined }))
  })
}

type Reader = Awaited<ReturnType<typeof newReader>>

/** Somebody who does what a document says, with what the answers told where it says `$TRANSACTION_ID`. */
async function newReader() {
  const values = new Map(await openShop())
  const note = (name: string, value: unknown) => typeof value === 'string' && values.set(name, value)
  const lookUp = (name: string) => values.get(name) ?? missing(name)
  const readdress = (command: string) =>
    command
      .replaceAll('http://localhost:8081', dev.identity)
      .replaceAll('http://localhost:8082', dev.payments)
      .replaceAll('$(date -u +%F)', new Date().toISOString().slice(0, 10))
  return {
    lookUp,
    keep: note,
    readdress,
    fillIn: (text: string) => readdress(text).replaceAll(/\$([A-Z_\d]+)/g, (_, name) => lookUp(name)),
    remember(answer: string) {
      note('DISPUTE_ID', /^Dispute (\w{24}) /.exec(answer)?.[1])
      if (!/^[[{]/.test(answer)) return
      const told = JSON.parse(answer)
      if (Array.isArray(told)) note('LAST_ID', told.at(-1)?.id)
      note('KEY', told.app?.key)
      note('MERCHANT_ID', told.merchant?.id)
      note('MERCHANT_KEY', told.merchant?.key)
      note('TRANSACTION_ID', told.transaction?.id ?? told.authorizationId)
      note('DISPUTE_ID', told.dispute?.id)
      note('IDENTITY_ID', told.identity?.id)
      note('ACCESS_TOKEN', told.access_token)
    },
  }
}

/** What a shell would put into a variable: a text, what curl answers, or what `cut` leaves of it. */
async function evaluate(value: string, reader: Reader): Promise<string> {
  const [, command, cut] = /^\$\((curl .*?)( \| cut -d'"' -f4)?\)$/.exec(value) ?? []
  if (command === undefined) return shellWords(value, reader.lookUp).join(' ')
  const answer = (await ask(reader.readdress(command), undefined, reader)).trimEnd()
  return cut === undefined ? answer : (answer.split('"')[3] ?? '')
}

function missing(name: string): never {
  throw new Error(`The document uses $${name}, which no answer before told`)
}

/** What the guide to payments begins with, for those that go on from there. */
async function openShop(): Promise<[string, string][]> {
  const [makeApp, makeMerchant] = stepsOf('docs/guides/payments.md').map(({ command }) =>
    command.replace('http://localhost:8082', dev.payments),
  )
  const { app } = JSON.parse((await curl(makeApp ?? '')).text)
  const { merchant } = JSON.parse((await curl(makeMerchant?.replace('$KEY', app.key) ?? '')).text)
  return [
    ['KEY', app.key],
    ['MERCHANT_ID', merchant.id],
    ['MERCHANT_KEY', merchant.key],
  ]
}

/** `json 404` is an answer with that status, `json later` one that comes when the acquirer was asked again. */
async function ask(command: string, shown: Block | undefined, reader: Reader): Promise<string> {
  const status = /\d{3}/.exec(shown?.about ?? '')?.[0]
  const wanted = status === undefined ? expect.toSatisfy((given: number) => given < 300) : Number(status)
  const attempt = async () => {
    const answer = await curl(command, reader.lookUp)
    return { status: answer.status, told: withoutChance(answer.text), text: answer.text }
  }
  const expected = { status: wanted, ...(shown ? { told: withoutChance(shown.text) } : {}) }
  if (shown?.about === 'later') await expect.poll(attempt, { timeout: 30_000, interval: 500 }).toMatchObject(expected)
  const answer = await attempt()
  expect(answer, command).toMatchObject(expected)
  return answer.text
}

/** Ids, keys, moments and what is sealed differ from one time to the next. */
function withoutChance(text: string): unknown {
  if (text === '') return undefined
  return JSON.parse(text, (_, value) =>
    typeof value === 'string'
      ? value
          .replace(/^[0-9a-f]{24}$/, 'an id')
          .replace(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'a key')
          .replace(/^\d{4}-\d\d-\d\dT.*Z$/, 'a moment')
          .replace(/^http:\/\/localhost:\d+(\/pos\?key=)[0-9a-f-]{36}/, '$1')
          .replace(/^<svg .*$/s, 'a picture')
          .replace(/^[\w+/-]{8,}(…|[\w+/=-]{60,})$/, 'sealed')
      : value,
  )
}

/** As psql shows it. */
async function query(statement: string, shown: Block | undefined): Promise<void> {
  const client = new pg.Client(database)
  await client.connect()
  try {
    const { fields, rows } = await client.query({ text: statement, rowMode: 'array' })
    if (!shown) return
    const [head = '', , ...body] = shown.text.split('\n')
    const cells = (line: string) => line.split('|').map((cell) => cell.trim())
    expect(fields.map(({ name }) => name)).toEqual(cells(head))
    expect(rows.map((row) => row.map(String))).toEqual(body.map(cells))
  } finally {
    await client.end()
  }
}

/** A program that was built, in a folder with nothing but the settings that the document tells. */
async function run(command: string, lookUp?: (name: string) => string): Promise<string> {
  const [program, ...words] = shellWords(command, lookUp)
  if (program !== 'node') throw new Error(`Not a command that the test knows: ${command}`)
  return (await promisify(execFile)(process.execPath, words, { cwd: programs, env: {} })).stdout
}

async function runShown(command: string, shown: Block | undefined, reader: Reader): Promise<string> {
  const output = await run(reader.readdress(command), reader.lookUp)
  if (shown) expect(withoutCounts(output)).toBe(withoutCounts(shown.text))
  return output
}

function withoutCounts(output: string): string {
  return output
    .trim()
    .replaceAll(/\b\d+ cards?\b/g, 'some cards')
    .replace(/^\d{4}-\d\d-\d\d-[0-9a-f]{6}:(…|[\w+/]{43}=)$/, 'a key of the vault')
}

function writeSettings(document: string) {
  const told = blocksOf(document)
    .filter(({ kind }) => kind === 'ini')
    .map(({ text }) => text)
  const others = told
    .join('\n')
    .replaceAll(/^PAY_DATABASE_URL=.*$/gm, '')
    .replaceAll(/(\w+):…/g, (_, id) => vaultKeys.get(id) ?? missing(id))
  const keys = others.includes('PAY_VAULT_KEYS=') ? '' : `PAY_VAULT_KEYS=${[...vaultKeys.values()]}`
  writeFileSync(join(programs, '.env'), `PAY_DATABASE_URL=${database}\n${keys}\n${others}\n`)
}

function seedExample(): string {
  return blocksOf(moving).find(({ text }) => text.includes('"apps"'))?.text ?? ''
}

/** As the welcome page shows it. */
async function databaseAddress(): Promise<string> {
  const page = await (await fetch(dev.welcome)).text()
  return /postgres:\/\/[^<\s"]+/.exec(page)?.[0].replaceAll('&#38;', '&') ?? ''
}

/** The person whom the guide invites. */
async function signUpAnn(): Promise<void> {
  const { jwtSecret } = JSON.parse(readFileSync(join(folder, '.tollgate/secrets.json'), 'utf8'))
  const token = signToken({ role: 'service_role', exp: Math.floor(Date.now() / 1000) + 600 }, new Secret(jwtSecret))
  const ann = { email: 'ann@example.com', password: 'correct horse', email_confirm: true, user_metadata: { name: 'Ann' } }
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${dev.identity}/admin/users`, { method: 'POST', headers, body: JSON.stringify(ann) })
  if (!answer.ok) throw new Error(`Ann could not be signed up: ${answer.status} ${await answer.text()}`)
}
