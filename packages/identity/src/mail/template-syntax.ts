/** The part of Go's template language that mails need: fields, if, with, range, comparisons, comments and trim markers. */
export type TemplateNode =
  | { kind: 'text'; text: string }
  | { kind: 'value'; of: Expression }
  | { kind: BlockKind; on: Expression; then: readonly TemplateNode[]; otherwise: readonly TemplateNode[] }

export type Expression =
  | { kind: 'path'; from: 'dot' | 'root'; keys: readonly string[] }
  | { kind: 'literal'; value: string | number | boolean | undefined }
  | { kind: 'call'; name: FunctionName; operands: readonly Expression[] }

type BlockKind = 'if' | 'with' | 'range'

/** How few and how many operands each takes. */
const functions = { eq: [2, 20], ne: [2, 2], not: [1, 1], and: [1, 20], or: [1, 20], index: [1, 20] } as const

export type FunctionName = keyof typeof functions

/** A template that cannot be used. Its message is a sentence for the operator. */
export class TemplateProblem extends Error {}

// A template nests a few levels; the limit keeps a hostile or broken one from exhausting the stack.
const deepest = 40

type Piece = { text: string } | { action: string; line: number }

export function parseTemplate(source: string): readonly TemplateNode[] {
  const pieces = cut(source)
  let at = 0

  type End = { word: 'end' | 'else' | 'eof'; rest: string; line: number }

  function parseNodes(depth: number): { nodes: TemplateNode[]; end: End } {
    if (depth > deepest) throw new TemplateProblem(`The template nests more than ${deepest} levels deep`)
    const nodes: TemplateNode[] = []
    for (let piece = pieces[at++]; piece; piece = pieces[at++]) {
      if ('text' in piece) {
        nodes.push({ kind: 'text', text: piece.text })
        continue
      }
      const { action, line } = piece
      const [, word = '', rest = ''] = /^([a-z]+)\b\s*([\s\S]*)$/.exec(action) ?? []
      if (word === 'end' && rest === '') return { nodes, end: { word, rest, line } }
      if (word === 'else') return { nodes, end: { word, rest, line } }
      if (word === 'if' || word === 'with' || word === 'range') nodes.push(parseBlock(word, rest, line, depth))
      else nodes.push({ kind: 'value', of: parseExpression(action, line) })
    }
    return { nodes, end: { word: 'eof', rest: '', line: 0 } }
  }

  function parseBlock(kind: BlockKind, condition: string, line: number, depth: number): TemplateNode {
    const on = parseExpression(condition, line)
    const { nodes: then, end } = parseNodes(depth + 1)
    if (end.word === 'eof') throw new TemplateProblem(`Line ${line}: {{ ${kind} }} has no {{ end }}`)
    if (end.word === 'end') return { kind, on, then, otherwise: [] }
    const [, next, rest = ''] = /^(if|with)\b\s*([\s\S]*)$/.exec(end.rest) ?? []
    // `else if` ends with the {{ end }} of the block that it belongs to.
    if (next) return { kind, on, then, otherwise: [parseBlock(next as BlockKind, rest, end.line, depth + 1)] }
    if (end.rest !== '') throw new TemplateProblem(`Line ${end.line}: {{ else ${end.rest.slice(0, 60)} }} is not understood`)
    const other = parseNodes(depth + 1)
    if (other.end.word !== 'end') throw new TemplateProblem(`Line ${end.line}: {{ else }} has no {{ end }}`)
    return { kind, on, then, otherwise: other.nodes }
  }

  const { nodes, end } = parseNodes(0)
  if (end.word !== 'eof') throw new TemplateProblem(`Line ${end.line}: {{ ${end.word} }} belongs to no block`)
  return nodes
}

