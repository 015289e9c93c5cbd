import { describe, expect, test } from 'vitest'
import { auditLock, type Given, readAdvisories, readHouse } from './audit.ts'

const house = readHouse()

test('what we depend on is exact, hashed, free, runs nothing when installed, and is there once where it matters', () => {
  expect(Object.keys(house.packages).length).toBeGreaterThan(300)
  expect(Object.keys(house.manifests)).toEqual(expect.arrayContaining(['', 'packages/identity', 'packages/payments']))
  expect(auditLock(house)).toEqual([])
})

describe('it would be noticed', () => {
  const pg = house.packages['node_modules/pg'] ?? {}
  const withPackage = (place: string, more: object): Given => ({
    ...house,
    packages: { ...house.packages, [place]: { ...pg, ...more } },
  })
  const withDependency = (version: string): Given => ({
    ...house,
    manifests: { ...house.manifests, 'packages/kit': { dependencies: { pg: version } } },
  })
  const { integrity: _, ...bare } = pg

  test.each<[string, Given, string]>([
    [
      'that a version is a range',
      withDependency('^8.0.0'),
      'packages/kit/package.json asks for pg ^8.0.0, which is no exact version',
    ],
    [
      'that a version comes from elsewhere',
      withDependency('github:x/pg'),
      'packages/kit/package.json asks for pg github:x/pg, which is no exact version',
    ],
    [
      'that another version is locked',
      withDependency('1.0.0'),
      `packages/kit/package.json asks for pg 1.0.0, but ${pg.version} is locked`,
    ],
    [
      'that a hash is missing',
      { ...house, packages: { ...house.packages, 'node_modules/pg': bare } },
      `pg ${pg.version} is locked without its SHA-512`,
    ],
    [
      'that a hash is a weak one',
      withPackage('node_modules/pg', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }),
      `pg ${pg.version} is locked without its SHA-512`,
    ],
    [
      'that a package is an address',
      withPackage('node_modules/pg', { resolved: 'git+ssh://git@evil.test/pg.git' }),
      `pg ${pg.version} is locked to an address, git+ssh://git@evil.test/pg.git, instead of to the registry of whoever installs`,
    ],
    [
      'that a package runs something when it is installed',
      withPackage('node_modules/pg', { hasInstallScript: true }),
      `pg ${pg.version} wants to run a program when it is installed`,
    ],
    [
      'that a licence asks for more',
      withPackage('node_modules/pg', { license: 'MIT AND GPL-3.0-only' }),
      `pg ${pg.version} is licensed MIT AND GPL-3.0-only, which is not among MIT, MIT-0, Apache-2.0, ISC, 0BSD, BSD-2-Clause, BSD-3-Clause`,
    ],
    [
      'that what is shipped has a licence for tools',
      withPackage('node_modules/pg', { license: 'MPL-2.0' }),
      `pg ${pg.version} is licensed MPL-2.0, which is not among MIT, MIT-0, Apache-2.0, ISC, 0BSD, BSD-2-Clause, BSD-3-Clause`,
    ],
    [
      'that a licence is missing',
      withPackage('node_modules/pg', { license: undefined }),
      `pg ${pg.version} is licensed by nobody knows what, which is not among MIT, MIT-0, Apache-2.0, ISC, 0BSD, BSD-2-Clause, BSD-3-Clause`,
    ],
    [
      'that there is a second version',
      withPackage('node_modules/x/node_modules/pg', { version: '1.0.0' }),
      `pg is there in 2 versions: ${pg.version}, 1.0.0`,
    ],
    ['that installing runs scripts', { ...house, installer: "['ci']" }, 'tools/run.mjs installs without --ignore-scripts'],
  ])('%s', (_, given, complaint) => {
    expect(auditLock(given)).toEqual([complaint])
  })
})

test.each([
  ['one of two licences', 'MIT or MPL-2.0'],
  ['one of two in brackets', '(GPL-2.0 OR MIT)'],
  ['both of two', 'MIT AND ISC'],
])('%s is enough', (_, license) => {
  const packages = { ...house.packages, 'node_modules/pg': { ...house.packages['node_modules/pg'], license } }
  expect(auditLock({ ...house, packages })).toEqual([])
})

describe('what npm says of known holes', () => {
  test('is told by package', () => {
    const vulnerabilities = { pg: { name: 'pg', severity: 'high', range: '<9', via: [], effects: [] } }
    const text = JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { vulnerabilities: { total: 1 } } })
    expect(readAdvisories(text)).toEqual([{ name: 'pg', severity: 'high', range: '<9' }])
    expect(readAdvisories(JSON.stringify({ vulnerabilities: {}, metadata: {} }))).toEqual([])
  })

  test.each([
    ['nothing', '', 'npm could not ask'],
    ['no JSON', 'npm error', 'npm could not ask'],
    [
      'an error',
      '{"message":"405 Method Not Allowed - POST https://registry.test/-/npm","statusCode":405}',
      '405 Method Not Allowed - POST',
    ],
    ['an error without a word', '{"error":{}}', 'npm could not ask'],
  ])('is not taken for "none" when it is %s', (_, text, silent) => {
    expect(readAdvisories(text)).toEqual({ silent })
  })
})
