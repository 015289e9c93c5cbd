import { type InputRules, refuse, type Settle, unfit } from './problem.ts'
import type { Loose } from './schema.ts'

type Step = Settle<unknown>

export function stringSettler(schema: Loose, path: string): Step {
  const { minLength = 0, maxLength = Number.MAX_SAFE_INTEGER } = schema
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u')
  return (input, _source, problems) => {
    if (typeof input !== 'string') return refuse(problems, path, 'type', 'Must be text')
    if (shorterThan(input, minLength)) return refuse(problems, path, 'value', `Must be at least ${minLength} characters long`)
    if (longerThan(input, maxLength)) return refuse(problems, path, 'value', `Must be at most ${maxLength} characters long`)
    return pattern && !pattern.test(input) ? refuse(problems, path, 'value', unfit(schema)) : input
  }
}

export function numberSettler(schema: Loose, rules: InputRules, path: string): Step {
  const whole = schema.type === 'integer'
  const minimum = Math.max(schema.minimum ?? -Infinity, -Number.MAX_SAFE_INTEGER)
  const maximum = Math.min(schema.maximum ?? Infinity, Number.MAX_SAFE_INTEGER)
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema
  const expected = whole ? 'Must be a whole number' : 'Must be a number'
  return (input, source, problems) => {
    const value = typeof input === 'string' && (source === 'text' || rules.convertJson) ? toNumber(input, whole) : input
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuse(problems, path, 'type', expected)
    if (whole && !Number.isInteger(value)) return refuse(problems, path, 'value', expected)
    if (value < minimum) return refuse(problems, path, 'value', `Must be at least ${minimum}`)
    if (value > maximum) return refuse(problems, path, 'value', `Must be at most ${maximum}`)
    if (value <= exclusiveMinimum) return refuse(problems, path, 'value', `Must be more than ${exclusiveMinimum}`)
    if (value >= exclusiveMaximum) return refuse(problems, path, 'value', `Must be less than ${exclusiveMaximum}`)
    // A negative zero becomes the usual one.
    return value || 0
  }
}

export function booleanSettler(rules: InputRules, path: string): Step {
  return (input, source, problems) => {
    if (typeof input === 'boolean') return input
    const converts = (source === 'text' || rules.convertJson) && (typeof input === 'string' || typeof input === 'number')
    return (converts ? toBoolean(String(input)) : undefined) ?? refuse(problems, path, 'type', 'Must be true or false')
  }
}

export function choiceSettler(choices: readonly unknown[], rules: InputRules, path: string): Step {
  const message = `Must be one of ${choices.join(', ')}`
  const kinds = new Set(choices.map((choice) => typeof choice))
  return (input, source, problems) => {
    if (choices.includes(input)) return input
    if (typeof input !== 'string' || !(source === 'text' || rules.convertJson))
      return refuse(problems, path, kinds.has(typeof input) ? 'value' : 'type', message)
    const meant = choices.find(
      (choice) =>
        (typeof choice === 'number' && toNumber(input, false) === choice) ||
        (typeof choice === 'boolean' && toBoolean(input) === choice),
    )
    return meant ?? refuse(problems, path, 'value', message)
  }
}

/** Digits as a form or a query carries them. What only looks like a number elsewhere (`1e3`, `0x10`, ` 5`) is none here. */
function toNumber(text: string, whole: boolean): number | undefined {
  const pattern = whole ? /^-?\d{1,17}(\.0{1,17})?$/ : /^-?\d{1,17}(\.\d{1,17})?$/
  return pattern.test(text) ? Number(text) : undefined
}

function toBoolean(text: string): boolean | undefined {
  if (/^(y|yes|1|true)$/i.test(text)) return true
  if (/^(n|no|0|false)$/i.test(text)) return false
  return undefined
}

function shorterThan(text: string, limit: number): boolean {
  return text.length < limit || (text.length < 2 * limit && characters(text) < limit)
}

function longerThan(text: string, limit: number): boolean {
  return text.length > 2 * limit || (text.length > limit && characters(text) > limit)
}

/** As the published limits count them: an emoji is one character, though it takes two places in a JavaScript string. */
function characters(text: string): number {
  return Array.from(text).length
}
