import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bill, billOf, type Lock } from './sbom.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
const programs = ['identity', 'payments', 'tollgate']
const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'tollgate-sbom-'))
let printed: string

beforeAll(async () => {
  await run(process.execPath, [join(root, 'tools/build.ts'), folder])
  printed = (await run(process.execPath, [join(root, 'tools/sbom.ts'), folder])).stdout
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const textOf = (program: string) => readFileSync(join(folder, `${program}.cdx.json`), 'utf8')
const read = (program: string): Bill => JSON.parse(textOf(program))
const nameOf = ({ group, name }: { group?: string; name: string }) => (group === undefined ? name : `${group}/${name}`)

describe.each(programs)('the bill of %s', (program) => {
  test('has the form that CycloneDX asks for', () => {
    const { bomFormat, specVersion, version, metadata, components, dependencies } = read(program)
    expect([bomFormat, specVersion, version]).toEqual(['CycloneDX', '1.6', 1])
    expect(metadata.component).toEqual(
      expect.objectContaining({ type: 'application', name: program, version: expect.any(String) }),
    )
    expect(components.length).toBeGreaterThan(20)
    for (const component of components) {
      const { type, 'bom-ref': ref, name, version, purl, hashes = [], licenses = [] } = component
      expect([type, ref === purl, name !== '', /^\d+\.\d+\.\d+/.test(version)]).toEqual(['library', true, true, true])
      expect(purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d[\w.+-]*$/)
      expect([nameOf(component), hashes.length, licenses.length]).toEqual([nameOf(component), 1, 1])
      for (const { alg, content } of hashes) expect([alg, content]).toEqual(['SHA-512', expect.stringMatching(/^[0-9a-f]{128}$/)])
    }
    const refs = [metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])]
    expect(new Set(refs).size).toBe(refs.length)
    expect(dependencies.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted())
    for (const { dependsOn } of dependencies) for (const each of dependsOn) expect(refs).toContain(each)
  })

  test('has every package that a bundle has code of, as it is locked', () => {
    const { sources } = JSON.parse(readFileSync(join(folder, `${program}.mjs.map`), 'utf8')) as { sources: string[] }
    const bundled = sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [])
    const billed = new Map(read(program).components.map((each) => [nameOf(each), each.version]))
    expect([...new Set(bundled)].filter((name) => !billed.has(name))).toEqual([])
    for (const name of ['pg', 'undici', 'pino', 'typebox'])
      expect(billed.get(name)).toBe(lock.packages[`node_modules/${name}`]?.version)
  })

  test('has nothing that is only there to build, to test or to develop', () => {
    const { components } = read(program)
    const development = Object.entries(lock.packages)
      .filter(([, { dev }]) => dev)
      .map(([place, { version }]) => `${place.replace(/^.*node_modules\//, '')}@${version}`)
    expect(development.length).toBeGreaterThan(50)
    expect(components.map((each) => `${nameOf(each)}@${each.version}`).filter((each) => development.includes(each))).toEqual([])
    const names = components.map(nameOf)
    for (const tool of ['vitest', 'typescript', 'esbuild', 'playwright-core', 'oidc-provider', '@biomejs/biome', 'fast-check'])
      expect(names).not.toContain(tool)
  })
})

test('native code that hashes passwords is in the bills of those who carry it', () => {
  const addons = (program: string) =>
    read(program)
      .components.map(nameOf)
      .filter((name) => name.startsWith('@node-rs/'))
  expect(programs.map((program) => addons(program).length)).toEqual([2, 0, 2])
  for (const name of addons('identity')) expect(name).toContain(`${process.platform}-${process.arch}`)
})

test('it says what it wrote, and writes the same again', async () => {
  expect(printed).toMatch(
    /^identity\.cdx\.json \d+ packages\npayments\.cdx\.json \d+ packages\ntollgate\.cdx\.json \d+ packages\n$/,
  )
  const before = programs.map(textOf)
  await run(process.execPath, [join(root, 'tools/sbom.ts'), folder])
  expect(programs.map(textOf)).toEqual(before)
})

test('without bundles it says what to do', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'tollgate-sbom-'))
  await expect(run(process.execPath, [join(root, 'tools/sbom.ts'), empty])).rejects.toThrow(/run npm run build/)
  rmSync(empty, { recursive: true })
})

test('a package inside of another is the one that is there, and one that nobody locked is a mistake', () => {
  const packages = {
    'node_modules/a': { version: '1.0.0', license: '(MIT OR Apache-2.0)', dependencies: { b: '2' } },
    'node_modules/a/node_modules/b': { version: '2.0.0', license: 'MIT' },
    'node_modules/b': { version: '1.0.0', license: 'MIT' },
  }
  const sources = ['../node_modules/a/index.js', '../node_modules/a/node_modules/b/index.js', '../packages/kit/src/db.ts']
  const given = { sources, lock: { packages }, platform: 'linux-x64', version: '1' }
  const { components, dependencies } = billOf('x', given)
  expect(components.map(({ purl }) => purl)).toEqual(['pkg:npm/a@1.0.0', 'pkg:npm/b@2.0.0'])
  expect(components[0]?.licenses).toEqual([{ expression: '(MIT OR Apache-2.0)' }])
  expect(dependencies[1]).toEqual({ ref: 'pkg:npm/a@1.0.0', dependsOn: ['pkg:npm/b@2.0.0'] })
  expect(() => billOf('x', { ...given, sources: ['../node_modules/c/x.js'] })).toThrow('is in the bundle, but not in')
})
