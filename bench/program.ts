import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')

/** The file that is started as `tollgate`: the one asked for, else a bundle made just now, else the source. */
export async function prepareProgram(wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) return resolve(wanted)
  const build = join(root, 'tools', 'build.ts')
  const bundle = join(root, 'dist', 'tollgate.mjs')
  if (existsSync(build)) {
    await promisify(execFile)(process.execPath, [build], { cwd: root })
    if (existsSync(bundle)) return bundle
  }
  return join(root, 'packages', 'tollgate', 'src', 'main.ts')
}
