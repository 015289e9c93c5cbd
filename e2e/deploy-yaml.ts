export type Yaml = string | null | Yaml[] | { [name: string]: Yaml }

type Line = { depth: number; text: string }

/**
 * The part of YAML that the files in deploy/ keep to: maps and lists by their indentation, values on one line, plain, quoted, or a list in
 * brackets. Everything else is refused, so that nothing is read otherwise than other programs read it.
 */
export function readYaml(text: string): Yaml {
  const lines = text
    .split('\n')
    .map((line) => ({ depth: line.length - line.trimStart().length, text: line.trim() }))
    .filter((line) => line.text !== '' && !line.text.startsWith('#'))
  const value = block(lines, 0)
  const [left] = lines
  if (left) throw new Error(`Not where it belongs: ${left.text}`)
  return value
}

/** Takes the lines of one map or list off the front. */
function block(lines: Line[], depth: number): Yaml {
  const [first] = lines
  if (!first || first.depth < depth) return null
  return first.text.startsWith('- ') ? list(lines, first.depth) : map(lines, first.depth)
}

function list(lines: Line[], depth: number): Yaml[] {
  const items: Yaml[] = []
  while (lines[0]?.depth === depth && lines[0].text.startsWith('- ')) {
    const text = lines[0].text.slice(2)
    if (entryOf(text)) {
      // The first line of a map stands beside its dash.
      lines[0] = { depth: depth + 2, text }
      items.push(map(lines, depth + 2))
    } else {
      lines.shift()
      items.push(scalar(text))
    }
  }
  return items
}

function map(lines: Line[], depth: number): { [name: string]: Yaml } {
  const entries: { [name: string]: Yaml } = {}
  while (lines[0]?.depth === depth) {
    const [, name = '', value = ''] = entryOf(lines[0].text) ?? refuse(lines[0].text)
    if (name in entries) throw new Error(`There are two of ${name}`)
    lines.shift()
    entries[name] = value === '' ? block(lines, depth + 1) : scalar(value)
  }
  return entries
}

function entryOf(text: string): RegExpExecArray | null {
  return /^([A-Za-z_][\w-]*):(?: (.+))?$/.exec(text)
}

function scalar(text: string): Yaml {
  if (text.startsWith('"') || text.startsWith('[')) return JSON.parse(text)
  // What would mean something else, or begin a comment, has to be quoted.
  if (/^[&*!|>'%@`{]/.test(text) || text.includes(' #') || /: /.test(text)) refuse(text)
  return text
}

function refuse(text: string): never {
  throw new Error(`Not among the YAML that is kept to here: ${text}`)
}
