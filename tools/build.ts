import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { bundle } from '../packages/checkout/src/bundle.ts'
import { sdkScript } from '../packages/sdk/src/script.ts'

const root = join(import.meta.dirname, '..')

/** A bundle has no folder of migrations beside it, so it carries their texts. */
const carryMigrations: Plugin = {
  name: 'carry migrations',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/\w+\/src\/migrations\.ts$/ }, ({ path }) => {
      const folder = join(dirname(path), '..', 'migrations')
      const migrations = readdirSync(folder)
        .sort()
        .map((file) => {
          const [, version, name] = /^(\d{4})_(\w+)\.sql$/.exec(file) ?? []
          return { version, name, sql: readFileSync(join(folder, file), 'utf8') }
        })
      return { contents: `export const migrations = ${JSON.stringify(migrations)}`, loader: 'js', watchDirs: [folder] }
    })
  },
}

/** Nor has it packages beside it: those that hash passwords are compiled for the machine that builds, and go in as they are. */
const carryAddons: Plugin = {
  name: 'carry addons',
  setup({ onLoad }) {
    onLoad({ filter: /passwords\/carried-addons\.ts$/ }, () => {
      const addons = ['@node-rs/argon2', '@node-rs/bcrypt'].map((name) => [name, { platform, content: packedAddon(name) }])
      return { contents: `export const carriedAddons = ${JSON.stringify(Object.fromEntries(addons))}`, loader: 'js' }
    })
  },
}

/** Nor a bundler to make what browsers load: the hosted page, and the script of the popup. */
const carryScripts: Plugin = {
  name: 'carry scripts',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/checkout\/src\/bundle\.ts$/ }, async () => ({
      contents: `export const bundle = async () => (${JSON.stringify(await bundle())})`,
      loader: 'js',
    }))
    onLoad({ filter: /packages\/sdk\/src\/script\.ts$/ }, async () => ({
      contents: `export const sdkScript = async () => ${JSON.stringify(await sdkScript())}`,
      loader: 'js',
    }))
  },
}

/** One letter beyond ASCII anywhere in a program, and all of it is kept at two bytes a letter: 5 MB of memory in every process. */
const wide = /[^\0-\x7f]/

/** Packages have such letters in their comments. */
const plainComments: Plugin = {
  name: 'plain comments',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!wide.test(text)) return undefined
      return {
        contents: text.replace(/(\/\/|^\s*\*).*$/gm, (comment) => comment.replace(new RegExp(wide, 'g'), "'")),
        loader: 'js',
      }
    })
  },
}

const platform = `${process.platform}-${process.arch}`

function packedAddon(name: string): string {
  const [owner = '', own = ''] = name.split('/')
  const packages = join(root, 'node_modules', owner)
  const folder = readdirSync(packages).find((each) => each.startsWith(`${own}-${platform}`))
  if (folder === undefined) throw new Error(`${name} has nothing for ${platform}: run npm install`)
  const file = readdirSync(join(packages, folder)).find((each) => each.endsWith('.node')) ?? ''
  return brotliCompressSync(readFileSync(join(packages, folder, file))).toString('base64')
}

// Where to: `dist` unless another folder is named.
const outdir = process.argv[2] ?? join(root, 'dist')

/** One file a program: `node dist/identity.mjs serve` needs nothing beside it but Node. */
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: {
    tollgate: 'packages/tollgate/src/main.ts',
    identity: 'packages/tollgate/src/identity.ts',
    payments: 'packages/tollgate/src/payments.ts',
  },
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minifySyntax: true,
  sourcemap: 'linked',
  legalComments: 'linked',
  // Packages written for require() find one here.
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
  },
  // Development mode's own provider is found beside the program, like its PostgreSQL: production should not carry it along.
  external: ['pg-native', 'oidc-provider', 'oidc-provider/*'],
  plugins: [carryMigrations, carryAddons, carryScripts, plainComments],
  metafile: true,
  logLevel: 'warning',
})
for (const [file, { bytes }] of Object.entries(metafile.outputs)) {
  if (!file.endsWith('.mjs')) continue
  const line = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .find((each) => wide.test(each))
  if (line !== undefined)
    throw new Error(`${file} has letters beyond ASCII, which an entity or an escape would be without: ${line.trim()}`)
  console.log(`${file} ${(bytes / 1e6).toFixed(2)} MB`)
}
