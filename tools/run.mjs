// Sets the project up when that is needed, then runs a program of it: node tools/run.mjs <file> [words…]
// Plain JavaScript that the oldest supported Node reads: it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const [file, ...words] = process.argv.slice(2)

if (!installed()) install()
const child = spawn(nodeOfTheHouse(), [join(root, file), ...words], {
  stdio: 'inherit',
  env: { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile') },
})

// The terminal sends Ctrl-C to the child as well; others, such as a process manager, reach only us. A second signal of the same kind
// does no harm to the child.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))

// npm and the shell between it and us may be killed without passing that on: nobody is left to stop us then, so we stop by ourselves.
const parent = process.ppid
const watch = process.env.npm_lifecycle_event && setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500)

child.on('exit', (code, signal) => {
  clearInterval(watch)
  process.exit(code ?? (signal ? 1 : 0))
})

/** What is in node_modules is what the lockfile says, optional parts for other machines aside. */
function installed() {
  const there = packagesOf(join(root, 'node_modules', '.package-lock.json'))
  const wanted = packagesOf(join(root, 'package-lock.json'))
  return Object.entries(wanted).every(([path, { version, optional, devOptional }]) => {
    return !path.startsWith('node_modules/') || optional || devOptional || there[path]?.version === version
  })
}

function packagesOf(lockfile) {
  return existsSync(lockfile) ? (JSON.parse(readFileSync(lockfile, 'utf8')).packages ?? {}) : {}
}

/** Exactly the lockfile, and no package gets to run a script of its own. */
function install() {
  console.error('Installing packages…')
  const npm = process.env.npm_execpath
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...words], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', words, { cwd: root, stdio: 'inherit' })
  if (status === 0) return
  console.error('The packages could not be installed; npm says why above.')
  process.exit(1)
}

/** The Node that comes as a package, so that an older one on the machine is no obstacle. */
function nodeOfTheHouse() {
  const own = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (existsSync(own)) return own
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  console.error(
    `Tollgate needs Node 24 or newer on this kind of machine (${process.platform} ${process.arch}); this is ${process.version}.`,
  )
  process.exit(1)
}
