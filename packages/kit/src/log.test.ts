import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createLog, type LogLevel, logLevels } from './log.ts'
import { Secret } from './secret.ts'

let text = ''
beforeEach(() => {
  text = ''
})
const sink = {
  write(line: string) {
    text += line
  },
  flush() {},
}
const log = createLog({ level: 'debug', service: 'test', sink })

function lines(): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

test('a line is one JSON object with time, level, service, message and what else is told', () => {
  log.info({ route: '/x\n/y' }, 'request')
  expect(text.indexOf('\n')).toBe(text.length - 1)
  expect(lines()).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: 'test',
      message: 'request',
      route: '/x\n/y',
    },
  ])
})

test.each(logLevels.map((level, index): [LogLevel, number] => [level, index]))(
  'at %s, what is less grave is left out',
  (level, index) => {
    const log = createLog({ level, service: 'test', sink })
    for (const each of logLevels) log[each]('x')
    expect(lines().map((line) => line.level)).toEqual(logLevels.slice(0, index + 1))
  },
)

describe('never in the log', () => {
  const secret = new Secret('hunter2')
  const database = Object.assign(new Error('duplicate key value'), {
    code: '23505',
    constraint: 'users_email',
    detail: 'Key (email)=(hunter2@test) already exists.',
  })

  test.each<[string, () => void]>([
    ['a secret in a property', () => log.info({ key: secret }, 'x')],
    ['a secret deep inside', () => log.info({ a: [{ b: [secret] }] }, 'x')],
    ['a secret by itself', () => log.info(secret as never)],
    ['a secret in the message', () => log.info(`x ${secret}`)],
    ['a secret as an argument', () => log.info('x %s %o %j', secret, secret, secret)],
    ['a secret in an error', () => log.error({ error: Object.assign(new Error('x'), { secret }) }, 'x')],
    ['a secret as the cause of an error', () => log.error({ error: new Error('x', { cause: secret }) }, 'x')],
    [
      'a secret in the cause of an error',
      () => log.error({ error: new Error('x', { cause: Object.assign(new Error('y'), { secret }) }) }, 'x'),
    ],
    [
      'a secret in a list of errors',
      () => log.error({ error: new AggregateError([Object.assign(new Error('y'), { secret })]) }, 'x'),
    ],
    ['the row that a database refuses', () => log.error({ error: database }, 'x')],
    [
      'the row that broke a rule',
      () => log.error(Object.assign(new Error('x'), { detail: 'Failing row contains (1, hunter2).' })),
    ],
  ])('%s', (_, tell) => {
    tell()
    expect(lines()).toHaveLength(1)
    expect(text).not.toContain('hunter2')
  })

  test('while the rest of an error is there', () => {
    log.error({ error: database }, 'failed')
    expect(lines()[0]).toMatchObject({
      message: 'failed',
      error: {
        type: 'Error',
        message: 'duplicate key value',
        code: '23505',
        constraint: 'users_email',
        stack: expect.any(String),
      },
    })
  })
})

test('what cannot be written as JSON does not throw', () => {
  const circle: Record<string, unknown> = { big: 5n }
  circle.self = circle
  log.info(circle, 'x')
  log.error({ error: 'just a text' }, 'y')
  log.error({ error: undefined }, 'z')
  expect(lines()).toHaveLength(3)
})

const folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

function messages(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).message)
}

describe('a log file', () => {
  test('is appended to, and readable by owner and group alone', () => {
    const file = join(folder, 'appended.log')
    for (const message of ['one', 'two']) {
      const log = createLog({ level: 'info', service: 'test', file })
      log.info(message)
      log.flush()
    }
    expect(messages(file)).toEqual(['one', 'two'])
    expect(statSync(file).mode & 0o007).toBe(0)
  })

  test('gets its lines without being flushed', async () => {
    const file = join(folder, 'waiting.log')
    createLog({ level: 'info', service: 'test', file }).info('x')
    await expect.poll(() => messages(file)).toEqual(['x'])
  })

  test('that is moved away is followed by a new one', () => {
    const file = join(folder, 'rotated.log')
    const log = createLog({ level: 'info', service: 'test', file })
    log.info('before')
    log.flush()
    renameSync(file, `${file}.1`)
    log.info('after')
    log.flush()
    expect([messages(`${file}.1`), messages(file)]).toEqual([['before'], ['after']])
  })
})

describe('a process of its own', () => {
  /** Runs a script that has a `log`, which writes to a file or to standard output. */
  function run(script: string, file?: string) {
    const source = `
      import { createLog } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))}
      const log = createLog({ level: 'info', service: 'test', file: ${JSON.stringify(file)} })
      ${script}`
    return spawnSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8' })
  }

  test('that ends by itself or at once has said its last words', () => {
    expect(run(`log.info('last words')`).stdout).toContain('last words')
    const exit = `log.panic('last words'); log.flush(); process.exit(1)`
    expect(run(exit).stdout).toContain('last words')
    const file = join(folder, 'exit.log')
    run(exit, file)
    expect(messages(file)).toEqual(['last words'])
  })

  test('whose log file cannot be written goes on, and tells so once', () => {
    const { status, stderr } = run(`for (const n of [1, 2, 3]) { log.info('x'); log.flush() }`, '/nowhere/tollgate.log')
    expect(status).toBe(0)
    expect(stderr.match(/the log file cannot be written: ENOENT/g)).toHaveLength(1)
  })
})
