import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { createReader, type Read } from './env/reader.ts'
import type { Env, Family, Setting } from './env/setting.ts'
import { Secret } from './secret.ts'
import { closest } from './spelling.ts'

export type { Read } from './env/reader.ts'
export type { Env, Family, Setting } from './env/setting.ts'

/** A refusal to start that names every wrong setting at once; meant for a person, so it needs no stack trace. */
export class ConfigProblem extends Error {
  readonly complaints: readonly string[]

  constructor(complaints: readonly string[]) {
    const count = complaints.length === 1 ? 'One setting needs' : `${complaints.length} settings need`
    super(`${count} attention:\n${complaints.map((line) => `  - ${line}`).join('\n')}`)
    this.complaints = complaints
  }
}

export type Settings<Config> = {
  family: Family
  declared: readonly Setting[]
  read(env: Env): { config: Config; warnings: string[] }
}

export type ConfigOf<S> = S extends Settings<infer Config> ? Config : never

/** Declares a service's settings once; reading, `--help`, docs/configuration.md and .env.example are all read off the declaration. */
export function defineSettings<Config>(family: Family, declare: (read: Read) => Config): Settings<Config> {
  const describing = createReader(family, {})
  declare(describing)
  return {
    family,
    declared: describing.declared,
    read(env) {
      const read = createReader(family, env)
      const config = declare(read)
      if (read.complaints.length > 0) throw new ConfigProblem(read.complaints)
      return { config: deepFreeze(config), warnings: [...new Set(read.warnings), ...misspelt(family, read.declared, env)] }
    },
  }
}

/** The environment with the values of a `.env` file under it: what the environment says wins. */
export function withDotEnv(env: Env, file: string): Env {
  const own = Object.entries(env).filter(([, value]) => value !== undefined)
  return { ...readDotEnv(file), ...Object.fromEntries(own) }
}

function readDotEnv(file: string): Env {
  try {
    // Editors of other systems put a mark in front of the first name, which would then be another name.
    return parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
  } catch (problem) {
    const { code, message } = problem as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    throw new ConfigProblem([`${file} cannot be read: ${message}`])
  }
}

/** A misspelt name would silently leave the default in force, so it is worth a line at start. */
function misspelt({ prefix, aliases = [], title }: Family, declared: readonly Setting[], env: Env): string[] {
  const known = new Set(
    declared.flatMap(({ name, otherNames }) => [name, ...otherNames]).map((name) => withoutPrefix(name, [prefix]) ?? name),
  )
  return Object.keys(env).flatMap((name) => {
    const own = withoutPrefix(name, [prefix, ...aliases])
    if (own === undefined || known.has(own)) return []
    const meant = closest(own, known)
    return [`${name} is not a setting of ${title}${meant ? `: did you mean ${prefix}_${meant}?` : ''}`]
  })
}

function withoutPrefix(name: string, prefixes: readonly string[]): string | undefined {
  const prefix = prefixes.find((each) => name.startsWith(`${each}_`))
  return prefix && name.slice(prefix.length + 1)
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Secret || Object.isFrozen(value)) return value
  for (const each of Object.values(value)) deepFreeze(each)
  return Object.freeze(value)
}
