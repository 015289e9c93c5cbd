import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type EmbeddedPostgres, PostgresProblem, startPostgres } from './embedded-postgres.ts'

// An initdb takes a second here, and several on a slow disk.
vi.setConfig({ testTimeout: 30_000 })

let home: string
let template: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tollgate-embedded-postgres-'))
  template = join(home, 'template')
})

afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))

async function start(folder: string): Promise<EmbeddedPostgres> {
  const server = await startPostgres({ folder, template, settings: { fsync: 'off' } })
  onTestFinished(() => server.stop())
  return server
}

async function ask(server: EmbeddedPostgres, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: server.url('postgres') })
  await client.connect()
  const { rows } = await client.query({ text: sql, rowMode: 'array' })
  await client.end()
  return rows[0]?.[0]
}

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A process that starts a server and is then killed with -9, as early as the folder or the server is there. */
async function startInKilledProcess(folder: string, until: 'ready' | 'initialising'): Promise<number> {
  const module = JSON.stringify(new URL('./embedded-postgres.ts', import.meta.url).href)
  const script = `const { startPostgres } = await import(${module})
    const { pid } = await startPostgres({ folder: ${JSON.stringify(folder)} })
    console.log(pid)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const pid = until === 'ready' ? Number((await once(child.stdout, 'data'))[0]) : await initialising(folder)
  child.kill('SIGKILL')
  await exit
  return pid
}

async function initialising(folder: string): Promise<number> {
  for (;;) {
    const files = await readdir(home, { recursive: true }).catch(() => [''])
    if (files.some((file) => file.startsWith(`${basename(folder)}.new-`) && file.endsWith('/base'))) return 0
    await sleep(5)
  }
}

test('a fresh folder starts and answers, in UTF-8, in UTC and durably', async () => {
  const folder = join(home, 'fresh')
  const server = await startPostgres({ folder })
  onTestFinished(() => server.stop())
  const settings = ['server_encoding', 'timezone', 'fsync', 'listen_addresses'].map((name) => `current_setting('${name}')`)
  expect(await ask(server, `select array[${settings}, current_user::text]`)).toEqual(['UTF8', 'UTC', 'on', '', 'tollgate'])
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect(await readFile(join(folder, 'postgres.log'), 'utf8')).toContain('ready to accept connections')
})

test('stop ends the process and resolves exited, and can be asked for twice', async () => {
  const server = await start(join(home, 'stop'))
  expect(alive(server.pid)).toBe(true)
  await Promise.all([server.stop(), server.stop()])
  await server.exited
  expect(alive(server.pid)).toBe(false)
})

test('data survive stop and start', async () => {
  const first = await start(join(home, 'kept'))
  await ask(first, 'create table notes as select 42 as answer')
  await first.stop()
  const second = await start(join(home, 'kept'))
  expect(await ask(second, 'select answer from notes')).toBe(42)
})

test('a crash of the server is noticed, and the next start finds what was committed', async () => {
  const first = await start(join(home, 'crashed'))
  await ask(first, 'create table notes as select 42 as answer')
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const second = await start(join(home, 'crashed'))
  expect(await ask(second, 'select answer from notes')).toBe(42)
})

test('a server that outlived its killed process is stopped and its folder used again', async () => {
  const folder = join(home, 'outlived')
  const pid = await startInKilledProcess(folder, 'ready')
  expect(alive(pid)).toBe(true)
  const server = await start(folder)
  expect(server.pid).not.toBe(pid)
  expect(await ask(server, 'select 1')).toBe(1)
  // Which process reaps the old server is not ours to say; a zombie has no command line any more.
  expect(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).toBe('')
})

test('an interrupted initdb is cleaned up', async () => {
  const folder = join(home, 'interrupted')
  await startInKilledProcess(folder, 'initialising')
  expect(await stat(folder).catch(() => 'absent')).toBe('absent')
  const server = await start(folder)
  expect(await ask(server, 'select 1')).toBe(1)
  expect((await readdir(home)).filter((name) => name.startsWith('interrupted'))).toEqual(['interrupted'])
})

test('a stale postmaster.pid is ignored, even if a stranger has the number now', async () => {
  const folder = join(home, 'stale')
  await (await start(folder)).stop()
  await writeFile(join(folder, 'postmaster.pid'), `${process.pid}\n${folder}\n0\n5432\n${folder}\n`)
  await writeFile(join(folder, '.s.PGSQL.5432.lock'), `${process.pid}\n`)
  expect(await ask(await start(folder), 'select 1')).toBe(1)
})

test('a path too long or too odd for a socket works', async () => {
  const before = await socketFolders()
  const long = await start(join(home, 'long'.repeat(30), 'postgres'))
  expect(await ask(long, 'select 1')).toBe(1)
  await long.stop()
  expect(await socketFolders()).toEqual(before)
  const odd = await start(join(home, `a 'b', "c" & d=é%20`))
  expect(await ask(odd, 'select 1')).toBe(1)
})

async function socketFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith('tollgate-socket-'))
}

test('two processes at once may make the same template', async () => {
  const race = join(home, 'race')
  const servers = await Promise.all(
    ['one', 'two'].map((name) => startPostgres({ folder: join(race, name), template: join(race, 'template') })),
  )
  await Promise.all(servers.map((server) => server.stop()))
  expect(await readdir(join(race, 'template'))).toHaveLength(1)
})

test('a start from a template takes no initdb', async () => {
  await (await start(join(home, 'copied-1'))).stop()
  const begin = performance.now()
  await start(join(home, 'copied-2'))
  expect(performance.now() - begin).toBeLessThan(3_000)
})

test.each([
  ['without PG_VERSION', 'notes.txt', 'mine', /not a PostgreSQL data folder.*move it away/],
  ['with a garbled PG_VERSION', 'PG_VERSION', '\0\0', /not a PostgreSQL data folder.*move it away/],
  ['of another major version', 'PG_VERSION', '13\n', /PostgreSQL 13, but this is PostgreSQL 18; .*move it away/],
  ['with nothing but PG_VERSION', 'PG_VERSION', '18\n', /did not start.*postgres\.log, or move.*\n.*postgresql\.conf/],
])('a folder %s is refused with a sentence naming it, and left alone', async (name, file, content, sentence) => {
  const folder = join(home, name.replaceAll(' ', '-'))
  await mkdir(folder)
  await writeFile(join(folder, file), content)
  const refused = await startPostgres({ folder, template }).catch((error) => error)
  expect(refused).toBeInstanceOf(PostgresProblem)
  expect(refused.message).toContain(folder)
  expect(refused.message).toMatch(sentence)
  expect(await readFile(join(folder, file), 'utf8')).toBe(content)
})

test('a file in the place of the folder, or above it, is refused with a sentence', async () => {
  const file = join(home, 'file')
  await writeFile(file, 'mine')
  await expect(startPostgres({ folder: file })).rejects.toThrow(`${file} is a file`)
  await expect(startPostgres({ folder: join(file, 'postgres') })).rejects.toThrow(/part of this path is a file; move it away/)
})

test('a setting that PostgreSQL does not know is refused with the end of its log', async () => {
  const refused = startPostgres({ folder: join(home, 'setting'), template, settings: { nonsense: '1' } })
  await expect(refused).rejects.toThrow(/unrecognized configuration parameter "nonsense"/)
})
