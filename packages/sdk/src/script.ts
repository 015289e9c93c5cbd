import { join } from 'node:path'

/** What pages load. A bundle carries the text; from source it is made when it is first asked for. */
export async function sdkScript(): Promise<string> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'on-page.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2019',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}
