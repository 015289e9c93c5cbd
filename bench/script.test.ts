import { scratchDatabase } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { createCleanup } from './cleanup.ts'
import { startListener } from './listener.ts'
import { writeScript } from './script.ts'
import { createStatementReader, type Value } from './statement-reader.ts'

let cleanup = createCleanup()
afterEach(async () => {
  await cleanup.now()
  cleanup = createCleanup()
})

/** A connection to a scratch database, with somebody listening. */
async function overheard() {
  const { url, drop } = await scratchDatabase()
  cleanup.later(drop)
  const listener = await startListener(url, cleanup)
  const client = new pg.Client({ connectionString: listener.through(url), pipeline: true })
  client.on('error', () => {})
  await client.connect()
  cleanup.later(() => client.end())
  listener.forget()
  return { listener, client }
}

test('every statement is heard with its values, also when it was prepared long ago', async () => {
  const { listener, client } = await overheard()
  const query = (one: unknown, other: unknown) =>
    client.query({ name: 'pair', text: 'select $1::text as one, $2::bytea as other', values: [one, other] })
  await query('a', null)
  const { rows } = await query('ü"', Buffer.from([0, 255]))
  expect(rows).toEqual([{ one: 'ü"', other: Buffer.from([0, 255]) }])
  await client.query('begin')
  const text = 'select $1::text as one, $2::bytea as other'
  expect(listener.heard().statements).toEqual([
    { text, values: ['a', null] },
    { text, values: ['ü"', { base64: 'AP8=' }] },
    { text: 'begin', values: [] },
  ])
})

test('statements that leave together are one round trip, those that wait for each other are as many', async () => {
  const { listener, client } = await overheard()
  await Promise.all([1, 2, 3].map((value) => client.query('select $1::integer', [value])))
  expect(listener.heard()).toMatchObject({ roundTrips: 1, statements: { length: 3 } })
  listener.forget()
  for (const value of [1, 2, 3]) await client.query('select $1::integer', [value])
  expect(listener.heard()).toMatchObject({ roundTrips: 3, statements: { length: 3 } })
})

test('bytes that come one by one are the same statements', () => {
  const message = (type: string, body: string) => {
    const head = Buffer.alloc(4)
    head.writeInt32BE(body.length + 4)
    return Buffer.concat([Buffer.from(type), head, Buffer.from(body, 'latin1')])
  }
  const bytes = Buffer.concat([
    message('', '\0\x03\0\0user\0me\0\0'),
    message('P', 'name\0select $1\0\0\0'),
    message('B', '\0name\0\0\0\0\x01\0\0\0\x02hi\0\0'),
    message('S', ''),
  ])
  const read = createStatementReader()
  expect([...bytes].flatMap((byte) => read(Buffer.from([byte])))).toEqual([{ text: 'select $1', values: ['hi'] }])
})

const now = Date.parse('2030-01-02T03:04:05.678Z')
const saying = (...values: Value[]) => [{ text: 'select', values }]
const id = (letter: string) => letter.repeat(24)

test('from two requests it is told what is the same, what is given, what is the time and what is new', () => {
  const script = writeScript(
    {
      given: id('a'),
      made: id('c'),
      statements: saying('x', id('a'), '2030-01-02T03:04:05.000Z', id('b'), id('c'), id('b'), null),
    },
    {
      given: id('d'),
      made: id('f'),
      statements: saying('x', id('d'), '2030-01-02T03:04:05.000Z', id('e'), id('f'), id('e'), null),
    },
    now,
  )
  const fresh = { kind: 'fresh', form: 'id', listed: false }
  expect(script).toEqual({
    made: 1,
    statements: [
      {
        text: 'select',
        values: [
          { kind: 'same', value: 'x' },
          { kind: 'given', listed: false },
          { kind: 'now', listed: false },
          { ...fresh, number: 0 },
          { ...fresh, number: 1 },
          { ...fresh, number: 0 },
          { kind: 'same', value: null },
        ],
      },
    ],
  })
})

test('what stands alone in a list is told like what stands alone, and an old date is not the time', () => {
  const old = '2029-01-02T03:04:05.678Z'
  const [one, other] = ['A'.repeat(43), 'B'.repeat(43)]
  const { statements } = writeScript(
    { given: 'x', statements: saying('{"x"}', `{${one}}`, old, '{"2030-01-02T03:04:05.000Z"}') },
    { given: 'y', statements: saying('{"y"}', `{${other}}`, old, '{"2030-01-02T03:04:06.000Z"}') },
    now,
  )
  expect(statements[0]?.values).toEqual([
    { kind: 'given', listed: true },
    { kind: 'fresh', form: 'token', listed: true, number: 0 },
    { kind: 'same', value: old },
    { kind: 'now', listed: true },
  ])
})

test.each([
  ['nothing is said', [], [], undefined],
  ['something else is said', saying('x'), [{ text: 'update', values: ['x'] }], undefined],
  ['a value changes that nobody knows', saying('x'), saying('y'), undefined],
  ['bytes change', saying({ base64: 'AA==' }), saying({ base64: 'AQ==' }), undefined],
  ['a value comes and goes', saying('x'), saying(null), undefined],
  ['what is made is never said', saying('x'), saying('x'), id('a')],
  ['a transaction is opened', [{ text: 'begin', values: [] }], [{ text: 'begin', values: [] }], undefined],
])('where %s there is no script', (_, one, other, made) => {
  expect(() => writeScript({ statements: one, made }, { statements: other, made }, now)).toThrow()
})
