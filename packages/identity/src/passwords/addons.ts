import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { carriedAddons } from './carried-addons.ts'

/** By a name that the bundler does not follow. */
const load = createRequire(import.meta.url)

/** A package that is compiled for one machine: from beside us, or, in a bundle that was made on a machine of the same kind, from inside of it. */
export function loadAddon(name: string): unknown {
  try {
    return load(name)
  } catch (problem) {
    const carried = carriedAddons[name]
    if (carried?.platform !== `${process.platform}-${process.arch}`) throw problem
    return unpack(carried.content)
  }
}

/** The system loads such code from files alone; once it is loaded the file is not needed. */
function unpack(content: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
  try {
    const file = join(folder, 'addon.node')
    writeFileSync(file, brotliDecompressSync(Buffer.from(content, 'base64')), { mode: 0o500 })
    const module = { exports: {} }
    process.dlopen(module, file)
    return module.exports
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
