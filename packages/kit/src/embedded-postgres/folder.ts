import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Account, handOver, type Owner, ourselves, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { failure, PostgresProblem } from './problem.ts'

/** Who owns the data; undefined where there are none yet. Data that this PostgreSQL cannot use are refused and never touched. */
export async function inspectData(folder: string, version: string): Promise<Owner | undefined> {
  const found = await stat(folder).catch(unlessAbsent)
  if (!found) return undefined
  if (!found.isDirectory()) throw new PostgresProblem(`${folder} is a file where PostgreSQL keeps a folder; move it away.`)

  const user = process.getuid?.() ?? found.uid
  if (user !== 0 && user !== found.uid) {
    const cure = `hand it over with "sudo chown -R ${user} ${folder}", or delete it to start afresh`
    throw new PostgresProblem(`The PostgreSQL data folder ${folder} belongs to another user (uid ${found.uid}); ${cure}.`)
  }
  if ((await readdir(folder)).length === 0) return undefined

  const theirs = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(unlessAbsent))?.trim()
  if (theirs === undefined || !/^\d+(\.\d+)?$/.test(theirs)) {
    const cure = 'move it away or delete it to start afresh'
    throw new PostgresProblem(`The folder ${folder} is not a PostgreSQL data folder (it has no sound PG_VERSION); ${cure}.`)
  }
  const ours = version.split('.')[0]
  if (theirs !== ours) {
    const cure = `dump it with PostgreSQL ${theirs}, or move it away or delete it to start afresh`
    throw new PostgresProblem(`The data in ${folder} are of PostgreSQL ${theirs}, but this is PostgreSQL ${ours}; ${cure}.`)
  }
  return { uid: found.uid, gid: found.gid }
}

type Making = { folder: string; binaries: Binaries; account: Account }

/** A new data folder, which is there as a whole or not at all. The caller's lock makes every leftover an abandoned one. */
export async function createData(making: Making, template?: string): Promise<void> {
  await removeLeftovers(making.folder, 0)
  if (!template) return makeWhole(making.folder, (fresh) => initialise(making, fresh))
  await createTemplate({ ...making, folder: template })
  await makeWhole(making.folder, async (fresh) => {
    await copy(template, fresh)
    await handOver(fresh, making.account)
  })
}

/** Nobody holds a lock here: who comes second finds the folder taken, and takes it. */
async function createTemplate(making: Making): Promise<void> {
  if (await inspectData(making.folder, making.binaries.version)) return
  await removeLeftovers(making.folder, 10 * 60_000)
  await makeWhole(making.folder, (fresh) => initialise(making, fresh)).catch((error) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}

async function initialise({ folder, binaries, account }: Making, fresh: string): Promise<void> {
  await handOver(fresh, account)
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '-E', 'UTF8']
  const access = ['-A', 'trust', '-U', 'tollgate']
  const { code, output } = await runAs(account, binaries.initdb, ['-D', fresh, '--no-sync', ...access, ...locale])
  if (code !== 0) throw failure(`PostgreSQL could not make its data folder ${folder}`, output)
}

// Five times as fast as fs.cp for a thousand small files, keeps modes where fs.cpSync does not, and clones where the disk can.
async function copy(from: string, to: string): Promise<void> {
  const { code, output } = await runAs(ourselves, 'cp', ['-a', `${from}/.`, to])
  if (code !== 0) throw failure(`The data template ${from} could not be copied to ${to}`, output)
}

async function makeWhole(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const fresh = await mkdtemp(`${folder}.new-`)
  try {
    await fill(fresh)
    await chmod(fresh, 0o700)
    await rename(fresh, folder)
  } catch (error) {
    await remove(fresh)
    throw error
  }
}

async function removeLeftovers(folder: string, age: number): Promise<void> {
  const parent = dirname(folder)
  const entries = (await readdir(parent).catch(unlessAbsent)) ?? []
  for (const entry of entries.filter((name) => name.startsWith(`${basename(folder)}.new-`))) {
    const found = await stat(join(parent, entry)).catch(unlessAbsent)
    if (found && found.mtimeMs <= Date.now() - age) await remove(join(parent, entry))
  }
}

// The retries are for an initdb that outlived its killed parent and still writes.
function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
