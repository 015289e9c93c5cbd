import { Complaint } from './values.ts'

export type Env = Record<string, string | undefined>

export type Family = {
  /** `AUTH`, as in `AUTH_SITE_URL`. */
  prefix: string
  /** Older prefixes that are still read: `GOTRUE`, as in `GOTRUE_SITE_URL`. */
  aliases?: readonly string[]
  /** Whose settings these are, in warnings. */
  title: string
}

export type Setting = {
  name: string
  otherNames: readonly string[]
  kind: string
  /** As one would write it in the environment, or in words where it depends; undefined when there is none. */
  fallback: string | undefined
  /** The default is told in words: it cannot be copied into a file. */
  fallbackInWords?: true
  required: boolean
  /** Under which condition it is required, where it is not always. */
  requiredWhen?: string
  /** Whether somebody who sets nothing else has to set it. */
  neededFirst: boolean
  secret: boolean
  sentence: string
  group: string
  choices?: readonly string[]
}

export type Options = {
  /** Read without the prefix as well, and under these other names. */
  bare?: boolean
  also?: readonly string[]
  /** Always, or when another setting has made it so, e.g. because `AUTH_EXTERNAL_EMAIL_ENABLED is true`. */
  required?: boolean | { when: boolean; because: string }
  /** What a right value looks like; shown as the cure. */
  example?: string
  /** How the default is told in the documents, where it depends on the machine or on another setting. */
  shown?: string
}

/** A setting as its reader knows it. */
export type Declaration<T, F> = Omit<Options, 'shown'> & {
  shown?: string | undefined
  kind: string
  name: string
  fallback: F
  sentence: string
  parse(text: string): T | Complaint
  secret?: boolean
  choices?: readonly string[]
}

export function isRequired({ required = false }: Pick<Options, 'required'>): boolean {
  return typeof required === 'object' ? required.when : required
}

/** A setting as `--help` and the documents show it. */
export function describe<T, F>({ prefix }: Family, group: string, declaration: Declaration<T, F>): Setting {
  const { name, also = [], bare = false, required = false, choices, shown } = declaration
  return {
    name: `${prefix}_${name}`,
    otherNames: [
      ...(bare ? [name] : []),
      ...also.flatMap((each) => (bare ? [`${prefix}_${each}`, each] : [`${prefix}_${each}`])),
    ],
    kind: declaration.kind,
    fallback: shown || undefined,
    ...(shown && !readsBack(declaration, shown) ? { fallbackInWords: true } : {}),
    required: required === true,
    neededFirst: isRequired(declaration),
    ...(typeof required === 'object' ? { requiredWhen: required.because } : {}),
    secret: declaration.secret ?? false,
    sentence: declaration.sentence,
    group,
    ...(choices ? { choices } : {}),
  }
}

function readsBack<T, F>({ parse, fallback }: Declaration<T, F>, shown: string): boolean {
  const value: unknown = parse(shown)
  return !(value instanceof Complaint) && (typeof value === 'object' || value === fallback)
}
