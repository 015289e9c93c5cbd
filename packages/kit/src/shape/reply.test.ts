import Type, { type TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { compileReply, lines, Moment } from '../shape.ts'

function write(schema: TSchema, value: unknown): string {
  return compileReply(schema)(value)
}

const App = Type.Object({
  id: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  created: Type.Optional(Moment),
  owner: Type.Optional(Type.Object({ email: Type.String() })),
})

test('only what the shape names leaves, in the order of the shape', () => {
  const value = { secret: 'x', name: null, id: '1', owner: { hash: 'y', email: 'a@b' }, keyHash: Buffer.from('z') }
  expect(write(App, value)).toBe('{"id":"1","name":null,"owner":{"email":"a@b"}}')
})

test('a moment is written in UTC with milliseconds', () => {
  expect(write(Type.Object({ at: Moment }), { at: new Date(1561896522816) })).toBe('{"at":"2019-06-30T12:08:42.816Z"}')
  expect(write(Type.Union([Moment, Type.Null()]), new Date(0))).toBe('"1970-01-01T00:00:00.000Z"')
})

describe('a list one element a line', () => {
  const Apps = lines(Type.Object({ id: Type.Integer() }))

  test.each([
    [[], '[\n]'],
    [[{ id: 1 }], '[\n{"id":1}\n]'],
    [[{ id: 1, x: 1 }, { id: 2 }], '[\n{"id":1},\n{"id":2}\n]'],
  ])('%j', (value, text) => {
    expect(write(Apps, value)).toBe(text)
  })

  test('has no line break inside an element', () => {
    expect(write(lines(Type.String()), ['a\nb', 'c\r']).split('\n')).toHaveLength(4)
  })

  test('a usual list stays on one line', () => {
    expect(write(Type.Array(Type.Integer()), [])).toBe('[]')
  })
})

describe('null', () => {
  test('is how a table says that an optional property is not there', () => {
    expect(write(App, { id: '1', name: 'n', created: null, owner: null })).toBe('{"id":"1","name":"n"}')
  })

  test('leaves only where the shape offers it', () => {
    expect(() => write(App, { id: null, name: null })).toThrow(/id is not what its shape promises/)
  })
})

test('a record keeps its names; values with a shape are filtered by it', () => {
  expect(write(Type.Object({}, {}), { a: 1 })).toBe('{}')
  expect(write(Type.Unsafe({ type: 'object' }), { a: { b: 1 } })).toBe('{"a":{"b":1}}')
  const shape = Type.Record(Type.String(), Type.Object({ a: Type.Integer() }))
  expect(write(shape, { x: { a: 1, secret: 2 }, constructor: { a: 3 } })).toBe('{"x":{"a":1},"constructor":{"a":3}}')
})

test('a union writes the member that fits', () => {
  const shape = Type.Object({
    error: Type.Union([Type.Boolean(), Type.Object({ code: Type.Integer() }), Type.Array(Type.String())]),
  })
  expect(write(shape, { error: false })).toBe('{"error":false}')
  expect(write(shape, { error: { code: 5, inner: 'x' } })).toBe('{"error":{"code":5}}')
  expect(write(shape, { error: ['a'] })).toBe('{"error":["a"]}')
})

test('of two kinds of objects the first is written whose every promise is kept', () => {
  const shape = Type.Union([
    Type.Object({ token: Type.String(), id: Type.Optional(Type.String()) }),
    Type.Object({ id: Type.String() }),
  ])
  expect(write(shape, { token: 't', id: 'i', secret: 's' })).toBe('{"token":"t","id":"i"}')
  expect(write(shape, { id: 'i', secret: 's' })).toBe('{"id":"i"}')
  expect(() => write(shape, { secret: 's' })).toThrow()
})

describe('what is not as promised is never sent', () => {
  test.each<[string, TSchema, unknown]>([
    ['a missing property', App, { id: '1' }],
    ['an object in place of a text', Type.Object({ id: Type.String() }), { id: { secret: 'hunter2' } }],
    ['an object in place of a text or null', App, { id: '1', name: { secret: 'hunter2' } }],
    ['an object in place of a list', Type.Array(Type.String()), { secret: 'hunter2' }],
    ['a list in place of an object', App, [{ id: '1' }]],
    ['a number as text', Type.Object({ amount: Type.Integer() }), { amount: '5' }],
    ['a fraction as whole number', Type.Object({ amount: Type.Integer() }), { amount: 0.5 }],
    ['a number that JSON cannot say', Type.Number(), Number.NaN],
    ['a moment that is none', Moment, new Date(Number.NaN)],
    ['another word than the one promised', Type.Literal('bearer'), 'hunter2'],
    ['nothing at all', Type.Unknown(), undefined],
  ])('%s', (_, schema, value) => {
    const attempt = () => write(schema, value)
    expect(attempt).toThrow()
    expect(attempt).not.toThrow(/hunter2/)
  })

  test.each<[string, TSchema]>([
    ['two lists', Type.Union([Type.Array(App), Type.Array(Type.Integer())])],
    ['an intersection, whose parts would let everything out', Type.Intersect([App, App])],
  ])('%s in a shape are refused at start', (_, schema) => {
    expect(() => compileReply(schema)).toThrow()
  })
})
