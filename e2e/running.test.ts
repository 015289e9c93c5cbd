import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { caller, type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPrograms } from './programs.ts'

/** The guide and the files that it tells to build, used as it tells, in a folder without sources or packages. */
const root = join(import.meta.dirname, '..')
const guide = readFileSync(join(root, 'docs/guides/running.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-running-'))
let database: ScratchDatabase

beforeAll(async () => {
  database = await scratchDatabase()
  await buildPrograms(folder)
})

afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const blocksOf = (kind: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text)

function writeSettings(text: string) {
  writeFileSync(join(folder, '.env'), text.replace(/^(\w+_DATABASE_URL)=.*$/m, `$1=${database.url}`))
}

async function run(program: string, ...words: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(folder, program), ...words], { cwd: folder, env: {} })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

test('the least settings of the guide are enough to serve from one file', async () => {
  const [identitySettings = ''] = blocksOf('ini')
  writeSettings(`${identitySettings}\nAUTH_API_PORT=0\nWORKERS=1\n`)
  const child = spawn(process.execPath, [join(folder, 'identity.mjs'), 'serve'], { cwd: folder, env: {} })
  try {
    const port = await portOf(child)
    expect((await caller(`http://127.0.0.1:${port}`)('GET /settings')).status).toBe(200)
    child.kill('SIGTERM')
    expect((await once(child, 'close'))[0]).toBe(0)
  } finally {
    child.kill('SIGKILL')
  }
})

test('one file has the page on which customers pay, and the script of the popup, with nothing beside it to make them of', async () => {
  writeSettings(`PAY_DATABASE_URL=\nPAY_API_PORT=0\nWORKERS=1\nPAY_VAULT_KEYS=one:${Buffer.alloc(32, 1).toString('base64')}\n`)
  const child = spawn(process.execPath, [join(folder, 'payments.mjs'), 'serve'], { cwd: folder, env: {} })
  try {
    const call = caller(`http://127.0.0.1:${await portOf(child)}`)
    const page = await call('GET /pos?key=nobody')
    expect([page.status, page.text]).toEqual([404, expect.stringContaining('This payment link does not work')])
    const [style = ''] = /\/pos\/assets\/page-\w+\.css/.exec(page.text) ?? []
    expect((await call(`GET ${style}`)).text.length).toBeGreaterThan(2000)
    const popup = await call('GET /pos/popup')
    const [script = ''] = /\/pos\/assets\/page-\w+\.js/.exec(popup.text) ?? []
    expect((await call(`GET ${script}`)).text).toContain('/payments')
    expect((await call('GET /sdk.js')).text).toContain('Paylike')
  } finally {
    child.kill('SIGKILL')
  }
})

/** From the line of the log that tells that the service listens. */
function portOf(child: ChildProcessWithoutNullStreams): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
      const line = output.split('\n').find((each) => each.includes('"listening"'))
      if (line) resolve(JSON.parse(line).port)
    })
    child.on('close', () => reject(new Error(output)))
  })
}

test('the seed file of the guide is loaded, once, and verified', async () => {
  const [, paymentsSettings = ''] = blocksOf('ini')
  const [seedFile = ''] = blocksOf('json')
  writeSettings(`${paymentsSettings}\nPAY_ENV=development\n`)
  writeFileSync(join(folder, 'fixtures.json'), seedFile)
  expect(await run('payments.mjs', 'seed', 'fixtures.json')).toEqual({ code: 0, output: 'Loaded 1 app.\n' })
  expect(await run('payments.mjs', 'seed', 'fixtures.json')).toEqual({
    code: 0,
    output: 'Loaded nothing, for all of it is there already.\n',
  })
  expect(await run('payments.mjs', 'verify')).toEqual({ code: 0, output: 'Checked 1 app: no breach.\n' })
})

test('seeding is refused in production, which is the default', async () => {
  const [, paymentsSettings = ''] = blocksOf('ini')
  writeSettings(paymentsSettings)
  const { code, output } = await run('payments.mjs', 'seed', 'fixtures.json')
  expect(code).toBe(1)
  expect(output).toMatch(/^Seeding is refused because PAY_ENV is production/)
})

test('both services migrate into one database, once', async () => {
  const [identitySettings = ''] = blocksOf('ini')
  writeSettings(identitySettings)
  expect(await run('tollgate.mjs', 'identity', 'migrate')).toEqual({ code: 0, output: 'The tables are up to date.\n' })
})

test('a database that cannot be reached is one sentence', async () => {
  writeFileSync(join(folder, '.env'), 'PAY_DATABASE_URL=postgres://someone:hidden@127.0.0.1:1/none\n')
  const { code, output } = await run('payments.mjs', 'migrate')
  expect(code).toBe(1)
  expect(output).toMatch(/^The database cannot be reached: .*ECONNREFUSED.*\n$/)
  expect(output).not.toContain('hidden')
})
