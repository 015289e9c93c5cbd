import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigProblem, defineSettings, type Env, type Read, withDotEnv } from './env.ts'

const family = { prefix: 'AUTH', aliases: ['GOTRUE'], title: 'the service' }

function read<Config>(declare: (read: Read) => Config, env: Env = {}) {
  return defineSettings(family, declare).read(env)
}

function settled<T>(declare: (read: Read) => T, env: Env = {}): T {
  return read((reader) => ({ value: declare(reader) }), env).config.value
}

function complaintsOf(declare: (read: Read) => unknown, env: Env = {}): readonly string[] {
  try {
    read(declare, env)
  } catch (problem) {
    if (problem instanceof ConfigProblem) return problem.complaints
    throw problem
  }
  return []
}

describe('names', () => {
  const port = (reader: Read) => reader.whole('API_PORT', 8081, 'The port', { also: ['PORT'], bare: true })

  test.each<[string, Env, number]>([
    ['nothing', {}, 8081],
    ['the bare other name', { PORT: '6' }, 6],
    ['the bare name over the bare other name', { API_PORT: '5', PORT: '6' }, 5],
    ['the alias over the bare names', { GOTRUE_PORT: '4', API_PORT: '5', PORT: '6' }, 4],
    ['the alias of the name over that of the other name', { GOTRUE_API_PORT: '3', GOTRUE_PORT: '4' }, 3],
    ['the prefixed other name over every alias', { AUTH_PORT: '2', GOTRUE_API_PORT: '3', PORT: '6' }, 2],
    ['the prefixed name over all', { AUTH_API_PORT: '1', AUTH_PORT: '2', GOTRUE_API_PORT: '3', API_PORT: '5', PORT: '6' }, 1],
    ['an empty or blank value as if it were not there', { AUTH_API_PORT: '', AUTH_PORT: ' ', GOTRUE_API_PORT: '3' }, 3],
  ])('%s', (_, env, expected) => {
    expect(settled(port, env)).toBe(expected)
  })

  test('a bare name counts only where the setting says so', () => {
    expect(settled((reader) => reader.text('LOG_FILE', undefined, 'A file'), { LOG_FILE: 'x' })).toBeUndefined()
  })

  test('an old spelling is taken with one warning that names the new one', () => {
    const declare = (reader: Read) => [reader.peekFlag('DISABLE_SIGNUP', false), reader.flag('DISABLE_SIGNUP', false, 'Closed')]
    const { config, warnings } = read(declare, { GOTRUE_DISABLE_SIGNUP: 'true' })
    expect(config).toEqual([true, true])
    expect(warnings).toEqual(['GOTRUE_DISABLE_SIGNUP is an old spelling: write AUTH_DISABLE_SIGNUP'])
  })

  test.each([
    ['AUTH_SITE_URI', ': did you mean AUTH_SITE_URL?'],
    ['GOTRUE_SITE_ULR', ': did you mean AUTH_SITE_URL?'],
    ['AUTH_POTR', ': did you mean AUTH_PORT?'],
    ['AUTH_WHOLLY_UNLIKE_ANY_OTHER', ''],
  ])('%s is warned about, with the value left out', (name, hint) => {
    const declare = (reader: Read) => [reader.text('SITE_URL', 'a', 'The site'), port(reader)]
    expect(read(declare, { [name]: 'hunter2' }).warnings).toEqual([`${name} is not a setting of the service${hint}`])
  })

  test('names of settings in every spelling, and names of other programs, are not warned about', () => {
    const env = { AUTH_API_PORT: '1', AUTH_PORT: '2', GOTRUE_API_PORT: '3', PORT: '4', AUTHOR: 'x', OTEL_THING: 'y' }
    expect(read(port, env).warnings).toEqual([])
  })
})

