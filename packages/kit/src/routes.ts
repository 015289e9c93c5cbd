/** Paths of static segments and `{placeholder}`s. A static segment wins over a placeholder. */
export type Routes<T> = { add(method: string, path: string, target: T): void; find(method: string, path: string): Found<T> }

export type Found<T> =
  | { target: T; params: Record<string, string> }
  /** The path exists, but not with this method. */
  | { methods: string[] }
  | undefined

type Node<T> = {
  fixed: Map<string, Node<T>>
  placeholder: Node<T> | undefined
  targets: Map<string, { target: T; names: string[] }>
}

const noParams: Record<string, string> = Object.freeze({})

export function createRoutes<T>(): Routes<T> {
  const root = createNode<T>()
  /** Most requests go to a path without placeholders, which one lookup finds. */
  const exact = new Map<string, Node<T>>()

  return {
    add(method, path, target) {
      if (!path.startsWith('/')) throw new Error(`${method} ${path} does not begin with a slash`)
      const names: string[] = []
      let node = root
      for (const segment of segmentsOf(path)) {
        const name = /^\{(\w+)\}$/.exec(segment)?.[1]
        // As a fixed segment it would wait for a request that really has the brackets in it.
        if (name === undefined && /[{}]/.test(segment))
          throw new Error(`${method} ${path} has a placeholder that is not a whole word`)
        if (name !== undefined) {
          if (names.includes(name)) throw new Error(`${method} ${path} has two placeholders of one name`)
          names.push(name)
          node.placeholder ??= createNode()
          node = node.placeholder
          continue
        }
        const next = node.fixed.get(segment) ?? createNode<T>()
        node.fixed.set(segment, next)
        node = next
      }
      if (node.targets.has(method)) throw new Error(`${method} ${path} is declared twice`)
      node.targets.set(method, { target, names })
      if (names.length === 0) exact.set(path, node)
    },

    find(method, path) {
      const known = exact.get(path)
      if (known) return choose(known, method, [])
      if (!path.startsWith('/')) return undefined
      const values: string[] = []
      const node = descend(root, segmentsOf(path), 0, values)
      return node && choose(node, method, values)
    },
  }
}

function createNode<T>(): Node<T> {
  return { fixed: new Map(), placeholder: undefined, targets: new Map() }
}

/** A trailing slash is tolerated. */
function segmentsOf(path: string): string[] {
  return path.slice(1, path.length > 1 && path.endsWith('/') ? -1 : undefined).split('/')
}

function descend<T>(node: Node<T>, segments: string[], depth: number, values: string[]): Node<T> | undefined {
  const segment = segments[depth]
  if (segment === undefined) return node.targets.size > 0 ? node : undefined
  const fixed = node.fixed.get(segment)
  const found = fixed && descend(fixed, segments, depth + 1, values)
  if (found || !node.placeholder || segment === '') return found
  values.push(segment)
  const below = descend(node.placeholder, segments, depth + 1, values)
  if (!below) values.pop()
  return below
}

function choose<T>(node: Node<T>, method: string, values: string[]): Found<T> {
  const entry = node.targets.get(method)
  if (!entry) return { methods: [...node.targets.keys()] }
  if (values.length === 0) return { target: entry.target, params: noParams }
  const params: Record<string, string> = {}
  for (const [index, name] of entry.names.entries()) {
    const value = decode(values[index] ?? '')
    if (value === undefined) return undefined
    params[name] = value
  }
  return { target: entry.target, params }
}

/** A segment that is not valid percent-encoded UTF-8 names nothing that exists. */
function decode(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    const value = decodeURIComponent(segment)
    return value.includes('\0') ? undefined : value
  } catch {
    return undefined
  }
}
