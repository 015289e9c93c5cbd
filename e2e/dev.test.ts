import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { caller } from '@tollgate/kit/testing'
import { afterEach, expect, test } from 'vitest'
import { type DevProcess, freePorts, type Ports, startDev } from './dev-process.ts'

const folders: string[] = []
const processes: DevProcess[] = []

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-dev-'))
  folders.push(folder)
  return folder
}

function start(folder: string, ports: Ports): DevProcess {
  const dev = startDev(folder, ports)
  processes.push(dev)
  return dev
}

afterEach(async () => {
  for (const dev of processes.splice(0)) {
    if (dev.child.exitCode === null && dev.child.signalCode === null) dev.signalGroup('SIGTERM')
    await dev.exited
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const keyOf = (folder: string) => JSON.parse(readFileSync(join(folder, '.tollgate', 'secrets.json'), 'utf8')).app.key as string

async function createdAppOf(dev: DevProcess): Promise<string> {
  return (await caller(dev.payments)('POST /apps', { json: { name: 'Kept' } })).json<{ app: { key: string } }>().app.key
}

const nameOf = (dev: DevProcess, key: string) =>
  caller(dev.payments)('GET /me', { headers: { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` } })

test('one command starts everything, and Ctrl-C stops it within five seconds', async () => {
  const folder = freshFolder()
  const dev = start(folder, await freePorts())
  await dev.ready
  for (const origin of [dev.identity, dev.payments]) expect((await caller(origin)('GET /health')).status).toBe(200)
  expect((await caller(dev.welcome)('GET /')).text).toContain('Tollgate')
  expect((await nameOf(dev, keyOf(folder))).json()).toMatchObject({ identity: { name: 'Development app' } })

  const started = performance.now()
  dev.signalGroup('SIGINT')
  expect(await dev.exited).toBe(0)
  expect(performance.now() - started).toBeLessThan(5_000)
  expect(postmasterOf(folder)).toBeUndefined()
})

test('SIGTERM stops everything, and the next start finds data and keys again', async () => {
  const folder = freshFolder()
  const ports = await freePorts()
  const first = start(folder, ports)
  await first.ready
  const [key, created] = [keyOf(folder), await createdAppOf(first)]
  first.child.kill('SIGTERM')
  expect(await first.exited).toBe(0)

  const second = start(folder, ports)
  await second.ready
  expect(keyOf(folder)).toBe(key)
  expect((await nameOf(second, created)).json()).toMatchObject({ identity: { name: 'Kept' } })
})

test('a kill -9 of everything but PostgreSQL leaves nothing that the next start cannot clean up', async () => {
  const folder = freshFolder()
  const ports = await freePorts()
  const first = start(folder, ports)
  await first.ready
  const created = await createdAppOf(first)
  const orphan = postmasterOf(folder)
  first.signalGroup('SIGKILL')
  await first.exited
  expect(orphan).toBeTypeOf('number')

  const second = start(folder, ports)
  await second.ready
  expect(postmasterOf(folder)).not.toBe(orphan)
  expect((await nameOf(second, created)).status).toBe(200)
})

test('a second instance on the same folder is told so in one sentence', async () => {
  const folder = freshFolder()
  const first = start(folder, await freePorts())
  await first.ready
  const second = start(folder, await freePorts())
  expect(await second.exited).toBe(1)
  expect(second.output()).toMatch(
    /^Tollgate is running already on .*\.tollgate, as process \d+\. Stop that one first: kill \d+\n$/,
  )
  expect((await caller(first.identity)('GET /health')).status).toBe(200)
})

test('a port that is taken is named in one sentence with its cure', async () => {
  const ports = await freePorts()
  const squatter = createServer().listen(ports.PAY_API_PORT, '127.0.0.1')
  try {
    const dev = start(freshFolder(), ports)
    expect(await dev.exited).toBe(1)
    expect(dev.output()).toBe(
      `Port ${ports.PAY_API_PORT} is taken by another program. Stop that program, or set PAY_API_PORT to a free port.\n`,
    )
  } finally {
    squatter.close()
  }
})

test('a broken data folder is named in one sentence, and left alone', async () => {
  const folder = freshFolder()
  const ports = await freePorts()
  const first = start(folder, ports)
  await first.ready
  first.child.kill('SIGTERM')
  await first.exited
  writeFileSync(join(folder, '.tollgate', 'postgres', 'PG_VERSION'), 'nonsense')

  const second = start(folder, ports)
  expect(await second.exited).toBe(1)
  expect(second.output()).toContain(join(folder, '.tollgate', 'postgres'))
  expect(second.output()).not.toMatch(/\n\s+at /)
  expect(statSync(join(folder, '.tollgate', 'postgres', 'base')).isDirectory()).toBe(true)
})

test('a setting that is wrong is complained about without a stack trace, and nothing stays behind', async () => {
  const folder = freshFolder()
  writeFileSync(join(folder, '.env'), 'AUTH_JWT_EXP=soon\nAUTH_DISABLE_SIGNUP=perhaps\n')
  const dev = start(folder, await freePorts())
  expect(await dev.exited).toBe(1)
  expect(dev.output()).toContain('AUTH_JWT_EXP must be')
  expect(dev.output()).toContain('AUTH_DISABLE_SIGNUP must be')
  expect(dev.output()).not.toMatch(/\n\s+at /)
  expect(postmasterOf(folder)).toBeUndefined()
})

function postmasterOf(folder: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, '.tollgate', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}