describe('complaints', () => {
  test('all of them come at once, each naming the spelling that was used, the problem and a cure', () => {
    const declare = (reader: Read) => [
      reader.requiredUrl('SITE_URL', 'The address of your site.'),
      reader.whole('PORT', 1, 'The port', { bare: true, max: 65_535 }),
      reader.choice('LEVEL', ['info', 'debug'], 'info', 'The level'),
    ]
    expect(complaintsOf(declare, { PORT: 'x', GOTRUE_LEVEL: 'loud' })).toEqual([
      'AUTH_SITE_URL is not set. The address of your site. Set it, for example: AUTH_SITE_URL=https://example.com',
      'PORT must be a whole number from 0 to 65535, not "x". For example: PORT=1',
      'GOTRUE_LEVEL must be one of info, debug, not "loud". For example: GOTRUE_LEVEL=info',
    ])
  })

  test('a setting is required once another one makes it so, and the complaint says why', () => {
    const declare = (reader: Read) => {
      const enabled = reader.flag('CAPTCHA_ENABLED', false, 'Ask')
      return reader.secret('CAPTCHA_SECRET', 'The secret', {
        required: { when: enabled, because: 'AUTH_CAPTCHA_ENABLED is true' },
      })
    }
    expect(complaintsOf(declare)).toEqual([])
    expect(complaintsOf(declare, { AUTH_CAPTCHA_ENABLED: 'yes' })).toEqual([
      expect.stringContaining('AUTH_CAPTCHA_SECRET is not set although AUTH_CAPTCHA_ENABLED is true.'),
    ])
    expect(defineSettings(family, declare).declared.at(-1)).toMatchObject({
      required: false,
      requiredWhen: 'AUTH_CAPTCHA_ENABLED is true',
    })
  })

  test('a required list is not satisfied by a lone comma', () => {
    expect(complaintsOf((reader) => reader.list('IDS', [], 'Ids', { required: true }), { AUTH_IDS: ' , ' })).toHaveLength(1)
    expect(settled((reader) => reader.list('IDS', ['a'], 'Ids'), { AUTH_IDS: ',' })).toEqual([])
  })

  test('a rule between settings is a complaint like any other', () => {
    expect(complaintsOf((reader) => reader.insist(1 > 2, 'one is not more than two'))).toEqual(['one is not more than two'])
  })

  test.each<[string, (reader: Read) => unknown, string]>([
    ['a secret', (reader) => reader.requiredSecret('X', 'A secret', { minLength: 32 }), 'hunter2'],
    [
      'a value parsed in secret',
      (reader) => reader.parsed('keys', 'X', [], 'Keys', () => ({ expected: 'keys' }), { secret: true }),
      'hunter2',
    ],
    ['a database address in the wrong place', (reader) => reader.requiredUrl('X', 'The site'), 'postgres://me:hunter2@host/db'],
    ['a password with an at sign and a slash', (reader) => reader.whole('X', 1, 'A number'), 'postgres://me:a@b/hunter2@host/db'],
  ])('%s is never quoted', (_, declare, value) => {
    const complaints = complaintsOf(declare, { AUTH_X: value })
    expect(complaints).toHaveLength(1)
    expect(new ConfigProblem(complaints).message).not.toContain('hunter2')
  })

  test('a long value is quoted in part', () => {
    expect(complaintsOf((reader) => reader.flag('X', true, 'A flag'), { AUTH_X: 'x'.repeat(9999) })[0]?.length).toBeLessThan(200)
  })

  test('the message counts the settings', () => {
    expect(new ConfigProblem(['a']).message).toBe('One setting needs attention:\n  - a')
    expect(new ConfigProblem(['a', 'b']).message).toBe('2 settings need attention:\n  - a\n  - b')
  })
})

