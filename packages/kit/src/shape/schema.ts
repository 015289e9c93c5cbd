import type { TSchema } from 'typebox'

export const settled = Symbol('settled')
export const oneALine = Symbol('one element a line')
export const refusal = Symbol('what is said of a value that does not fit')

/** A shape as its compilers see it: every word that they understand, whichever kind of shape it is. */
export type Loose = TSchema & {
  type?: string
  properties?: Record<string, Loose>
  patternProperties?: Record<string, Loose>
  required?: string[]
  items?: Loose
  anyOf?: Loose[]
  const?: unknown
  enum?: unknown[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  format?: string
  [settled]?: (value: never) => unknown
  [oneALine]?: true
  [refusal]?: string
}

const understood = new Set([
  ...['type', 'properties', 'patternProperties', 'required', 'items', 'anyOf', 'const', 'enum'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems'],
  ...['pattern', 'format', 'contentMediaType', 'title', 'description', 'examples', 'deprecated'],
])

/** A word that the compilers do not understand would be a rule that nobody keeps, or a hole in the reply filter. */
export function insistUnderstood(schema: Loose) {
  const strange = Object.keys(schema).find((word) => !understood.has(word))
  if (strange !== undefined) throw new Error(`A shape says "${strange}", which neither input nor replies heed`)
}

/** The values that a shape lists one by one, if it is of that kind. */
export function choicesOf(schema: Loose): readonly unknown[] | undefined {
  return schema.enum ?? ('const' in schema ? [schema.const] : undefined)
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
