import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** What a stage of a Containerfile says. */
export type Image = { copied: readonly string[]; folder: string; user: string; entry: readonly string[] }

export type Unpacked = {
  /** Starts a program in a container of this image; without words, what the image starts. */
  start(words: readonly string[], env: Readonly<Record<string, string>>): ChildProcessWithoutNullStreams
  remove(): void
}

/**
 * Rules of the system that a container runs by, of which no more is needed than this: a root that has nothing in it but the system's own
 * programs, Node and what was copied, nothing that can be written to but /tmp, and a user who is nobody and cannot become anybody else.
 */
const contain = `
  set -e
  mount --make-rprivate /
  mount -t tmpfs -o mode=755 tmpfs "$ROOT"
  cd "$ROOT"
  mkdir -p usr etc proc dev tmp node ".$FOLDER"
  for each in bin sbin lib lib64; do
    if [ -L "/$each" ]; then cp -P "/$each" .; elif [ -d "/$each" ]; then mkdir "$each"; mount --bind "/$each" "$each"; mount -o remount,ro,bind "$each"; fi
  done
  for each in usr etc; do mount --bind "/$each" "$each"; mount -o remount,ro,bind "$each"; done
  for each in proc dev; do mount --rbind "/$each" "$each"; done
  touch node/node
  mount --bind "$NODE" node/node
  cp -R "$FILES/." ".$FOLDER"
  chown -R 0:0 ".$FOLDER"
  mount -t tmpfs -o "$TMP" tmpfs tmp
  mount -o remount,ro "$ROOT"
  exec env -i "PATH=/node:/usr/sbin:/usr/bin" setpriv --no-new-privs chroot --userspec="$WHO" --groups= "$ROOT" env -C "$FOLDER" "$@"
`

/** Whether this machine lets us, and has what it takes. */
export function canContain(): boolean {
  if (process.getuid?.() !== 0) return false
  const tools = spawnSync('unshare', ['--mount', 'sh', '-c', 'mount --make-rprivate / && setpriv --version && chroot --version'])
  return tools.status === 0
}

/** Puts together what `docker build` would: the files that are copied, and no other, out of what the build has made. */
export function unpack(image: Image, { built, tmpfs }: { built: string; tmpfs: string }): Unpacked {
  const place = mkdtempSync(join(tmpdir(), 'tollgate-image-'))
  const [root, files] = [join(place, 'root'), join(place, 'files')]
  for (const folder of [root, files]) mkdirSync(folder)
  chmodSync(place, 0o755)
  for (const file of image.copied) {
    if (dirname(file) !== 'dist') throw new Error(`${file} is not what the build makes`)
    copyFileSync(join(built, basename(file)), join(files, basename(file)))
  }
  const settings = {
    ...{ ROOT: root, FILES: files, NODE: process.execPath, FOLDER: image.folder, WHO: image.user, TMP: tmpfs },
    PATH: process.env.PATH ?? '',
  }
  return {
    start(words, env) {
      const own = Object.entries(env).map(([name, value]) => `${name}=${value}`)
      const inside = ['/usr/bin/env', ...own, ...(words.length > 0 ? words : image.entry)]
      return spawn('unshare', ['--mount', 'sh', '-c', contain, 'sh', ...inside], { env: settings })
    },
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
}

/** Who a process is: its user, and what it may do beyond that. */
export function standingOf(pid: number): Record<'Uid' | 'Gid' | 'Groups' | 'CapEff' | 'CapPrm' | 'NoNewPrivs', string> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n')
  const of = (name: string) =>
    lines
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? ''
  return {
    ...{ Uid: of('Uid'), Gid: of('Gid'), Groups: of('Groups') },
    ...{ CapEff: of('CapEff'), CapPrm: of('CapPrm'), NoNewPrivs: of('NoNewPrivs') },
  }
}
