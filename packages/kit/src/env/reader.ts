import { Secret } from '../secret.ts'
import { type Declaration, describe, type Env, type Family, isRequired, type Options, type Setting } from './setting.ts'
import {
  Complaint,
  parseAddress,
  parseChoice,
  parseFlag,
  parseList,
  parseNumber,
  parsePairs,
  parseSeconds,
  parseWhole,
  type Range,
} from './values.ts'

type WholeOptions = Options & Range

export type Read = ReturnType<typeof createReader>

/** Reads settings one by one and remembers what was asked for, what is wrong and what is odd. */
export function createReader(family: Family, env: Env) {
  const declared: Setting[] = []
  const complaints: string[] = []
  const warnings: string[] = []
  let group = 'General'

  function find(name: string, { also = [], bare = false }: Pick<Options, 'bare' | 'also'>) {
    const own = [name, ...also]
    const aliases = family.aliases ?? []
    const spellings = [
      ...own.map((each) => `${family.prefix}_${each}`),
      ...aliases.flatMap((alias) => own.map((each) => `${alias}_${each}`)),
      ...(bare ? own : []),
    ]
    for (const spelling of spellings) {
      const text = env[spelling]
      // A line such as `AUTH_SMTP_USER=` in a file means "not set", as in every other program that reads such files.
      if (text === undefined || text.trim() === '') continue
      const alias = aliases.find((each) => spelling.startsWith(`${each}_`))
      if (alias) warnings.push(`${spelling} is an old spelling: write ${family.prefix}_${spelling.slice(alias.length + 1)}`)
      return { name: spelling, text }
    }
    return undefined
  }

  /** The one way in which every kind of setting is declared, found, checked and complained about. */
  function take<T, F>(declaration: Declaration<T, F>): T | F {
    const { name, fallback, required, secret = false, example, shown } = declaration
    const full = `${family.prefix}_${name}`
    declared.push(describe(family, group, declaration))
    const found = find(name, declaration)
    if (!found) {
      if (isRequired(declaration)) {
        const why = typeof required === 'object' ? ` although ${required.because}` : ''
        const sentence = declaration.sentence.replace(/\.$/, '')
        complaints.push(`${full} is not set${why}. ${sentence}. Set it, for example: ${full}=${example ?? '…'}`)
      }
      return fallback
    }
    // A secret is taken to the letter: programs that share it may not trim it.
    const value = declaration.parse(secret ? found.text : found.text.trim())
    if (!(value instanceof Complaint)) return value
    const given = secret ? 'what is there' : quote(found.text.trim())
    complaints.push(
      `${found.name} must be ${value.expected}, not ${given}. For example: ${found.name}=${example ?? (shown || '…')}`,
    )
    return fallback
  }

  function text(name: string, fallback: string, sentence: string, options?: Options): string
  function text(name: string, fallback: undefined, sentence: string, options?: Options): string | undefined
  function text(name: string, fallback: string | undefined, sentence: string, options: Options = {}) {
    return take({ kind: 'text', name, fallback, sentence, parse: (value) => value, shown: fallback, ...options })
  }

  function secret(name: string, sentence: string, options: Options & { minLength?: number } = {}): Secret | undefined {
    const { minLength = 1, ...rest } = options
    const parse = (value: string) =>
      value.length < minLength ? new Complaint(`at least ${minLength} characters long`) : new Secret(value)
    return take({ kind: 'secret', name, fallback: undefined, sentence, parse, ...rest, secret: true })
  }

  return {
    declared,
    complaints,
    warnings,

    /** Heads the settings that follow, in `--help` and in the documents. */
    group<T>(title: string, declare: () => T): T {
      const outer = group
      group = title
      const result = declare()
      group = outer
      return result
    },

    /** A rule between settings, checked once all are read. */
    insist(holds: boolean, complaint: string) {
      if (!holds) complaints.push(complaint)
    },

    text,

    requiredText(name: string, sentence: string, options: Options = {}): string {
      return take({ kind: 'text', name, fallback: '', sentence, parse: (value) => value, required: true, ...options })
    },

    secret,

    requiredSecret(name: string, sentence: string, options: Options & { minLength?: number } = {}): Secret {
      return secret(name, sentence, { required: true, ...options }) ?? new Secret('')
    },

    flag(name: string, fallback: boolean, sentence: string, options: Options = {}): boolean {
      return take({ kind: 'flag', name, fallback, sentence, parse: parseFlag, shown: String(fallback), ...options })
    },

    /** The value of a flag that is declared elsewhere, for rules that hang on it. */
    peekFlag(name: string, fallback: boolean): boolean {
      const found = find(name, {})
      const value = found && parseFlag(found.text.trim())
      return typeof value === 'boolean' ? value : fallback
    },

    whole(name: string, fallback: number, sentence: string, options: WholeOptions = {}): number {
      const parse = (value: string) => parseWhole(value, options)
      return take({ kind: 'whole number', name, fallback, sentence, parse, shown: String(fallback), ...options })
    },

    number(name: string, fallback: number, sentence: string, options: WholeOptions = {}): number {
      const parse = (value: string) => parseNumber(value, options)
      return take({ kind: 'number', name, fallback, sentence, parse, shown: String(fallback), ...options })
    },

    /** Seconds: a plain number of them or a duration such as 1h30m. Zero is zero, never "the default". */
    seconds<F extends number | undefined>(name: string, fallback: F, sentence: string, options: WholeOptions = {}): number | F {
      const parse = (value: string) => parseSeconds(value, options)
      return take({ kind: 'duration', name, fallback, sentence, parse, shown: fallback?.toString(), ...options })
    },

    choice<const C extends readonly string[], F extends C[number] | undefined>(
      name: string,
      choices: C,
      fallback: F,
      sentence: string,
      options: Options = {},
    ): C[number] | F {
      const parse = (value: string): C[number] | Complaint => parseChoice(value, choices)
      return take({ kind: 'choice', name, fallback, sentence, parse, shown: fallback, ...options, choices })
    },

    list(name: string, fallback: readonly string[], sentence: string, options: Options = {}): readonly string[] {
      const parse = (value: string) => {
        const entries = parseList(value)
        return entries.length === 0 && isRequired(options) ? new Complaint('a list of at least one entry') : entries
      }
      return take({ kind: 'list', name, fallback, sentence, parse, shown: fallback.join(','), ...options })
    },

    /** `key:value,key:value` */
    pairs(name: string, sentence: string, options: Options = {}): Readonly<Record<string, string>> {
      return take({ kind: 'pairs', name, fallback: {}, sentence, parse: parsePairs, ...options })
    },

    /** A base address, to which paths are appended: without a slash at its end. */
    url<F extends string | undefined>(name: string, fallback: F, sentence: string, options: Options = {}): string | F {
      const example = 'https://example.com'
      return take({ kind: 'address', name, fallback, sentence, parse: parseBase, example, shown: fallback, ...options })
    },

    requiredUrl(name: string, sentence: string, options: Options = {}): string {
      const example = 'https://example.com'
      return take({ kind: 'address', name, fallback: '', sentence, parse: parseBase, required: true, example, ...options })
    },

    /** An address that others compare letter by letter, such as a redirect URI: its last slash counts. */
    exactUrl(name: string, fallback: string | undefined, sentence: string, options: Options = {}): string | undefined {
      const example = 'https://example.com/path'
      return take({ kind: 'address', name, fallback, sentence, parse: parseAddress, example, shown: fallback, ...options })
    },

    /** For values with a grammar of their own: `parse` answers with the value, or says in words what would be right. */
    parsed<T, F>(
      kind: string,
      name: string,
      fallback: F,
      sentence: string,
      parse: (text: string) => T | { expected: string },
      options: Options & { secret?: boolean } = {},
    ): T | F {
      const checked = (value: string) => {
        const result = parse(value)
        return typeof result === 'object' && result !== null && 'expected' in result
          ? new Complaint(result.expected)
          : (result as T)
      }
      return take({ kind, name, fallback, sentence, parse: checked, ...options })
    },
  }
}

/** Enough of a wrong value to recognise it by, and nothing of a password that stands in an address. */
function quote(text: string): string {
  return JSON.stringify(text.replace(/\/\/.*@/s, '//…@').slice(0, 80))
}

function parseBase(text: string): string | Complaint {
  const address = parseAddress(text)
  return typeof address === 'string' ? address.replace(/\/+$/, '') : address
}
