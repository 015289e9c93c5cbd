import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..')

type Locked = { version?: string; license?: string; integrity?: string; dev?: boolean; link?: boolean; dependencies?: Names }
type Names = Readonly<Record<string, string>>
export type Lock = { packages: Readonly<Record<string, Locked>> }

type Component = {
  type: 'library' | 'application'
  'bom-ref': string
  name: string
  group?: string
  version: string
  purl: string
  licenses?: { license: { id: string } }[] | { expression: string }[]
  hashes?: { alg: 'SHA-512' | 'SHA-1'; content: string }[]
}

export type Bill = {
  bomFormat: 'CycloneDX'
  specVersion: '1.6'
  version: 1
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** The file that a bundle carries native code in; what that is stands in tools/build.ts. */
const carrier = 'passwords/carried-addons.ts'
const carried = ['@node-rs/argon2', '@node-rs/bcrypt']

/**
 * What is in a bundle, from the sources that its map names: the packages whose code is there, and not those that only helped to make it. The same
 * bundle and the same lock give the same bill, to the letter: it has neither a date nor a number of its own.
 */
export function billOf(
  program: string,
  given: { sources: readonly string[]; lock: Lock; platform: string; version: string },
): Bill {
  const { sources, lock, platform, version } = given
  const places = new Set(sources.flatMap((source) => placeOf(source, lock)))
  if (sources.some((source) => source.endsWith(carrier))) for (const place of addonsFor(platform, lock)) places.add(place)
  const found = [...places].toSorted().map((place) => ({ place, component: componentOf(place, lock) }))
  const own = ownComponent(program, version)
  const refs = new Map(found.map(({ place, component }) => [place, component['bom-ref']]))
  const needed = found.map(({ place, component }) => ({
    ref: component['bom-ref'],
    dependsOn: Object.keys(lock.packages[place]?.dependencies ?? {})
      .flatMap((name) => refs.get(nearest(place, name, lock)) ?? [])
      .toSorted(),
  }))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: own },
    components: found.map(({ component }) => component),
    dependencies: [{ ref: own['bom-ref'], dependsOn: [...refs.values()].toSorted() }, ...needed],
  }
}

/** `../node_modules/pg/lib/client.js` → `node_modules/pg`, which is how the lock calls it. Our own sources are in no package of anybody's. */
function placeOf(source: string, lock: Lock): string[] {
  const [place] = /node_modules\/.*node_modules\/(?:@[^/]+\/)?[^/]+|node_modules\/(?:@[^/]+\/)?[^/]+/.exec(source) ?? []
  if (place === undefined) return []
  if (!lock.packages[place]) throw new Error(`${source} is in the bundle, but not in package-lock.json`)
  return [place]
}

function addonsFor(platform: string, lock: Lock): string[] {
  return carried.map((name) => {
    const place = Object.keys(lock.packages).find((each) => each.startsWith(`node_modules/${name}-${platform}`))
    if (place === undefined) throw new Error(`${name} has nothing for ${platform} in package-lock.json`)
    return place
  })
}

/** Where Node finds a package that another one asks for: inside of it, beside it, or further up. */
function nearest(from: string, name: string, { packages }: Lock): string {
  for (let within = from; within !== ''; within = within.slice(0, Math.max(0, within.lastIndexOf('/node_modules/')))) {
    const place = `${within}/node_modules/${name}`
    if (packages[place]) return place
  }
  return `node_modules/${name}`
}

function componentOf(place: string, { packages }: Lock): Component {
  const { version = '', license, integrity } = packages[place] ?? {}
  const full = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const [name = full, group] = full.split('/').toReversed()
  const purl = `pkg:npm/${full.replace('@', '%40')}@${version}`
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    ...{ name, version, purl },
    ...(license === undefined ? {} : { licenses: licensesOf(license) }),
    ...(integrity === undefined ? {} : { hashes: hashesOf(integrity) }),
  }
}

/** One of the list of SPDX, or several of them with words between. */
function licensesOf(license: string): NonNullable<Component['licenses']> {
  return /[ ()]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }]
}

function hashesOf(integrity: string): NonNullable<Component['hashes']> {
  return integrity.split(' ').flatMap((each) => {
    const [kind, text = ''] = each.split(/-(.*)/s)
    const alg = kind === 'sha512' ? 'SHA-512' : kind === 'sha1' ? 'SHA-1' : undefined
    return alg ? [{ alg, content: Buffer.from(text, 'base64').toString('hex') } as const] : []
  })
}

function ownComponent(program: string, version: string): Component {
  const purl = `pkg:generic/tollgate-${program}@${version}`
  return { type: 'application', 'bom-ref': purl, name: program, version, purl, licenses: [{ license: { id: 'Apache-2.0' } }] }
}

/** Writes `identity.cdx.json` beside `identity.mjs`, and so on. */
function writeBills(folder: string): string[] {
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { version } = JSON.parse(readFileSync(join(root, 'packages/tollgate/package.json'), 'utf8'))
  const maps = readdirSync(folder).filter((file) => file.endsWith('.mjs.map'))
  if (maps.length === 0) throw new Error(`There are no bundles in ${folder}: run npm run build`)
  return maps.toSorted().map((file) => {
    const program = basename(file, '.mjs.map')
    const { sources } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const bill = billOf(program, { sources, lock, platform: `${process.platform}-${process.arch}`, version })
    writeFileSync(join(folder, `${program}.cdx.json`), `${JSON.stringify(bill, undefined, 2)}\n`)
    return `${program}.cdx.json ${bill.components.length} packages`
  })
}

// Where the bundles are: `dist` unless another folder is named.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const line of writeBills(process.argv[2] ?? join(root, 'dist'))) console.log(line)
