import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { disputeCodes } from '@tollgate/payments/rules/dispute-reasons'
import { processingError } from '@tollgate/payments/rules/processing-errors'
import { codeByAmount, testCards } from '@tollgate/payments/rules/test-cards'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curl } from './curl.ts'
import { type DevProcess, freePorts, startDev } from './dev-process.ts'

/** The guides to payments, followed command by command: with development mode, and with the programs that they tell to build. */
const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-pay-'))
const programs = join(folder, 'programs')
const moving = 'docs/guides/moving-from-paylike.md'
let dev: DevProcess
let database: string
let seeded: string

beforeAll(async () => {
  // What the acquirer did not answer is asked about in a few seconds, and not in a minute.
  writeFileSync(join(folder, '.env'), 'PAY_ASK_AGAIN_AFTER=3\n')
  mkdirSync(programs)
  dev = startDev(folder, await freePorts())
  await promisify(execFile)(process.execPath, [join(root, 'tools/build.ts'), join(programs, 'dist')])
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
  ['README.md', 3],
  ['docs/guides/payments.md', 18],
  ['docs/guides/books.md', 15],
  ['docs/guides/simulator.md', 14],
  ['docs/guides/idempotency.md', 10],
  [moving, 3],
])('every command of %s goes as it says', { timeout: 90_000 }, async (document, count) => {
  const steps = stepsOf(document)
  expect(steps).toHaveLength(count)
  writeSettings(document)
  const reader = await newReader()
  for (const { command, shown } of steps) {
    const filled = reader.fillIn(command)
    if (filled.startsWith('node')) reader.remember(await run(filled))
    else if (filled.startsWith('curl')) reader.remember(await ask(filled, shown))
    else await query(filled, shown)
  }
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

type Block = { kind: string; about: string; text: string }

function blocksOf(document: string): Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/```(\w+)(?: ([^\n]+))?\n([\s\S]*?)```/g)].map(([, kind = '', about = '', block = '']) => ({
    kind,
    about,
    text: block.trim(),
  }))
}

type Step = { command: string; shown: Block | undefined }

/** What a document tells to do, each with what it shows of the outcome. */
function stepsOf(document: string): Step[] {
  const blocks = blocksOf(document)
  return blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1]
    if (kind === 'sql') return [{ command: text, shown: next }]
    // The README is about more than payments: the rest of it is run elsewhere.
    if (kind !== 'sh' || (document === 'README.md' && !text.startsWith('# A merchant'))) return []
    const commands = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const outcome = next?.kind === 'json' && commands.at(-1)?.startsWith('curl') ? next : undefined
    return commands.map((command, place) => ({ command, shown: place === commands.length - 1 ? outcome : undefined }))
  })
}

/** Somebody who does what a document says, with what the answers told where it says `$TRANSACTION_ID`. */
async function newReader() {
  const values = new Map(await openShop())
  const note = (name: string, value: unknown) => typeof value === 'string' && values.set(name, value)
  return {
    fillIn(command: string): string {
      return command
        .replaceAll('http://localhost:8081', dev.identity)
        .replaceAll('http://localhost:8082', dev.payments)
        .replaceAll('$(date -u +%F)', new Date().toISOString().slice(0, 10))
        .replaceAll(/\$([A-Z_\d]+)/g, (_, name) => values.get(name) ?? missing(name))
    },
    remember(answer: string) {
      note('DISPUTE_ID', /^Dispute (\w{24}) /.exec(answer)?.[1])
      if (!/^[[{]/.test(answer)) return
      const told = JSON.parse(answer)
      if (Array.isArray(told)) note('LAST_ID', told.at(-1)?.id)
      note('KEY', told.app?.key)
      note('MERCHANT_ID', told.merchant?.id)
      note('TRANSACTION_ID', told.transaction?.id)
      note('DISPUTE_ID', told.dispute?.id)
      note('IDENTITY_ID', told.identity?.id)
      note('ACCESS_TOKEN', told.access_token)
    },
  }
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
  ]
}

/** `json 404` is an answer with that status, `json later` one that comes when the acquirer was asked again. */
async function ask(command: string, shown: Block | undefined): Promise<string> {
  const status = /\d{3}/.exec(shown?.about ?? '')?.[0]
  const wanted = status === undefined ? expect.toSatisfy((given: number) => given < 300) : Number(status)
  const attempt = async () => {
    const answer = await curl(command)
    return { status: answer.status, told: withoutChance(answer.text), text: answer.text }
  }
  const expected = { status: wanted, ...(shown ? { told: withoutChance(shown.text) } : {}) }
  if (shown?.about === 'later') await expect.poll(attempt, { timeout: 30_000, interval: 500 }).toMatchObject(expected)
  const answer = await attempt()
  expect(answer, command).toMatchObject(expected)
  return answer.text
}

/** Ids, keys and moments differ from one time to the next. */
function withoutChance(text: string): unknown {
  if (text === '') return undefined
  return JSON.parse(text, (_, value) =>
    typeof value === 'string'
      ? value
          .replace(/^[0-9a-f]{24}$/, 'an id')
          .replace(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'a key')
          .replace(/^\d{4}-\d\d-\d\dT.*Z$/, 'a moment')
      : value,
  )
}

/** As psql shows it. */
async function query(statement: string, shown: Block | undefined): Promise<void> {
  const client = new pg.Client(database)
  await client.connect()
  try {
    const { fields, rows } = await client.query({ text: statement, rowMode: 'array' })
    const [head = '', , ...body] = shown?.text.split('\n') ?? []
    const cells = (line: string) => line.split('|').map((cell) => cell.trim())
    expect(fields.map(({ name }) => name)).toEqual(cells(head))
    expect(rows.map((row) => row.map(String))).toEqual(body.map(cells))
  } finally {
    await client.end()
  }
}

/** A program that was built, in a folder with nothing but the settings that the document tells. */
async function run(command: string): Promise<string> {
  const [program, ...words] = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  if (program !== 'node') throw new Error(`Not a command that the test knows: ${command}`)
  return (await promisify(execFile)(process.execPath, words, { cwd: programs, env: {} })).stdout
}

function writeSettings(document: string) {
  const told = blocksOf(document)
    .filter(({ kind }) => kind === 'ini')
    .map(({ text }) => text)
  const others = told.join('\n').replaceAll(/^PAY_DATABASE_URL=.*$/gm, '')
  writeFileSync(join(programs, '.env'), `PAY_DATABASE_URL=${database}\n${others}\n`)
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
