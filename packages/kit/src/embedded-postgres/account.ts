import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { lchown, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PostgresProblem } from './problem.ts'

export type Owner = { uid: number; gid: number }

/** As whom the server runs. PostgreSQL refuses root, so root needs another account; everybody else uses their own. */
export type Account = {
  /** Who must own the data; absent where that is this process anyway. */
  owner?: Owner
  /** Whom to become before the program starts. */
  become?: Owner
  /** A command in front of the program that does what `become` cannot. */
  prefix: string[]
}

// 65534 is `nobody`; initdb insists on an account that has a name.
const nobody: Owner = { uid: 65534, gid: 65534 }
const root: Owner = { uid: 0, gid: 0 }

export const ourselves: Account = { prefix: [] }

/** The safest for root, but `owner` must be able to walk down to the programs and the data. */
function as(owner: Owner): Account {
  return { owner, become: owner, prefix: [] }
}

/** Still root to the file system, and so at home under a 0700 /root, but not to PostgreSQL. Containers often forbid it. */
const renamedRoot: Account = { owner: root, prefix: ['unshare', '--user', `--map-user=${nobody.uid}`, '--'] }

/** Another account with root's way through closed folders; without the secure bit access(2) would ignore that capability. */
function withKeys(owner: Owner): Account {
  const identity = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--securebits=+no_setuid_fixup']
  return { owner, prefix: ['setpriv', ...identity, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--'] }
}

/**
 * The first account that can run the program and walk down to the places, found out by trying.
 * Data that belong to an ordinary user stay theirs when root starts the server, so that both can go on using them.
 */
export async function chooseAccount(program: string, places: string[], owner: Owner | undefined): Promise<Account> {
  const complaints: string[] = []
  for (const account of candidates(owner)) {
    const complaint = await trial(account, program, places)
    if (complaint === undefined) return account
    if (complaint !== '') complaints.push(complaint)
  }
  const because = complaints.length > 0 ? ` (${complaints.join('; ')})` : ''
  if (process.getuid?.() !== 0) throw new PostgresProblem(`The PostgreSQL program ${program} does not run here${because}.`)
  const wanted = `no other account can use ${[program, ...places].join(', ')}`
  throw new PostgresProblem(`PostgreSQL does not run as root, and ${wanted}${because}; start as an ordinary user instead.`)
}

function candidates(owner: Owner | undefined): Account[] {
  if (process.getuid?.() !== 0) return [ourselves]
  if (owner && owner.uid !== root.uid && owner.uid !== nobody.uid) return [as(owner), withKeys(owner)]
  return process.platform === 'linux' ? [as(nobody), renamedRoot, withKeys(nobody)] : []
}

async function trial(account: Account, program: string, places: string[]): Promise<string | undefined> {
  const script = 'program=$1; shift; for place; do cd "$place" || exit 1; done; exec "$program" --version'
  const { code, output } = await runAs(account, '/bin/sh', ['-c', script, 'sh', program, ...places])
  return code === 0 ? undefined : output.trim().split('\n').at(-1)
}

export function spawnAs(account: Account, program: string, args: string[], options: SpawnOptions): ChildProcess {
  const [command = program, ...rest] = [...account.prefix, program, ...args]
  // A bare environment: ours has the services' secrets, and PG* variables that would change the server.
  const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' }
  return spawn(command, rest, { ...options, ...account.become, cwd: '/', env })
}

export function runAs(account: Account, program: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawnAs(account, program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ code: null, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

/** Gives a folder to its account; the folder itself comes last, so that an interrupted handover is seen and done again. */
export async function handOver(folder: string, { owner }: Account): Promise<void> {
  if (!owner || (await stat(folder)).uid === owner.uid) return
  const entries = await readdir(folder, { recursive: true })
  await Promise.all(entries.map((entry) => lchown(join(folder, entry), owner.uid, owner.gid)))
  await lchown(folder, owner.uid, owner.gid)
}
