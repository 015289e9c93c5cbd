import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const consumer = mkdtempSync(join(tmpdir(), 'tollgate-consumer-'))
const installed = join(consumer, 'node_modules', '@tollgate', 'sdk')
const run = promisify(execFile)

/** As npm would install it: packed, and unpacked among the packages of somebody's shop. */
beforeAll(async () => {
  const made = join(consumer, 'made')
  await run(process.execPath, [join(root, 'tools/build-sdk.ts'), made])
  const { stdout } = await run('npm', ['pack', '--json', '--offline', '--pack-destination', consumer, made], { cwd: consumer })
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', join(consumer, JSON.parse(stdout)[0].filename), '-C', installed, '--strip-components=1'])
  writeFileSync(join(consumer, 'package.json'), '{"type":"module"}')
  writeFileSync(join(consumer, 'shop.ts'), shop)
  writeFileSync(join(consumer, 'old.cts'), oldShop)
})

afterAll(() => rmSync(consumer, { recursive: true, force: true }))

const shop = `import { Paylike, type Payment } from '@tollgate/sdk'
const shop = Paylike({ key: 'key', url: 'https://pay.example.com' })
const amount = { currency: 'EUR', exponent: 2, value: 2450 }
const monthly: Payment = { plan: [{ amount, repeat: { interval: { unit: 'month' } } }], fields: ['note'], custom: { order: 7 } }
shop.pay({ amount, test: true, title: 'Fern' }, (err, result) => {
  if (err === 'closed' || err === 'superseded') return
  if (err) throw err
  const id: string | undefined = result?.transaction.id
  document.title = \`Paid \${id}\`
})
export const paid: Promise<string> = shop.pay(monthly).then(({ transaction }) => transaction.id)
`

const oldShop = `import sdk = require('@tollgate/sdk')
sdk.Paylike({ key: 'key', url: 'https://pay.example.com' }).pay({ unplanned: { merchant: true } }, (err) => void err)
`

test('the package has what it takes to be published', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: '@tollgate/sdk', version: expect.any(String), license: 'Apache-2.0', type: 'module' })
  expect(manifest).not.toHaveProperty('private')
  expect(manifest).not.toHaveProperty('dependencies')
  expect(readFileSync(join(installed, 'README.md'), 'utf8')).toContain('import { Paylike }')
  expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toContain('Apache License')
})

async function complaintsOf(...words: string[]): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const always = ['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2020', '--types', '']
  return run(process.execPath, [compiler, ...always, ...words], { cwd: consumer }).then(
    ({ stdout }) => stdout,
    (problem: { stdout: string }) => problem.stdout,
  )
}

test.each([
  ['modules', ['--module', 'nodenext', 'shop.ts', 'old.cts']],
  ['a bundler', ['--module', 'esnext', '--moduleResolution', 'bundler', 'shop.ts']],
])('its types are right for %s, without skipping those of libraries', async (_, words) => {
  expect(await complaintsOf(...words)).toBe('')
})

test.each(['packages/sdk/README.md', 'docs/guides/checkout.md'])('what %s tells to write is right', async (document) => {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, document), 'utf8')) ?? []
  expect(code).toContain("from '@tollgate/sdk'")
  writeFileSync(join(consumer, 'told.ts'), code)
  expect(await complaintsOf('--module', 'nodenext', 'told.ts')).toBe('')
})

test('its types refuse what cannot be right', async () => {
  writeFileSync(
    join(consumer, 'wrong.ts'),
    `import { Paylike } from '@tollgate/sdk'
Paylike({ key: 'key', url: 'https://pay.example.com' }).pay({ amount: 2450 }, (err, result) => void result.transaction)
`,
  )
  const complaints = await complaintsOf('--module', 'nodenext', 'wrong.ts')
  expect(complaints).toContain("Type 'number' is not assignable to type 'Amount'")
  expect(complaints).toContain("'result' is possibly 'undefined'")
})

test('it goes into a bundle for browsers, and runs in Node without touching a page', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(consumer, 'shop.ts')],
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'esm',
  })
  expect(outputFiles[0]?.text).toContain('pos/popup')
  const load = ['--input-type=module', '-e', "const { Paylike } = await import('@tollgate/sdk'); console.log(typeof Paylike)"]
  const require = ['--input-type=commonjs', '-e', "console.log(typeof require('@tollgate/sdk').Paylike)"]
  for (const words of [load, require]) expect((await run(process.execPath, words, { cwd: consumer })).stdout).toBe('function\n')
})
