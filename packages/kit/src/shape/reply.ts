import type { TSchema } from 'typebox'
import { choicesOf, insistUnderstood, isPlainObject, type Loose, oneALine } from './schema.ts'

/** Takes what a shape names out of a value; throws when the value is not what the shape promises. */
type Pick = (value: unknown) => unknown

/** Compiles a reply shape into a function that writes a value as JSON text: what the shape does not name does not leave. */
export function compileReply(schema: TSchema): (value: unknown) => string {
  const loose = schema as Loose
  const pick = picker(loose, '')
  if (!loose[oneALine]) return (value) => write(pick(value))
  return (value) => {
    const items = (pick(value) as unknown[]).map(write)
    // An empty list is `[`, newline, `]`: line-reading clients take a bare `[]` for an element.
    return items.length === 0 ? '[\n]' : `[\n${items.join(',\n')}\n]`
  }
}

function write(value: unknown): string {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new Error('A reply is nothing that JSON can say')
  return text
}

function picker(schema: Loose, place: string): Pick {
  insistUnderstood(schema)
  if (schema.anyOf) return unionPicker(schema.anyOf, place)
  if (schema.type === 'object') return schema.properties ? objectPicker(schema, place) : recordPicker(schema, place)
  if (schema.type === 'array') return arrayPicker(schema, place)
  const fits = fitter(schema)
  return (value) => (fits(value) ? value : broken(place))
}

/** The message never quotes the value: it stands in a log. */
function broken(place: string): never {
  throw new Error(`A reply's ${place === '' ? 'body' : place} is not what its shape promises`)
}

function objectPicker(schema: Loose, place: string): Pick {
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    pick: picker(property, place ? `${place}.${name}` : name),
    required: required.has(name),
    nullable: fitter(property)(null),
  }))
  return (value) => {
    if (!isPlainObject(value)) return broken(place)
    const result: Record<string, unknown> = {}
    for (const { name, pick, required, nullable } of fields) {
      const part = value[name]
      // A column that is null is how a table says that an optional property is not there.
      const there = part !== undefined && (part !== null || nullable || required)
      if (there) result[name] = pick(part)
      else if (required) throw new Error(`A reply lacks ${place ? `${place}.` : ''}${name}, which its shape promises`)
    }
    return result
  }
}

/** Names of somebody else's choosing, such as a user's own metadata; their values may have a shape. */
function recordPicker(schema: Loose, place: string): Pick {
  const patterns = Object.entries(schema.patternProperties ?? {}).map(([pattern, member]) => ({
    pattern: new RegExp(pattern, 'su'),
    pick: picker(member, `${place}.*`),
  }))
  return (value) => {
    if (!isPlainObject(value)) return broken(place)
    if (patterns.length === 0) return value
    const entries = Object.entries(value).flatMap(([name, part]): [string, unknown][] => {
      const pick = patterns.find(({ pattern }) => pattern.test(name))?.pick
      return pick ? [[name, pick(part)]] : []
    })
    return Object.fromEntries(entries)
  }
}

function arrayPicker(schema: Loose, place: string): Pick {
  const pick = picker(schema.items ?? {}, `${place}[]`)
  return (value) => (Array.isArray(value) ? value.map(pick) : broken(place))
}

function unionPicker(members: Loose[], place: string): Pick {
  if (members.filter((member) => member.type === 'array').length > 1)
    throw new Error('A reply shape may offer one array at most in a union')
  const ways = members.map((member) => ({ fits: memberFitter(member), pick: picker(member, place) }))
  return (value) => (ways.find(({ fits }) => fits(value)) ?? broken(place)).pick(value)
}

/** Two kinds of objects are told apart by what each cannot be without; the first that has all of it is meant. */
function memberFitter(member: Loose): (value: unknown) => boolean {
  const fits = fitter(member)
  const required = member.type === 'object' ? (member.required ?? []) : []
  return (value) => fits(value) && required.every((name) => (value as Record<string, unknown>)[name] !== undefined)
}

/** Whether a value is of the kind that a shape speaks of, without looking into objects and lists. */
function fitter(schema: Loose): (value: unknown) => boolean {
  if (schema.anyOf) {
    const ways = schema.anyOf.map(fitter)
    return (value) => ways.some((fits) => fits(value))
  }
  const choices = choicesOf(schema)
  if (choices) return (value) => choices.includes(value)
  switch (schema.type) {
    case 'object':
      return isPlainObject
    case 'array':
      return Array.isArray
    case 'string':
      return schema.format === 'date-time' ? isMoment : (value) => typeof value === 'string'
    case 'integer':
      return Number.isSafeInteger
    case 'number':
      return Number.isFinite
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'null':
      return (value) => value === null
    case undefined:
      return () => true
    default:
      throw new Error(`A shape of type ${schema.type} cannot be written`)
  }
}

/** JSON writes a Date as RFC 3339 with milliseconds, and one that is no date as null. */
function isMoment(value: unknown): boolean {
  return typeof value === 'string' || (value instanceof Date && !Number.isNaN(value.getTime()))
}
