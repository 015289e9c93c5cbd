import { createHash } from 'node:crypto'

/** The schema that statements are written for, and the one that this installation keeps its tables in. */
export type Schema = { written: string; actual: string }

export type Statement = {
  readonly text: string
  /** Whether it only looks: what changes something waits for the disk, and those behind it wait along. */
  readonly looks: boolean
  /** The name that connections prepare it under. None: it is prepared anew every time. */
  name: string | undefined
  /** How often it has been given a new name. */
  renewals: number
}

export type StatementOf = (template: TemplateStringsArray) => Statement

/** Gives every template its statement, always the same one. */
export function statements(schema: Schema): StatementOf {
  const known = new WeakMap<TemplateStringsArray, Statement>()
  return (template) => {
    const there = known.get(template)
    if (there) return there
    const text = inSchema(
      template.reduce((before, part, index) => `${before}$${index}${part}`),
      schema,
    )
    const name = createHash('sha256').update(text).digest('hex').slice(0, 20)
    const statement = { name, text, looks: looksOnly(text), renewals: 0 }
    known.set(template, statement)
    return statement
  }
}

/** Taken for a change when in doubt: that costs a little time and nothing else. */
function looksOnly(text: string): boolean {
  const reads = /^\s*(select|with)\b/i.test(text) && !/\b(insert\s+into|update|delete\s+from|merge\s+into)\b/i.test(text)
  return reads && !/\bfor\s+(no\s+key\s+)?(update|share|key)\b|\bpg_advisory/i.test(text)
}

/** A statement that is forgotten this often goes through a pooler that keeps none. Names would only pile up behind it. */
const mostRenewals = 8

/** Under a new name every connection prepares it anew. Those that failed together under the old one need only one new name. */
export function renew(statement: Statement, failed: string | undefined) {
  if (failed === undefined || statement.name !== failed) return
  statement.name = ++statement.renewals > mostRenewals ? undefined : `${failed.slice(0, 20)}_${statement.renewals}`
}

/**
 * Statements name the schema they are written for (`auth.users`), the kit's own say `kit.`; an installation may keep its tables
 * in another one. Done in the text, because a search path is session state, which a connection pooler does not keep.
 */
export function inSchema(text: string, { written, actual }: Schema): string {
  return text.replace(new RegExp(`(?<![\\w$."])(?:${written}|kit)\\.`, 'g'), `${quoted(actual)}.`)
}

/** A schema may be called `user` or `order`, which SQL takes for words of its own. */
export function quoted(schema: string): string {
  return `"${schema}"`
}
