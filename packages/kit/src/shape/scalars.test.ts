import Type, { type TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { compileInput, type InputRules, type Problem } from '../shape.ts'

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

describe('numbers', () => {
  const Amount = Type.Integer({ minimum: 0 })

  test.each<[unknown, number]>([
    [0, 0],
    [-0, 0],
    [1499.0, 1499],
    [1e3, 1000],
    [2 ** 53 - 1, 2 ** 53 - 1],
  ])('the JSON number %d is taken', (input, expected) => {
    expect(take(Amount, input)).toEqual({ value: expected })
  })

  test.each([
    [-1],
    [1.5],
    [1998.9999999999998],
    [2 ** 53],
    [Number.POSITIVE_INFINITY],
    [Number.NaN],
    [Number.NEGATIVE_INFINITY],
    ['5'],
    [[5]],
    [{}],
    [true],
    [null],
  ])('the JSON value %j is refused as an amount', (input) => {
    expect(take(Amount, input)).toHaveProperty('problems')
  })

  test.each<[string, number]>([
    ['0', 0],
    ['-0', 0],
    ['15', 15],
    ['15.0', 15],
    ['007', 7],
    ['9007199254740991', 2 ** 53 - 1],
  ])('the digits %s are an amount in a form, and in JSON where the rules convert', (text, expected) => {
    expect(take(Amount, text, plain, 'text')).toEqual({ value: expected })
    expect(take(Amount, text, lenient, 'json')).toEqual({ value: expected })
  })

  test.each([
    '',
    ' 5',
    '5 ',
    '+5',
    '-5',
    '5.5',
    '1e3',
    '0x10',
    '٣',
    '9007199254740992',
    '9007199254740991.4',
    '1.00000000000000001',
    'NaN',
    '.5',
    '5.',
  ])('the text "%s" is refused as an amount', (text) => {
    expect(take(Amount, text, plain, 'text')).toHaveProperty('problems')
  })

  test('a shape cannot admit what a number cannot hold', () => {
    expect(take(Type.Integer({ maximum: 1e20 }), 2 ** 53)).toHaveProperty('problems')
  })

  test('limits that are not part of the range', () => {
    const shape = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })
    expect([0, 0.5, 1].map((input) => 'value' in take(shape, input))).toEqual([false, true, false])
  })
})

describe('booleans', () => {
  test.each<[unknown, boolean]>([
    ...['y', 'Yes', 'YES', '1', 'true', 'TRUE'].map((text): [string, boolean] => [text, true]),
    ...['n', 'No', 'NO', '0', 'false', 'False'].map((text): [string, boolean] => [text, false]),
  ])('the text %s is %s', (text, expected) => {
    expect(take(Type.Boolean(), text, plain, 'text')).toEqual({ value: expected })
    expect(take(Type.Boolean(), text, lenient)).toEqual({ value: expected })
    expect(take(Type.Boolean(), text, plain)).toHaveProperty('problems')
  })

  test.each([['on'], ['ja'], ['2'], [2], [[true]], [['yes']], [{ toString: 1, valueOf: 2 }], [null]])(
    '%j is neither true nor false',
    (input) => {
      expect(take(Type.Boolean(), input, lenient)).toEqual({ problems: [' type: Must be true or false'] })
    },
  )
})

describe('texts', () => {
  test('lengths count characters as the published limits do', () => {
    const shape = Type.String({ minLength: 2, maxLength: 3 })
    expect(['a', '🦊', '🦊🦊', '🦊🦊🦊', '🦊🦊🦊🦊', 'abcd'].map((text) => 'value' in take(shape, text))).toEqual([
      false,
      false,
      true,
      true,
      false,
      false,
    ])
  })

  test('a pattern must fit, and the message names the format', () => {
    const shape = Type.String({ pattern: '^a+$', format: 'scream' })
    expect(take(shape, 'aaa')).toEqual({ value: 'aaa' })
    expect(take(shape, 'aaa\n')).toEqual({ problems: [' value: Must be a valid scream'] })
  })

  test.each([[5], [true], [['a']], [{ toString: 'x' }]])('%j is not made a text', (input) => {
    expect(take(Type.String(), input, lenient)).toEqual({ problems: [' type: Must be text'] })
  })
})

describe('choices and unions', () => {
  const Kind = Type.Union([Type.Literal('a'), Type.Literal('b')])

  test('one of several words', () => {
    expect(take(Kind, 'b')).toEqual({ value: 'b' })
    expect(take(Kind, 'c')).toEqual({ problems: [' value: Must be one of a, b'] })
    expect(take(Type.Enum(['a', 'b']), 5)).toEqual({ problems: [' type: Must be one of a, b'] })
  })

  test('numbers and booleans among the choices are found in text, because the shape says so', () => {
    expect(take(Type.Literal(5), '5', plain, 'text')).toEqual({ value: 5 })
    expect(take(Type.Literal(true), 'yes', plain, 'text')).toEqual({ value: true })
    expect(take(Type.Literal(5), '5')).toHaveProperty('problems')
  })

  test('the member that fits is taken; when none does, the nearest complains', () => {
    const shape = Type.Union([
      Type.Object({ a: Type.String(), b: Type.String() }),
      Type.Object({ c: Type.Integer() }),
      Type.Null(),
    ])
    expect(take(shape, { c: 1, a: 'x' })).toEqual({ value: { c: 1 } })
    expect(take(shape, null)).toEqual({ value: null })
    expect(take(shape, { c: 'x' })).toEqual({ problems: ['c type: Must be a whole number'] })
  })
})
