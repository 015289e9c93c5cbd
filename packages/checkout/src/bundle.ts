import { join } from 'node:path'

/** What runs in the browser, and how it looks: made on the first visit from source. A built program carries the finished texts instead. */
export async function bundle(): Promise<{ script: string; style: string }> {
  const { build } = await import('esbuild')
  const folder = join(import.meta.dirname, 'browser')
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.ts'), join(folder, 'style.css')],
    outdir: folder,
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    // Phones that are some years old still pay.
    target: ['es2021', 'safari15', 'chrome96', 'firefox102'],
    legalComments: 'none',
    logLevel: 'silent',
  })
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? ''
  return { script: textOf('.js'), style: textOf('.css') }
}
