import { type Html, html } from '@tollgate/kit/html'
import { codeToCopy, section } from './frame.ts'
import type { Mail, Message } from './inbox.ts'
import { titleOf } from './inbox-page.ts'
import { outside } from './outside.ts'
import { moment } from './time.ts'

/** More than this nobody reads in a page, and it would make the page slow. */
const readable = { characters: 100_000, links: 50 }

export function messagePage(message: Message): Html {
  const { to, receivedAt } = message
  return html`<header>
<a class="back" href="/inbox">&larr; Inbox</a>
<h1><bdi>${titleOf(message)}</bdi></h1>
<dl class="envelope">
${message.kind === 'mail' && html`<dt>From</dt><dd><bdi>${message.from}</bdi></dd>`}
<dt>To</dt><dd><bdi>${to.join(', ')}</bdi></dd>
<dt>Received</dt><dd><time datetime="${receivedAt.toISOString()}">${moment(receivedAt)}</time></dd>
</dl>
</header>
${codeSection(message)}
${linkSection(message)}
${message.kind === 'mail' ? mailSections(message) : section('Message', '', html`<p class="bubble" dir="auto">${message.text.trim()}</p>`)}`
}

function mailSections(mail: Mail): Html {
  return html`${htmlSection(mail)}
${textSection(mail)}
${sourceSection(mail)}`
}

function codeSection({ code, id }: Message): Html | undefined {
  return code === undefined ? undefined : section('Code', '', codeToCopy(code, id))
}

function linkSection({ links }: Message): Html | undefined {
  if (links.length === 0) return undefined
  const rows = links.slice(0, readable.links).map((link, index) => {
    const button = outside(link, html`Open<span class="spoken"> ${link}</span> &nearr;`, {
      style: index === 0 ? 'button primary' : 'button',
    })
    return html`<li>${button}<code>${new URL(link).href}</code></li>`
  })
  const more = links.length - rows.length
  return section('Links', '', html`<ul class="links">${rows}</ul>${more > 0 && html`<p class="quiet">And ${more} more.</p>`}`)
}

function htmlSection({ id, html: content, links }: Mail): Html | undefined {
  if (content === undefined) return undefined
  const instead = links.length > 0 ? '; its links are the buttons above' : ''
  const shown = html`<iframe src="/inbox/${id}/html" title="The message as a mail program shows it" sandbox></iframe>`
  return section('Message', `Without scripts, without anything from elsewhere${instead}.`, shown)
}

function textSection({ text, html: content }: Mail): Html | undefined {
  if (text.trim() === '') return undefined
  const shown = html`<pre class="text" dir="auto">${clip(text.trim())}</pre>`
  return content === undefined ? section('Message', '', shown) : section('Text', 'What a mail program without HTML shows.', shown)
}

function sourceSection({ id, raw }: Mail): Html {
  return section(
    'Source',
    'As it came over the wire.',
    html`<details><summary><span class="toggle"><span class="spoken">Source: </span></span></summary>
<pre class="source">${clip(raw.subarray(0, 2 * readable.characters).toString())}</pre></details>
<p class="quiet">${raw.length} bytes, also <a href="/inbox/${id}/raw">on a page of their own</a></p>`,
  )
}

function clip(text: string): string {
  return text.length > readable.characters ? `${text.slice(0, readable.characters)}…` : text
}
