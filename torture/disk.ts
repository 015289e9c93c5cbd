import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system that can be filled without harm to anybody else's. */
export type Disk = { folder: string; fill(): void; free(): void }

/** Room for the data of one PostgreSQL and what a run of minutes adds to them. */
const megabytes = 320

/** Where PostgreSQL keeps as little for later as it can. */
export const smallDiskSettings = { max_wal_size: '64MB', min_wal_size: '32MB' }

/** How a process gets a view of the file system to itself, in which it may mount: root by right, others by a name space of their own. */
const ways = process.getuid?.() === 0 ? ['-m'] : ['-U', '-m', '--map-current-user', '--keep-caps']

const script = `mount -t tmpfs -o size=${megabytes}m,mode=0755 tmpfs "$0" && exec "$@"`

/** Tells why there can be no small file system on this machine; undefined where there can. */
function obstacle(folder: string): string | undefined {
  if (process.platform !== 'linux') return 'only Linux lets a program mount something for itself'
  const { status, error, stderr } = spawnSync('unshare', [...ways, 'sh', '-c', script, folder, 'true'], { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim()) || `unshare ended with ${status}`
}

/** Runs a program of Node in which the folder that TORTURE_DISK names is a small file system, gone with it; or tells why that cannot be. */
export async function runWithDisk(words: readonly string[]): Promise<{ code: number } | { obstacle: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'))
  try {
    const problem = obstacle(folder)
    if (problem !== undefined) return { obstacle: problem }
    const env = { ...process.env, TORTURE_DISK: folder }
    const child = spawn('unshare', [...ways, 'sh', '-c', script, folder, process.execPath, ...words], { stdio: 'inherit', env })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
    const [code] = (await once(child, 'exit')) as [number | null]
    return { code: code ?? 1 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The file system that this process was given, if it was. */
export function findDisk(folder = process.env.TORTURE_DISK): Disk | undefined {
  if (folder === undefined) return undefined
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill() {
      const piece = Buffer.alloc(1 << 20)
      const file = openSync(ballast, 'a')
      try {
        for (let size = piece.length; size >= 512; )
          try {
            writeSync(file, piece, 0, size)
          } catch (problem) {
            if ((problem as NodeJS.ErrnoException).code !== 'ENOSPC') throw problem
            size /= 2
          }
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
  }
}
