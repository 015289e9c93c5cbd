import type { Static, TSchema } from 'typebox'
import { type InputRules, type Problem, refuse, type Settle, type Source, unfit } from './problem.ts'
import { booleanSettler, choiceSettler, numberSettler, stringSettler } from './scalars.ts'
import { choicesOf, insistUnderstood, isPlainObject, type Loose, settled } from './schema.ts'

type Step = Settle<unknown>

/** Nobody reads more, and a list of a thousand wrong elements should not become a megabyte of complaints. */
const mostProblems = 50

/** Compiles a shape into a function that checks an input, converts it, and keeps only what the shape names. */
export function compileInput<S extends TSchema>(schema: S, rules: InputRules): Settle<Static<S>> {
  return settler(schema as Loose, rules, '') as Settle<Static<S>>
}

function settler(schema: Loose, rules: InputRules, path: string): Step {
  insistUnderstood(schema)
  const check = plainSettler(schema, rules, path)
  const finish = schema[settled]
  if (!finish) {
    if (schema.format && !schema.pattern)
      throw new Error(`Format ${schema.format} is promised, but neither a pattern nor settle() checks it`)
    return check
  }
  return (input, source, problems) => {
    const before = problems.length
    const value = check(input, source, problems)
    if (problems.length > before) return value
    const final = finish(value as never)
    return final === undefined ? refuse(problems, path, 'value', unfit(schema)) : final
  }
}

function plainSettler(schema: Loose, rules: InputRules, path: string): Step {
  if (schema.anyOf) return unionSettler(schema.anyOf, rules, path)
  const choices = choicesOf(schema)
  if (choices) return choiceSettler(choices, rules, path)
  switch (schema.type) {
    case 'object':
      return schema.properties ? objectSettler(schema, rules, path) : recordSettler(schema, rules, path)
    case 'array':
      return arraySettler(schema, rules, path)
    case 'string':
      return stringSettler(schema, path)
    case 'integer':
    case 'number':
      return numberSettler(schema, rules, path)
    case 'boolean':
      return booleanSettler(rules, path)
    case 'null':
      return (input, _source, problems) => (input === null ? null : refuse(problems, path, 'type', 'Must be null'))
    case undefined:
      return (input) => input
    default:
      throw new Error(`A shape of type ${schema.type} cannot be read`)
  }
}

function objectSettler(schema: Loose, rules: InputRules, path: string): Step {
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const place = path ? `${path}.${name}` : name
    return { name, place, property, step: settler(property, rules, place), required: required.has(name) }
  })
  const spelling = new Map(fields.map(({ name }) => [name.toLowerCase(), name]))
  return (sent, source, problems) => {
    const input = objectOf(sent, rules)
    if (!isPlainObject(input)) return refuse(problems, path, 'type', 'Must be an object')
    const given = rules.caseInsensitive ? respell(input, spelling) : input
    const result: Record<string, unknown> = {}
    for (const { name, place, property, step, required } of fields) {
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value === undefined || (rules.absent(value) && !asksFor(property, value))) {
        if (required) refuseMissing(property, step, place, problems)
        continue
      }
      result[name] = step(value, source, problems)
    }
    return result
  }
}

function objectOf(input: unknown, { emptyLists }: InputRules): unknown {
  return emptyLists === 'objects' && Array.isArray(input) && input.length === 0 ? {} : input
}

/** Of an object that is missing, what it cannot be without is named, for that is what has to be sent. */
function refuseMissing(property: Loose, step: Step, place: string, problems: Problem[]) {
  const before = problems.length
  if (property.type === 'object' && property.properties) step({}, 'json', problems)
  if (problems.length === before) refuse(problems, place, 'missing', 'Required')
}

/** What is "nothing" to most properties is an answer where the shape names it: `false` to a boolean, null to what may be null. */
function asksFor(schema: Loose, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((member) => asksFor(member, value))
  const choices = choicesOf(schema)
  if (choices) return choices.includes(value)
  return (value === false && schema.type === 'boolean') || (value === null && schema.type === 'null')
}

function respell(input: Record<string, unknown>, spelling: Map<string, string>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    const known = spelling.get(name.toLowerCase())
    // The exact spelling wins over another case of the same name.
    if (known !== undefined && (name === known || !Object.hasOwn(input, known))) result[known] = value
  }
  return result
}

/** Names of the caller's own choosing, with values of one shape. */
function recordSettler(schema: Loose, rules: InputRules, path: string): Step {
  const patterns = Object.entries(schema.patternProperties ?? {}).map(([pattern, member]) => ({
    pattern: new RegExp(pattern, 'su'),
    step: settler(member, rules, ''),
  }))
  return (input, source, problems) => {
    if (!isPlainObject(input)) return refuse(problems, path, 'type', 'Must be an object')
    if (patterns.length === 0) return input
    const entries: [string, unknown][] = []
    for (const [name, value] of Object.entries(input)) {
      const step = patterns.find(({ pattern }) => pattern.test(name))?.step
      if (step) entries.push([name, within(step, value, source, problems, [path, name.slice(0, 100)])])
      if (problems.length >= mostProblems) break
    }
    return Object.fromEntries(entries)
  }
}

function arraySettler(schema: Loose, rules: InputRules, path: string): Step {
  const step = settler(schema.items ?? {}, rules, '')
  const { minItems = 0, maxItems = 1000 } = schema
  return (given, source, problems) => {
    const input = source === 'text' ? numberedList(given) : given
    if (!Array.isArray(input)) return refuse(problems, path, 'type', 'Must be a list')
    if (input.length < minItems) return refuse(problems, path, 'value', `Must have at least ${minItems} elements`)
    if (input.length > maxItems) return refuse(problems, path, 'value', `Must have at most ${maxItems} elements`)
    const result: unknown[] = []
    for (const [index, each] of input.entries()) {
      result.push(within(step, each, source, problems, [path, String(index)]))
      if (problems.length >= mostProblems) break
    }
    return result
  }
}

/** PHP writes the list `tags` as `tags[0]=a&tags[1]=b`, which reads as an object until the shape says otherwise. */
function numberedList(input: unknown): unknown {
  return isPlainObject(input) && Object.keys(input).every((name) => /^\d+$/.test(name)) ? Object.values(input) : input
}

/** Runs the step of an element, whose own paths begin at the element, and reports its problems by their whole path. */
function within(step: Step, input: unknown, source: Source, problems: Problem[], place: string[]): unknown {
  const own: Problem[] = []
  const value = step(input, source, own)
  for (const problem of own) {
    const path = [...place, problem.path].filter((part) => part !== '').join('.')
    problems.push({ ...problem, path })
  }
  return value
}

function unionSettler(members: Loose[], rules: InputRules, path: string): Step {
  if (members.every((member) => 'const' in member && !member[settled]))
    return choiceSettler(
      members.map((member) => member.const),
      rules,
      path,
    )
  const steps = members.map((member) => settler(member, rules, path))
  return (input, source, problems) => {
    let least: Problem[] | undefined
    for (const step of steps) {
      const own: Problem[] = []
      const value = step(input, source, own)
      if (own.length === 0) return value
      least = least && least.length <= own.length ? least : own
    }
    problems.push(...(least ?? []))
    return undefined
  }
}