// No character can be read in two ways here, so that a template that is broken takes no longer than one that is whole.
const action = /\{\{(-(?=\s))?(\s*\/\*[\s\S]*?\*\/\s*?|(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|(?!\}\}|\s-\}\})[^"`])*)(\s-)?\}\}/y

/** Text and actions in turn; trim markers take the white space beside them away. */
function cut(source: string): Piece[] {
  const pieces: Piece[] = []
  let [at, line, trimming] = [0, 1, false]
  while (at < source.length) {
    const open = source.indexOf('{{', at)
    const end = open < 0 ? source.length : open
    let text = source.slice(at, end)
    line += countLines(text)
    if (trimming) text = text.trimStart()
    if (open < 0) {
      pieces.push({ text })
      break
    }
    action.lastIndex = open
    const found = action.exec(source)
    if (!found) throw new TemplateProblem(`Line ${line}: {{ is never closed by }}`)
    const [whole, before, , after] = found
    const content = (found[2] ?? '').trim()
    pieces.push({ text: before ? text.trimEnd() : text })
    if (!content.startsWith('/*')) pieces.push({ action: content, line })
    line += countLines(whole)
    trimming = after !== undefined
    at = open + whole.length
  }
  return pieces
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

const word =
  /\s*(?:("(?:[^"\\\n]|\\.)*"|`[^`]*`)|(-?\d+(?:\.\d+)?)(?![\w.])|(\$?(?:\.[\p{L}_][\p{L}\p{N}_]*)+|\$|\.)|([a-z]+)|([()|]))/uy

type Word = { type: 'text' | 'number' | 'path' | 'name' | 'sign'; text: string }

function parseExpression(source: string, line: number): Expression {
  const words = splitWords(source, line)
  let at = 0

  function parsePipeline(depth: number): Expression {
    if (depth > deepest) throw new TemplateProblem(`Line ${line}: the brackets nest more than ${deepest} levels deep`)
    let value = parseCommand(depth)
    while (words[at]?.text === '|' && words[at]?.type === 'sign') {
      at++
      value = parseCommand(depth, value)
    }
    return value
  }

  function parseCommand(depth: number, piped?: Expression): Expression {
    const first = words[at]
    const constant = first?.type === 'name' && constants.has(first.text)
    if (first?.type !== 'name' || constant) {
      if (piped) throw new TemplateProblem(`Line ${line}: only a function can stand behind |`)
      return parseOperand(depth)
    }
    at++
    const operands: Expression[] = []
    while (at < words.length && !isSign(words[at], ')') && !isSign(words[at], '|')) operands.push(parseOperand(depth))
    return call(first.text, piped ? [...operands, piped] : operands, line)
  }

  function parseOperand(depth: number): Expression {
    const next = words[at++]
    if (!next) throw new TemplateProblem(`Line ${line}: {{ ${source.slice(0, 60)} }} lacks a value`)
    if (isSign(next, '(')) {
      const inner = parsePipeline(depth + 1)
      if (!isSign(words[at++], ')'))
        throw new TemplateProblem(`Line ${line}: {{ ${source.slice(0, 60)} }} lacks a closing bracket`)
      return inner
    }
    if (next.type === 'text') return { kind: 'literal', value: unquote(next.text, line) }
    if (next.type === 'number') return { kind: 'literal', value: Number(next.text) }
    if (next.type === 'name' && constants.has(next.text)) return { kind: 'literal', value: constants.get(next.text) }
    if (next.type !== 'path') throw new TemplateProblem(`Line ${line}: "${next.text.slice(0, 60)}" is not understood here`)
    const from = next.text.startsWith('$') ? 'root' : 'dot'
    return { kind: 'path', from, keys: next.text.replace(/^\$/, '').split('.').filter(Boolean) }
  }

  const expression = parsePipeline(0)
  if (at < words.length) throw new TemplateProblem(`Line ${line}: "${words[at]?.text.slice(0, 60)}" is not understood here`)
  return expression
}

const constants = new Map<string, boolean | undefined>([
  ['true', true],
  ['false', false],
  ['nil', undefined],
])

function isSign(candidate: Word | undefined, sign: string): boolean {
  return candidate?.type === 'sign' && candidate.text === sign
}

function splitWords(source: string, line: number): Word[] {
  const words: Word[] = []
  const text = source.trim()
  word.lastIndex = 0
  while (word.lastIndex < text.length) {
    const start = word.lastIndex
    const [, quoted, number, path, name, sign] = word.exec(text) ?? []
    if (quoted !== undefined) words.push({ type: 'text', text: quoted })
    else if (number !== undefined) words.push({ type: 'number', text: number })
    else if (path !== undefined) words.push({ type: 'path', text: path })
    else if (name !== undefined) words.push({ type: 'name', text: name })
    else if (sign !== undefined) words.push({ type: 'sign', text: sign })
    else throw new TemplateProblem(`Line ${line}: "${text.slice(start, start + 20).trim()}" is not understood`)
  }
  return words
}

function call(name: string, operands: Expression[], line: number): Expression {
  if (!Object.hasOwn(functions, name)) throw new TemplateProblem(`Line ${line}: there is no function "${name.slice(0, 60)}"`)
  const [least, most] = functions[name as FunctionName]
  if (operands.length < least || operands.length > most)
    throw new TemplateProblem(`Line ${line}: "${name}" does not take ${operands.length} values`)
  return { kind: 'call', name: name as FunctionName, operands }
}

function unquote(text: string, line: number): string {
  if (text.startsWith('`')) return text.slice(1, -1)
  try {
    return JSON.parse(text) as string
  } catch {
    throw new TemplateProblem(`Line ${line}: ${text.slice(0, 60)} is not a text`)
  }
}