describe('values', () => {
  test('a secret is taken to the letter, other values without the blanks around them', () => {
    expect(settled((reader) => reader.requiredSecret('X', 'A secret'), { AUTH_X: ' a b ' }).reveal()).toBe(' a b ')
    expect(settled((reader) => reader.text('X', undefined, 'A text'), { AUTH_X: ' a b ' })).toBe('a b')
  })

  test('zero is zero and not the default', () => {
    expect(settled((reader) => reader.seconds('X', 900, 'An interval'), { AUTH_X: '0' })).toBe(0)
    expect(settled((reader) => reader.seconds('X', undefined, 'An interval'), { AUTH_X: '0s' })).toBe(0)
    expect(settled((reader) => reader.whole('X', 5, 'A number'), { AUTH_X: '0' })).toBe(0)
  })

  test('a base address loses its last slash, an exact one keeps it', () => {
    const env = { AUTH_X: 'https://a.test/callback/' }
    expect(settled((reader) => reader.url('X', undefined, 'A base'), env)).toBe('https://a.test/callback')
    expect(settled((reader) => reader.requiredUrl('X', 'A base'), env)).toBe('https://a.test/callback')
    expect(settled((reader) => reader.exactUrl('X', undefined, 'A redirect'), env)).toBe('https://a.test/callback/')
  })

  test('a grammar of its own is asked, and says what would have been right', () => {
    const even = (reader: Read) =>
      reader.parsed('even', 'X', undefined, 'Even', (text) => (Number(text) % 2 === 0 ? Number(text) : { expected: 'even' }))
    expect(settled(even, { AUTH_X: '4' })).toBe(4)
    expect(complaintsOf(even, { AUTH_X: '5' })).toEqual(['AUTH_X must be even, not "5". For example: AUTH_X=…'])
  })

  test('the result cannot be changed, however deep', () => {
    const { config } = read((reader) => ({ a: { list: reader.list('X', ['a'], 'A list') } }))
    expect(Object.isFrozen(config) && Object.isFrozen(config.a) && Object.isFrozen(config.a.list)).toBe(true)
  })
})

test('the declaration tells names, kind, default, group and choices', () => {
  const { declared } = defineSettings(family, (reader) =>
    reader.group('Address', () => [
      reader.whole('API_PORT', 8081, 'The port', { also: ['PORT'], bare: true }),
      reader.text('NAME', '', 'The name'),
      reader.text('SENDER', 'x', 'The sender', { shown: 'AUTH_EMAIL' }),
      reader.whole('WORKERS', 4, 'Processes', { shown: 'one a core' }),
      reader.choice('LEVEL', ['info'], 'info', 'The level', { required: true }),
      reader.requiredSecret('KEY', 'The key'),
    ]),
  )
  expect(declared).toMatchObject([
    {
      name: 'AUTH_API_PORT',
      otherNames: ['API_PORT', 'AUTH_PORT', 'PORT'],
      kind: 'whole number',
      fallback: '8081',
      group: 'Address',
    },
    { name: 'AUTH_NAME', otherNames: [], fallback: undefined, required: false, secret: false },
    { name: 'AUTH_SENDER', fallback: 'AUTH_EMAIL', fallbackInWords: true },
    { name: 'AUTH_WORKERS', fallback: 'one a core', fallbackInWords: true },
    { name: 'AUTH_LEVEL', choices: ['info'], required: true },
    { name: 'AUTH_KEY', secret: true, required: true, fallback: undefined },
  ])
})

describe('a .env file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-env-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = join(folder, '.env')

  test('lies under the environment, also where its first line has a byte order mark', () => {
    writeFileSync(file, '\uFEFFA=file\r\n# a remark\r\nB="file b"\r\nC=file\r\n')
    expect(withDotEnv({ B: 'environment', C: undefined, D: '1' }, file)).toEqual({
      A: 'file',
      B: 'environment',
      C: 'file',
      D: '1',
    })
  })

  test('may be missing', () => {
    expect(withDotEnv({ A: '1' }, join(folder, 'none'))).toEqual({ A: '1' })
  })

  test('that cannot be read is a complaint, not a crash', () => {
    mkdirSync(join(folder, 'a-folder'))
    expect(() => withDotEnv({}, join(folder, 'a-folder'))).toThrow(ConfigProblem)
  })
})
