import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { checkFloors, readImports } from './floors.ts'

const root = join(import.meta.dirname, '..')

type Check = { name: string; run(): Promise<string> }

/** Runs a program and gives what it printed if it failed. */
function program(...words: [string, ...string[]]): () => Promise<string> {
  const [command, ...rest] = words
  return () =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(root, 'node_modules', command), ...rest], {
        cwd: root,
        env: { ...process.env, NO_COLOR: '1' },
      })
      let output = ''
      child.stdout.on('data', (chunk) => (output += chunk))
      child.stderr.on('data', (chunk) => (output += chunk))
      child.on('close', (code) => resolve(code === 0 ? '' : output || `ended with ${code}`))
    })
}

async function floors(): Promise<string> {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(Boolean)
  return checkFloors(readImports(root, files)).join('\n')
}

const checks: Check[] = [
  { name: 'types', run: program('typescript/bin/tsc', '-p', '.') },
  { name: 'format and lint', run: program('@biomejs/biome/bin/biome', 'check', '--error-on-warnings') },
  { name: 'floors', run: floors },
  { name: 'dead code', run: program('knip/bin/knip.js', '--no-progress') },
  { name: 'generated documents', run: program('../tools/docs.ts', '--check') },
]

const outcomes = await Promise.all(
  checks.map(async ({ name, run }) => {
    const started = performance.now()
    const complaint = await run()
    console.log(`${complaint === '' ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
    return { name, complaint }
  }),
)
const failed = outcomes.filter(({ complaint }) => complaint !== '')
for (const { name, complaint } of failed) console.error(`\n${name}:\n${complaint.trimEnd()}`)
process.exit(failed.length > 0 ? 1 : 0)
