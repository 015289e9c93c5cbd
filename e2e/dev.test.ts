import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { caller } from '@tollgate/kit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

afterAll(async () => {
  for (const dev of processes) {
    if (dev.child.exitCode === null && dev.child.signalCode === null) dev.signalGroup('SIGTERM')
    await dev.exited
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const keyOf = (folder: string) => JSON.parse(readFileSync(join(folder, '.tollgate', 'secrets.json'), 'utf8')).app.key as string

const nameOf = (dev: DevProcess, key: string) =>
  caller(dev.payments)('GET /me', { headers: { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` } })

/** To make a folder takes longer than all the rest, so that one lives through it all. */
describe('a folder, one start after the other', () => {
  const folder = freshFolder()
  let ports: Ports
  let dev: DevProcess
  let key: string
  let created: string

  beforeAll(async () => {
    ports = await freePorts()
    dev = start(folder, ports)
    await dev.ready
    key = keyOf(folder)
    created = (await caller(dev.payments)('POST /apps', { json: { name: 'Kept' } })).json<{ app: { key: string } }>().app.key
  })

  test('one command starts everything', async () => {
    for (const origin of [dev.identity, dev.payments]) expect((await caller(origin)('GET /health')).status).toBe(200)
    expect((await caller(dev.welcome)('GET /')).text).toContain('Tollgate')
    expect((await nameOf(dev, key)).json()).toMatchObject({ identity: { name: 'Development app' } })
  })

  test('a second instance on the same folder is told so in one sentence', async () => {
    const second = start(folder, await freePorts())
    expect(await second.exited).toBe(1)
    expect(second.output()).toMatch(
      /^Tollgate is running already on .*\.tollgate, as process \d+\. Stop that one first: kill \d+\n$/,
    )
    expect((await caller(dev.identity)('GET /health')).status).toBe(200)
  })

  test('a kill -9 of everything but PostgreSQL leaves nothing that the next start cannot clean up', async () => {
    const orphan = postmasterOf(folder)
    dev.signalGroup('SIGKILL')
    await dev.exited
    expect(orphan).toBeTypeOf('number')

    dev = start(folder, ports)
    await dev.ready
    expect(postmasterOf(folder)).not.toBe(orphan)
    expect((await nameOf(dev, created)).status).toBe(200)
  })

  test('SIGTERM stops everything, and the next start finds data and keys again', async () => {
    dev.child.kill('SIGTERM')
    expect(await dev.exited).toBe(0)
    expect(postmasterOf(folder)).toBeUndefined()

    dev = start(folder, ports)
    await dev.ready
    expect(keyOf(folder)).toBe(key)
    expect((await nameOf(dev, created)).json()).toMatchObject({ identity: { name: 'Kept' } })
  })

  test('Ctrl-C stops everything within five seconds', async () => {
    const started = performance.now()
    dev.signalGroup('SIGINT')
    expect(await dev.exited).toBe(0)
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(postmasterOf(folder)).toBeUndefined()
  })

  test('broken data is named in one sentence, and left alone', async () => {
    writeFileSync(join(folder, '.tollgate', 'postgres', 'PG_VERSION'), 'nonsense')
    const broken = start(folder, ports)
    expect(await broken.exited).toBe(1)
    expect(broken.output()).toContain(join(folder, '.tollgate', 'postgres'))
    expect(broken.output()).not.toMatch(/\n\s+at /)
    expect(statSync(join(folder, '.tollgate', 'postgres', 'base')).isDirectory()).toBe(true)
  })
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
