import fc from 'fast-check'
import Type, { type TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { compileInput, type InputRules, Moment, type Problem, settle, worded } from '../shape.ts'

const plain: InputRules = { absent: (value) => value === null, convertJson: false, caseInsensitive: false }
const lenient: InputRules = {
  absent: (value) => value === null || value === false || value === '',
  convertJson: true,
  caseInsensitive: false,
}

function take(schema: TSchema, input: unknown, rules = plain, source: 'json' | 'text' = 'json') {
  const problems: Problem[] = []
  const value: unknown = compileInput(schema, rules)(input, source, problems)
  return problems.length > 0 ? { problems: problems.map(({ path, kind, message }) => `${path} ${kind}: ${message}`) } : { value }
}

const Person = Type.Object({
  name: Type.String(),
  age: Type.Optional(Type.Integer({ minimum: 0 })),
  home: Type.Optional(Type.Object({ city: Type.String() })),
})

describe('objects', () => {
  test('unknown properties are dropped, at every depth', () => {
    expect(take(Person, { name: 'Ada', admin: true, home: { city: 'Rome', extra: 1 } })).toEqual({
      value: { name: 'Ada', home: { city: 'Rome' } },
    })
  })

  test('every problem is named by its dotted path', () => {
    expect(take(Person, { age: -1, home: {} })).toEqual({
      problems: ['name missing: Required', 'age value: Must be at least 0', 'home.city missing: Required'],
    })
  })

  test.each([[null], [[]], ['x'], [5], [true], [undefined]])('%j is no object', (input) => {
    expect(take(Person, input)).toEqual({ problems: [' type: Must be an object'] })
  })

  test('names match whatever their case when the rules say so, and the exact spelling wins', () => {
    const rules = { ...plain, caseInsensitive: true }
    expect(take(Person, { NAME: 'Ada', Home: { cITY: 'Rome' } }, rules)).toEqual({
      value: { name: 'Ada', home: { city: 'Rome' } },
    })
    expect(take(Person, { name: 'Ada', NAME: 'Eve' }, rules)).toEqual({ value: { name: 'Ada' } })
    expect(take(Person, { NAME: 'Ada' })).toEqual({ problems: ['name missing: Required'] })
  })

  test('what an object inherits was not sent', () => {
    const shape = Type.Object({ constructor: Type.Optional(Type.Unknown()), toString: Type.Optional(Type.Unknown()) })
    expect(take(shape, {})).toEqual({ value: {} })
    expect(take(shape, JSON.parse('{"constructor":1,"toString":2,"__proto__":{"polluted":1}}'))).toEqual({
      value: { constructor: 1, toString: 2 },
    })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('what counts as not given', () => {
  const Payment = Type.Object({
    cardId: Type.Optional(Type.String()),
    test: Type.Optional(Type.Boolean()),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    kind: Type.Optional(Type.Enum(['', 'a'])),
  })

  test.each([[null], [false], ['']])('%j, by the rules of old clients', (nothing) => {
    expect(take(Payment, { cardId: nothing }, lenient)).toEqual({ value: {} })
    expect(take(Type.Object({ cardId: Type.String() }), { cardId: nothing }, lenient)).toEqual({
      problems: ['cardId missing: Required'],
    })
  })

  test('but not where the shape asks for just that value', () => {
    expect(take(Payment, { test: false, note: null, kind: '' }, lenient)).toEqual({
      value: { test: false, note: null, kind: '' },
    })
    expect(take(Type.Object({ test: Type.Boolean() }), { test: false }, lenient)).toEqual({ value: { test: false } })
  })

  test('only null, by the plain rules', () => {
    expect(take(Payment, { cardId: '' })).toEqual({ value: { cardId: '' } })
    expect(take(Payment, { cardId: null })).toEqual({ value: {} })
    expect(take(Payment, { cardId: false })).toEqual({ problems: ['cardId type: Must be text'] })
  })
})

describe('lists and records', () => {
  const Lines = Type.Object({ lines: Type.Array(Type.Object({ amount: Type.Integer() }), { minItems: 1, maxItems: 3 }) })

  test('a problem names the element', () => {
    expect(take(Lines, { lines: [{ amount: 1 }, { amount: 'x' }, 5] })).toEqual({
      problems: ['lines.1.amount type: Must be a whole number', 'lines.2 type: Must be an object'],
    })
  })

  test.each([[[]], [[1, 2, 3, 4]], ['x'], [{ 0: { amount: 1 } }]])('%j is refused', (lines) => {
    expect(take(Lines, { lines })).toHaveProperty('problems')
  })

  test('in a form, numbered properties are a list where the shape wants one', () => {
    const input = { lines: { 0: { amount: '5' }, 1: { amount: '6' } } }
    expect(take(Lines, input, plain, 'text')).toEqual({ value: { lines: [{ amount: 5 }, { amount: 6 }] } })
  })

  test('a thousand wrong elements are not a thousand complaints', () => {
    const { problems = [] } = take(Type.Array(Type.Integer()), Array(1000).fill('x')) as { problems?: string[] }
    expect(problems.length).toBeLessThanOrEqual(50)
    expect(take(Type.Array(Type.Integer()), Array(1001).fill(1))).toEqual({
      problems: [' value: Must have at most 1000 elements'],
    })
  })

  test('the values of a record have its shape, its names are the caller’s', () => {
    const shape = Type.Object({ fees: Type.Record(Type.String(), Type.Integer()) })
    expect(take(shape, { fees: { 'a\nb': 1, constructor: 2 } })).toEqual({ value: { fees: { 'a\nb': 1, constructor: 2 } } })
    expect(take(shape, { fees: { DKK: 'x' } })).toEqual({ problems: ['fees.DKK type: Must be a whole number'] })
  })

  test('what has no shape is passed on as it is', () => {
    expect(take(Type.Unknown(), { a: [1, { b: null }] })).toEqual({ value: { a: [1, { b: null }] } })
  })
})

describe('settling', () => {
  const Email = settle(Type.String({ maxLength: 20 }), (text) => text.trim().toLowerCase())
  const Day = settle(Type.String({ format: 'date' }), (text) => (Number.isNaN(Date.parse(text)) ? undefined : new Date(text)))

  test('happens after the check, also where the property is optional', () => {
    const shape = Type.Object({ email: Type.Optional(Email) })
    expect(take(shape, { email: ' Ada@Test ' })).toEqual({ value: { email: 'ada@test' } })
    expect(take(shape, { email: 5 })).toEqual({ problems: ['email type: Must be text'] })
  })

  test('may refuse', () => {
    expect(take(Day, '2030-01-01')).toEqual({ value: new Date('2030-01-01') })
    expect(take(Day, '2030-13-01')).toEqual({ problems: [' value: Must be a valid date'] })
  })
})

test.each<[string, TSchema]>([
  ['a word that nobody heeds', Type.Number({ multipleOf: 5 })],
  ['a default that nobody fills in', Type.Object({ a: Type.Optional(Type.String({ default: 'x' })) })],
  ['an intersection', Type.Intersect([Person, Person])],
  ['a format that nobody checks', Type.String({ format: 'uuid' })],
  ['a moment, which would stay a text', Moment],
  ['nothing', Type.Void()],
])('a shape with %s is refused at start', (_, schema) => {
  expect(() => compileInput(schema, plain)).toThrow()
})

test('no input makes it throw, or brings a property that the shape does not name', () => {
  const shape = Type.Object({
    constructor: Type.Optional(Type.Boolean()),
    a: Type.Optional(Type.Union([Type.Integer(), Type.Array(Type.Boolean()), Type.Object({ b: Type.Optional(Type.String()) })])),
    c: Type.Optional(Type.Record(Type.String(), Type.Number())),
  })
  const key = fc.constantFrom('a', 'b', 'c', 'A', 'constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty', 'length')
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      fc.constantFrom<unknown>(null, true, false, '', 'yes', '5', '1e3', 5, -0, Number.POSITIVE_INFINITY, 0.5, 2 ** 60),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  }))
  fc.assert(
    fc.property(value, fc.boolean(), fc.boolean(), (input, text, caseInsensitive) => {
      for (const rules of [plain, lenient]) {
        const result = take(shape, input, { ...rules, caseInsensitive }, text ? 'text' : 'json')
        if ('value' in result)
          expect(['constructor', 'a', 'c']).toEqual(expect.arrayContaining(Object.keys(result.value as object)))
      }
    }),
    { numRuns: 500 },
  )
  expect(Object.keys(Object.prototype)).toEqual([])
})

test('of an object that is missing, what it cannot be without is named', () => {
  const Company = Type.Object({ country: Type.String(), number: Type.Optional(Type.String()) })
  expect(take(Type.Object({ company: Company }), {})).toEqual({ problems: ['company.country missing: Required'] })
  const Bank = Type.Object({ iban: Type.Optional(Type.String()) })
  expect(take(Type.Object({ bank: Bank }), {})).toEqual({ problems: ['bank missing: Required'] })
})

test('a shape may say in its own words what is wrong', () => {
  const Colour = worded(Type.String({ pattern: '^#' }), 'Invalid colour')
  expect(take(Type.Object({ colour: Colour }), { colour: 'red' })).toEqual({ problems: ['colour value: Invalid colour'] })
})

test('an empty list is an empty object where a service wants that, and a list otherwise', () => {
  const Bank = Type.Object({ bank: Type.Optional(Type.Object({ iban: Type.Optional(Type.String()) })) })
  expect(take(Bank, [], { ...plain, emptyLists: 'objects' })).toEqual({ value: {} })
  expect(take(Bank, { bank: [] }, { ...plain, emptyLists: 'objects' })).toEqual({ value: { bank: {} } })
  expect(take(Bank, [1], { ...plain, emptyLists: 'objects' })).toEqual({ problems: [' type: Must be an object'] })
  expect(take(Bank, [])).toEqual({ problems: [' type: Must be an object'] })
})
