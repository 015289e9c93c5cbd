/** Text that is HTML already. Whatever else is put into a template is escaped. */
export type Html = { readonly markup: string }

type Part = Html | string | number | undefined | false | readonly Part[]

export function html(template: TemplateStringsArray, ...parts: Part[]): Html {
  return { markup: template.reduce((before, text, index) => before + write(parts[index - 1]) + text) }
}

function write(part: Part): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part))
  return 'markup' in part ? part.markup : part.map(write).join('')
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Data for a script, in a block that browsers do not run. Nothing in it can end the block. */
export function dataBlock(id: string, data: unknown): Html {
  const text = JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return { markup: `<script type="application/json" id="${escapeText(id)}">${text}</script>` }
}
