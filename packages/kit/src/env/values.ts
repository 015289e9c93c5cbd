import { parseDuration } from '../duration.ts'

/** What a text should have been. A class, because a setting's value may be of any other type. */
export class Complaint {
  readonly expected: string

  constructor(expected: string) {
    this.expected = expected
  }
}

export type Range = { min?: number | undefined; max?: number | undefined }

export function parseFlag(text: string): boolean | Complaint {
  if (/^(true|t|1|yes|y|on)$/i.test(text)) return true
  if (/^(false|f|0|no|n|off)$/i.test(text)) return false
  return new Complaint('true or false')
}

export function parseWhole(text: string, range: Range): number | Complaint {
  return within(/^-?\d{1,16}$/.test(text) ? Number(text) : undefined, range) ?? new Complaint(`a whole number ${wording(range)}`)
}

export function parseNumber(text: string, range: Range): number | Complaint {
  const number = /^-?\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : undefined
  return within(number, range) ?? new Complaint(`a number ${wording(range)}`)
}

/** A date that far from now is still one that JavaScript and PostgreSQL can hold. */
const hundredYears = 100 * 365 * 86_400

export function parseSeconds(text: string, { min = 0, max = hundredYears }: Range): number | Complaint {
  const bounds = [...(min > 0 ? [`at least ${min}s`] : []), ...(max === hundredYears ? [] : [`at most ${max}s`])]
  return within(parseDuration(text), { min, max }) ?? new Complaint(['seconds or a duration such as 1h30m', ...bounds].join(', '))
}

export function parseChoice<C extends string>(text: string, choices: readonly C[]): C | Complaint {
  const meant = text.toLowerCase()
  return choices.find((each) => each.toLowerCase() === meant) ?? new Complaint(`one of ${choices.join(', ')}`)
}

/** `a, b,` → `['a', 'b']`. A lone comma is how one writes an empty list, where a default would stand otherwise. */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** `key:value,key:value` or the same with `=`. */
export function parsePairs(text: string): Readonly<Record<string, string>> | Complaint {
  // Without a prototype: looking up `constructor` finds nothing that nobody has set.
  const pairs: Record<string, string> = Object.create(null)
  for (const entry of parseList(text)) {
    const [, key, value] = /^([^:=]+)[:=](.*)$/s.exec(entry) ?? []
    if (key === undefined || value === undefined) return new Complaint('pairs such as key:value,key:value')
    pairs[key.trim()] = value.trim()
  }
  return pairs
}

/** The URL parser skips line breaks and encodes blanks; who uses the text as it stands must not meet them. */
export function parseAddress(text: string): string | Complaint {
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) && URL.canParse(text)
    ? text
    : new Complaint('an address that starts with http:// or https://')
}

function within(number: number | undefined, { min = 0, max = Number.MAX_SAFE_INTEGER }: Range): number | undefined {
  // `|| 0` turns a negative zero into the usual one.
  return number !== undefined && number >= min && number <= max ? number || 0 : undefined
}

function wording({ min = 0, max = Number.MAX_SAFE_INTEGER }: Range): string {
  return max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`
}
