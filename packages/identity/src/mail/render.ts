import { createHtmlWriter } from './html-writer.ts'
import type { TemplateValues } from './kinds.ts'
import { type Expression, type FunctionName, parseTemplate, type TemplateNode, TemplateProblem } from './template-syntax.ts'

/** What came of a template, or why nothing could: a sentence for the operator. */
export type Rendered = { text: string; problem?: undefined } | { text?: undefined; problem: string }

type Writer = { literal(text: string): void; value(text: string, link: boolean): void; finish(): string }

/** Every value is escaped for the place that it stands in, so that it can add neither an element nor an attribute. */
export function renderHtml(source: string, values: TemplateValues): Rendered {
  return render(source, values, createHtmlWriter())
}

/** One line of plain text: a line break in a subject would begin another header. */
export function renderSubject(source: string, values: TemplateValues): Rendered {
  const parts: string[] = []
  const add = (text: string) => void parts.push(text)
  return render(source, values, { literal: add, value: add, finish: () => oneLine(parts.join('')) })
}

const longestSubject = 250
// Marks that turn the direction of writing around would let a value disguise the words beside it.
const unseemly = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\s]+/gu

function oneLine(text: string): string {
  const line = text.toWellFormed().replace(unseemly, ' ').trim()
  return Array.from(line).slice(0, longestSubject).join('')
}

function render(source: string, values: TemplateValues, writer: Writer): Rendered {
  try {
    write(parseTemplate(source), { root: values, dot: values }, writer)
    return { text: writer.finish() }
  } catch (problem) {
    if (problem instanceof TemplateProblem) return { problem: problem.message }
    throw problem
  }
}

type Scope = { root: unknown; dot: unknown }

function write(nodes: readonly TemplateNode[], scope: Scope, writer: Writer): void {
  for (const node of nodes) {
    if (node.kind === 'text') writer.literal(node.text)
    else if (node.kind === 'value') writer.value(print(evaluate(node.of, scope)), isOwnLink(node.of, scope))
    else if (node.kind === 'range') writeEach(node, scope, writer)
    else {
      const found = evaluate(node.on, scope)
      const inner = node.kind === 'with' && holds(found) ? { ...scope, dot: found } : scope
      write(holds(found) ? node.then : node.otherwise, inner, writer)
    }
  }
}

function writeEach(node: Extract<TemplateNode, { otherwise: unknown }>, scope: Scope, writer: Writer): void {
  const found = evaluate(node.on, scope)
  const items = Array.isArray(found)
    ? found
    : isRecord(found)
      ? Object.keys(found)
          .sort()
          .map((key) => found[key])
      : []
  if (items.length === 0) write(node.otherwise, scope, writer)
  for (const dot of items) write(node.then, { ...scope, dot }, writer)
}

const ownLinks: readonly (string | undefined)[] = ['SiteURL', 'ConfirmationURL', 'RedirectTo']

/** These three were settled by configuration or the redirect rules; whatever else may be a user's own invention. */
function isOwnLink(expression: Expression, { root, dot }: Scope): boolean {
  if (expression.kind !== 'path' || expression.keys.length !== 1) return false
  return (expression.from === 'root' || dot === root) && ownLinks.includes(expression.keys[0])
}

function evaluate(expression: Expression, scope: Scope): unknown {
  if (expression.kind === 'literal') return expression.value
  if (expression.kind === 'path') return expression.keys.reduce<unknown>(pick, scope[expression.from])
  return calls[expression.name](expression.operands, scope)
}

const calls: Record<FunctionName, (operands: readonly Expression[], scope: Scope) => unknown> = {
  eq([first, ...others], scope) {
    const value = evaluate(first as Expression, scope)
    return others.some((other) => evaluate(other, scope) === value)
  },
  ne: (operands, scope) => !calls.eq(operands, scope),
  not: ([operand], scope) => !holds(evaluate(operand as Expression, scope)),
  and: (operands, scope) => firstOrLast(operands, scope, (value) => !holds(value)),
  or: (operands, scope) => firstOrLast(operands, scope, holds),
  index: (operands, scope) => operands.map((operand) => evaluate(operand, scope)).reduce(pick),
}

function firstOrLast(operands: readonly Expression[], scope: Scope, fits: (value: unknown) => boolean): unknown {
  let value: unknown
  for (const operand of operands) {
    value = evaluate(operand, scope)
    if (fits(value)) break
  }
  return value
}

/** A field that is not there is empty, as it is in Go's maps; what objects inherit is no field. */
function pick(from: unknown, key: unknown): unknown {
  if (Array.isArray(from)) return typeof key === 'number' ? from[key] : undefined
  return isRecord(from) && typeof key === 'string' && Object.hasOwn(from, key) ? from[key] : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function holds(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isRecord(value) ? Object.keys(value).length > 0 : Boolean(value)
}

function print(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
