import type { Statement, Value } from './statement-reader.ts'

/**
 * A value of a statement that is said again: the same, what the request gives, the time, or something that was never there before. `listed`: as
 * the only one of a list.
 */
export type ScriptValue =
  | { kind: 'same'; value: Value }
  | { kind: 'given'; listed: boolean }
  | { kind: 'now'; listed: boolean }
  | { kind: 'fresh'; listed: boolean; form: Form; number: number }

export type Form = 'id' | 'token' | 'uuid'

export type Script = {
  statements: readonly { text: string; values: readonly ScriptValue[] }[]
  /** Which of the fresh values is answered, for whoever asks next. */
  made: number | undefined
}

/** A request as it was heard: what it gave, what the service said to the database, and what came of it. */
export type Recording = { statements: readonly Statement[]; given?: string | undefined; made?: string | undefined }

const forms: Readonly<Record<Form, RegExp>> = {
  id: /^[0-9a-f]{24}$/,
  token: /^[A-Za-z0-9_-]{43}$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
}

/** A list of one, as PostgreSQL writes it. */
const onlyOne = /^\{"?([^",{}]*)"?\}$/

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** What is nearer than this to the time of the recording was read off the clock. */
const recently = 60_000

/** Finds out from two requests of one kind what is the same in all of them, and where the rest comes from. */
export function writeScript(one: Recording, other: Recording, now = Date.now()): Script {
  if (one.statements.length === 0) throw new Error('the service has said nothing to the database')
  if (
    one.statements.length !== other.statements.length ||
    one.statements.some(({ text }, at) => text !== other.statements[at]?.text)
  )
    throw new Error('two requests of one kind led to different statements')
  const fresh: string[] = []
  const statements = one.statements.map(({ text, values }, at) => {
    if (/^\s*(begin|commit|start transaction)\b/i.test(text))
      throw new Error('a transaction of several statements cannot be said again')
    return { text, values: values.map((value, place) => readValue(value, other.statements[at]?.values[place] ?? null)) }
  })
  const made = one.made === undefined ? undefined : fresh.indexOf(one.made)
  if (made === -1) throw new Error('what the request answered was never told to the database')
  return { statements, made }

  function readValue(value: Value, otherwise: Value): ScriptValue {
    if (typeof value !== 'string' || typeof otherwise !== 'string') {
      if (JSON.stringify(value) !== JSON.stringify(otherwise))
        throw new Error('bytes, or whether there is a value, differ from request to request')
      return { kind: 'same', value }
    }
    const listed = onlyOne.test(value)
    const [own, others] = [value.replace(onlyOne, '$1'), otherwise.replace(onlyOne, '$1')]
    if (own === one.given && others === other.given) return { kind: 'given', listed }
    if (moment.test(own) && Math.abs(Date.parse(own) - now) < recently) return { kind: 'now', listed }
    if (value === otherwise) return { kind: 'same', value }
    const form = (Object.keys(forms) as Form[]).find((name) => forms[name].test(own) && forms[name].test(others))
    if (form === undefined)
      throw new Error(`a value differs from request to request, and nobody knows how: ${value.slice(0, 80)}`)
    if (!fresh.includes(own)) fresh.push(own)
    return { kind: 'fresh', listed, form, number: fresh.indexOf(own) }
  }
}
