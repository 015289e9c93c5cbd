import { createHash } from 'node:crypto'
import { Html } from '@tollgate/kit/html'

/** A page and the Content-Security-Policy that goes with it. */
export type FramedPage = { page: string; policy: string }

/**
 * How a page begins that stands in the frame of somebody else's. Some engines do not open it but write its text into a frame: all of it
 * has to be in it. One of them puts statements of its own where the first line ends, which therefore is the beginning of the script; and one
 * writes page after page into the same frame, whose scripts share what they declare at the top, which therefore is nothing.
 */
export function pageHead(language: string, title: string, script: string): Html {
  return new Html(
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title><script>${script}</script>`,
  )
}

/** Values for the page's script, which are themselves never taken for a part of the page. */
export function dataBlock(values: unknown): Html {
  const json = JSON.stringify(values).replaceAll('<', '\\u003c')
  return new Html(`<script type="application/json" id="data">${json}</script>`)
}

/** Nothing but the page's own script and style. Whose page it stands in is not ours to say: shops are everywhere, apps nowhere. */
export function policyOf({ script, style }: { script?: string; style?: string }): string {
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    ...(style === undefined ? [] : [`style-src ${hashOf(style)}`]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
