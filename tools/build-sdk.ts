import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const source = join(root, 'packages', 'sdk')

// Where to: `dist/sdk` unless another folder is named.
const folder = process.argv[2] ?? join(root, 'dist', 'sdk')

/** The popup's script as a package that can be published: npm publish dist/sdk. */
mkdirSync(folder, { recursive: true })
await writeProgram('esm', 'paylike.js')
await writeProgram('cjs', 'paylike.cjs')
writeTypes()
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
copyFileSync(join(source, 'README.md'), join(folder, 'README.md'))
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
console.log(`${folder}: ${readdirSync(folder).join(', ')}`)

async function writeProgram(format: 'esm' | 'cjs', file: string): Promise<void> {
  const entryPoints = [join(source, 'src', 'paylike.ts')]
  await build({ entryPoints, outfile: join(folder, file), bundle: true, format, target: 'es2019', logLevel: 'warning' })
}

/** For both kinds of modules, which name their files differently. */
function writeTypes(): void {
  const making = mkdtempSync(join(tmpdir(), 'tollgate-sdk-'))
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const words = ['--ignoreConfig', '--declaration', '--emitDeclarationOnly', '--allowImportingTsExtensions', '--strict']
  const target = ['--module', 'nodenext', '--target', 'es2019', '--lib', 'es2019,dom', '--types', '', '--outDir', making]
  try {
    execFileSync(process.execPath, [compiler, ...words, ...target, join(source, 'src', 'paylike.ts')], { stdio: 'inherit' })
    for (const file of readdirSync(making)) {
      const text = readFileSync(join(making, file), 'utf8')
      writeFileSync(join(folder, file), text.replaceAll(/(from '\.\/\w+)\.ts'/g, "$1.js'"))
      writeFileSync(join(folder, file.replace(/\.ts$/, '.cts')), text.replaceAll(/(from '\.\/\w+)\.ts'/g, "$1.cjs'"))
    }
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

function manifest(): object {
  const { name, version, description, license } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    main: './paylike.cjs',
    module: './paylike.js',
    types: './paylike.d.ts',
    exports: {
      '.': {
        import: { types: './paylike.d.ts', default: './paylike.js' },
        require: { types: './paylike.d.cts', default: './paylike.cjs' },
      },
    },
  }
}
