import { type Html, html } from '@tollgate/kit/html'
import type { Facts } from './facts.ts'
import { copyable } from './frame.ts'
import type { Message } from './inbox.ts'
import { outside } from './outside.ts'
import { moment, momentToday } from './time.ts'

export function inboxPage(messages: readonly Message[], { smtp }: Facts): Html {
  // The script compares this with what the server tells, to know whether the page is behind.
  return html`<div id="messages" data-standing="${messages.length} ${messages[0]?.id}">
<div class="bar">
<div><h1>Inbox</h1><p class="quiet">What the services send arrives here at once and goes no further.</p></div>
${messages.length > 0 && html`<form method="post" action="/inbox/clear"><button id="clear">Clear the inbox</button></form>`}
</div>
${messages.length > 0 ? html`<ol class="messages">${messages.map(row)}</ol>` : empty(smtp)}
</div>`
}

function row(message: Message): Html {
  const { id, to, subject, text, receivedAt, links } = message
  const [link] = links
  return html`<li id="row-${id}"><a id="message-${id}" href="/inbox/${id}">
<span class="to"><span class="spoken">To </span><bdi>${to.join(', ')}</bdi></span>
<span class="about"><span class="subject"><bdi>${titleOf(message)}</bdi></span>
<span class="start"><bdi>${startOf(text)}</bdi></span></span>
<time datetime="${receivedAt.toISOString()}" title="${moment(receivedAt)}">${momentToday(receivedAt)}</time>
</a>${link && outside(link, html`Open link<span class="spoken"> of ${subject}</span> ↗`, 'button')}</li>`
}

export function titleOf({ subject }: Message): string {
  return subject.trim() || 'Without a subject'
}

function startOf(text: string): string {
  return text.slice(0, 400).replaceAll(/\s+/g, ' ').trim().slice(0, 160)
}

function empty({ host, port }: Facts['smtp']): Html {
  const command = [
    `printf 'Subject: Hello\\n\\nIt works.\\n' |`,
    '  curl --crlf --upload-file - --mail-from me@example.com \\',
    `  --mail-rcpt you@example.com smtp://${host}:${port}`,
  ].join('\n')
  return html`<div class="empty">
<h2>Nothing has arrived yet</h2>
<p class="quiet">Messages show up here by themselves. Programs of yours can send by SMTP to <code>${host}:${port}</code>,
without TLS, with any credentials or none; or try it by hand:</p>
${copyable(command, 'the command', html`<pre>${command}</pre>`)}
</div>`
}
