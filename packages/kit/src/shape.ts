import Type, { type Static, type TSchema } from 'typebox'
import { oneALine, refusal, settled } from './shape/schema.ts'

export { compileInput } from './shape/input.ts'
export type { InputRules, Problem, Settle } from './shape/problem.ts'
export { compileReply } from './shape/reply.ts'

/**
 * A shape whose value is put into its final form once it has been checked: trimmed, lower-cased, looked up. What `finish`
 * answers with undefined is refused as not valid.
 */
export function settle<S extends TSchema, T>(schema: S, finish: (value: Static<S>) => T | undefined) {
  return Type.Unsafe<T>({ ...schema, [settled]: finish })
}

/** A shape that says in words of its own what is wrong with a value that does not fit its pattern. */
export function worded<S extends TSchema>(schema: S, message: string) {
  return Type.Unsafe<Static<S>>({ ...schema, [refusal]: message })
}

/** A list that is written one element a line, as line-reading clients need it. */
export function lines<S extends TSchema>(item: S) {
  return Type.Unsafe<Static<S>[]>({ ...Type.Array(item), [oneALine]: true })
}

/** A moment: a Date in our hands, RFC 3339 on the wire. */
export const Moment = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
