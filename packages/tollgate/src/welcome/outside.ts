import { type Html, html } from '@tollgate/kit/html'

/** A link found in a message. Whoever wrote the message learns nothing of this page and gets no hold of it. */
export function outside(link: string, content: Html, style: string): Html {
  return html`<a class="${style}" href="${new URL(link).href}" target="_blank" rel="noopener noreferrer">${content}</a>`
}
