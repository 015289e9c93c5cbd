import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const root = join(import.meta.dirname, '..')

const systemBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A real browser: the machine's own, or the one that comes as a package. */
export async function openBrowser(): Promise<Browser> {
  const own = systemBrowsers.find((path) => existsSync(path))
  if (own) return chromium.launch({ executablePath: own, args: quiet })
  const folder = await unpackBrowser()
  const executablePath = join(folder, 'chromium')
  // Made for functions in a cloud, it switches off what these tests look at: several pages, and the rules of the web itself.
  const unwanted = /^--(single-process|no-zygote|disable-web-security|disable-site-isolation|headless)/
  const args = [...sparticuz.args.filter((word) => !unwanted.test(word)), ...quiet]
  return chromium.launch({ executablePath, args, env: surroundings(folder, executablePath) })
}

/**
 * The package unpacks itself into the folder for temporary files, where another user's copy, or half a one, may lie. Here it goes into a
 * folder of its own that appears whole or not at all.
 */
async function unpackBrowser(): Promise<string> {
  const cache = join(root, 'node_modules', '.cache', 'tollgate')
  const manifest = readFileSync(join(root, 'node_modules', '@sparticuz', 'chromium', 'package.json'), 'utf8')
  const folder = join(cache, `chromium-${JSON.parse(manifest).version}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const making = mkdtempSync(join(cache, 'chromium-new-'))
  const unpack = "import chromium from '@sparticuz/chromium'; await chromium.executablePath()"
  // Told that it runs in a cloud, it brings the libraries along that a bare machine lacks.
  const env = { ...process.env, TMPDIR: making, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' }
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', unpack], { cwd: root, env })
  try {
    renameSync(making, folder)
  } catch (problem) {
    rmSync(making, { recursive: true, force: true })
    if (!existsSync(folder)) throw problem
  }
  return folder
}

/** Libraries and fonts come from the package only where the machine has none. */
function surroundings(folder: string, executablePath: string): Record<string, string> {
  const runs = spawnSync(executablePath, ['--version']).status === 0
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
  return {
    ...inherited,
    ...(runs ? {} : { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') }),
    ...(existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') }),
  }
}
