import { type Html, html } from '@tollgate/kit/html'

/** A link found in a message. Whoever wrote the message learns nothing of this page and gets no hold of it. */
export function outside(link: string, content: Html, { style, id }: { style: string; id?: string }): Html {
  const named = id !== undefined && html` id="${id}"`
  return html`<a${named} class="${style}" href="${new URL(link).href}" target="_blank" rel="noopener noreferrer">${content}</a>`
}
