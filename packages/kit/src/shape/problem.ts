import { type Loose, refusal } from './schema.ts'

/** What is wrong with one field of the input. `path` is dotted: `company.country`. */
export type Problem = { path: string; kind: 'missing' | 'type' | 'value'; message: string }

/** How a service reads what its callers send. */
export type InputRules = {
  /** A property that counts as not given, e.g. null, or what an old client sends for "nothing". */
  absent(value: unknown): boolean
  /** Strings become numbers and booleans because the shape says so: in query and form always, in JSON when this is true. */
  convertJson: boolean
  /** Property names match whatever their case. */
  caseInsensitive: boolean
  /** An empty list where an object belongs is an empty object: PHP knows no difference. */
  emptyLists?: 'objects'
}

export type Source = 'json' | 'text'

export type Settle<T> = (input: unknown, source: Source, problems: Problem[]) => T

export function refuse(problems: Problem[], path: string, kind: Problem['kind'], message: string): undefined {
  problems.push({ path, kind, message })
  return undefined
}

export function unfit({ format, [refusal]: own }: Loose): string {
  if (own !== undefined) return own
  return format ? `Must be a valid ${format}` : 'Invalid'
}
