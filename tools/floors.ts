import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The floors of a service, top to bottom: an import may go down, or sideways, but never up. */
const serviceFloors: readonly RegExp[] = [
  /^testing\.ts$/,
  /^main\.ts$/,
  /^server\.ts$/,
  /^endpoints\//,
  /^operations\//,
  /^(callers|app|config|errors|meters|migrations|shapes)\.ts$/,
  /^(rules|store|passwords|providers|sms|mail|pages|acquirers|vault|wallets)\//,
]

/** Which packages a package may know. Whoever is not named is known by HTTP alone. */
const knows: Record<string, readonly string[]> = {
  kit: [],
  identity: ['kit'],
  payments: ['kit', 'checkout', 'sdk'],
  checkout: [],
  sdk: [],
  console: [],
  tollgate: ['kit', 'identity', 'payments'],
}

export type Imports = Map<string, readonly string[]>

/** Every breach of the floor plan, in a sentence each. */
export function checkFloors(imports: Imports): string[] {
  const breaches: string[] = []
  for (const [file, targets] of imports) {
    if (file.endsWith('.test.ts')) continue
    for (const target of targets) breaches.push(...breachOf(file, target))
  }
  return [...breaches, ...circlesOf(imports)]
}

function breachOf(file: string, target: string): string[] {
  const [from, to] = [placeOf(file), placeOf(target)]
  if (!from || !to) return []
  if (from.room !== to.room) {
    return knows[from.room]?.includes(to.room) ? [] : [`${file} imports ${target}: ${from.room} does not know ${to.room}`]
  }
  if (!isService(from.room)) return []
  const [own, other] = [floorOf(from.path), floorOf(to.path)]
  if (own === undefined) return [`${file} stands on no floor; tools/floors.ts lists them`]
  if (other !== undefined && other < own) return [`${file} imports ${target}, which is on a higher floor`]
  if (from.path.startsWith('endpoints/') && to.path.startsWith('endpoints/'))
    return [`${file} imports ${target}: endpoints do not know each other`]
  return []
}

function placeOf(file: string): { room: string; path: string } | undefined {
  const [, room, path] = /^packages\/([^/]+)\/src\/(.+)$/.exec(file) ?? []
  return room !== undefined && path !== undefined ? { room, path } : undefined
}

function isService(room: string): boolean {
  return room === 'identity' || room === 'payments'
}

function floorOf(path: string): number | undefined {
  const floor = serviceFloors.findIndex((pattern) => pattern.test(path))
  return floor < 0 ? undefined : floor
}

function circlesOf(imports: Imports): string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, trail: readonly string[]) => {
    const start = trail.indexOf(file)
    if (start >= 0) return void circles.push(`A circle: ${[...trail.slice(start), file].join(' → ')}`)
    if (done.has(file)) return
    for (const target of imports.get(file) ?? []) walk(target, [...trail, file])
    done.add(file)
  }
  for (const file of imports.keys()) walk(file, [])
  return circles
}

/** What each of the given files imports from among our own. */
export function readImports(root: string, files: readonly string[]): Imports {
  const known = new Set(files)
  return new Map(
    files.map((file) => {
      const targets = specifiersOf(readFileSync(join(root, file), 'utf8')).map((specifier) => resolveOwn(file, specifier))
      return [file, targets.filter((target) => target !== undefined && known.has(target)) as string[]]
    }),
  )
}

export function specifiersOf(text: string): string[] {
  const statements = text.matchAll(
    /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm,
  )
  return [...statements].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '')
}

function resolveOwn(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier))
  const [, room, path] = /^@tollgate\/([^/]+)\/(.+)$/.exec(specifier) ?? []
  return room === undefined ? undefined : `packages/${room}/src/${path}.ts`
}
