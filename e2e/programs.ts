import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules', '.cache', 'tollgate')

/** What `npm run build` makes of the programs, in a folder of one's own. */
export async function buildPrograms(folder: string): Promise<void> {
  cpSync(await kept(), folder, { recursive: true })
}

/** `tollgate` in one file, which starts in a quarter of the time that the sources take. */
export async function builtProgram(): Promise<string> {
  return join(await kept(), 'tollgate.mjs')
}

/** Made once of these sources, however many tests want it: to pack what is compiled for the machine takes seconds. */
async function kept(): Promise<string> {
  const folder = join(cache, `programs-${fingerprint()}`)
  while (!existsSync(folder)) await buildOrWait(folder)
  utimesSync(folder, new Date(), new Date())
  return folder
}

/** Of everything that a program is made of. */
function fingerprint(): string {
  const sources = globSync(['packages/*/{src,migrations}/**/*', 'packages/*/package.json', 'tools/*.ts', 'package-lock.json'], {
    cwd: root,
    exclude: (name) => name.endsWith('.test.ts'),
  })
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}`)
  for (const path of sources.sort()) {
    const whole = join(root, path)
    if (statSync(whole).isFile()) hash.update(`\0${path}\0`).update(readFileSync(whole))
  }
  return hash.digest('hex').slice(0, 20)
}

/** Whoever makes the folder for it builds; the others wait until it appears, whole, under its name. */
async function buildOrWait(folder: string): Promise<void> {
  const making = `${folder}-new`
  mkdirSync(cache, { recursive: true })
  try {
    mkdirSync(making)
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== 'EEXIST') throw problem
    if (ageOf(making) > longestBuild) rmSync(making, { recursive: true, force: true })
    return sleep(100)
  }
  try {
    await promisify(execFile)(process.execPath, [join(root, 'tools/build.ts'), making])
    renameSync(making, folder)
  } catch (problem) {
    rmSync(making, { recursive: true, force: true })
    throw problem
  }
  for (const name of globSync('programs-*', { cwd: cache }))
    if (ageOf(join(cache, name)) > hour) rmSync(join(cache, name), { recursive: true, force: true })
}

const hour = 3_600_000
/** After which whoever began is taken for dead. */
const longestBuild = 120_000

/** Milliseconds since it was last used. */
function ageOf(folder: string): number {
  const now = Date.now()
  return now - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? now)
}
