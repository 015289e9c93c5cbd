import { type Files, frame } from './frame.ts'
import { html } from './html.ts'
import type { Words } from './languages/words.ts'

/** What somebody sees whose link leads nowhere, with a sentence that says why. */
export function renderProblem(
  { code, words }: { code: string; words: Words },
  sentence: string | undefined,
  { style, icon, accent }: Files,
): string {
  const content = html`<div class="ground">
<main class="sheet problem">
<svg class="broken" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true"><path d="M20 28l8-8M22 14l3-3a8.5 8.5 0 0 1 12 12l-3 3M26 34l-3 3a8.5 8.5 0 0 1-12-12l3-3"/></svg>
<h1>${words.linkBroken}</h1>
${sentence !== undefined && html`<p>${sentence}</p>`}
<p class="quiet">${words.askTheShop}</p>
</main>
</div>`
  return frame(content, { language: code, title: words.linkBroken, kind: 'link', files: { style, icon, accent } })
}
