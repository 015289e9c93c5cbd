import { compileInput, type Problem, settle, worded } from '@tollgate/kit/shape'
import Type, { type Static, type TSchema } from 'typebox'
import { fromBase64 } from '../vault/tokens.ts'

/** Reads JSON that somebody else wrote. What is wrong is told by field and never by value, for the values may be card numbers. */
export function jsonReader<S extends TSchema>(shape: S): (text: string) => { value: Static<S> } | { wrong: string } {
  const read = compileInput(shape, { absent: (value) => value === null, convertJson: false, caseInsensitive: false })
  return (text) => {
    const parsed = parse(text)
    if (!parsed) return { wrong: 'it is not JSON' }
    const problems: Problem[] = []
    const value = read(parsed.value, 'json', problems)
    const [first] = problems
    return first ? { wrong: [first.path, first.message].filter((part) => part !== '').join(': ') } : { value }
  }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Bytes, where JSON has Base64. */
export const Base64 = settle(worded(Type.String({ minLength: 1 }), 'Must be Base64'), fromBase64)

/** Bytes, where JSON has hexadecimal digits. */
export const Hexadecimal = settle(worded(Type.String({ pattern: '^([0-9a-fA-F]{2}){1,64}$' }), 'Must be hexadecimal'), (text) =>
  Buffer.from(text, 'hex'),
)
