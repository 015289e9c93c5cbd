import { type Html, html } from '@tollgate/kit/html'
import type { Facts } from './facts.ts'
import { codeToCopy, copyable } from './frame.ts'
import type { Mail, Message, Sms } from './inbox.ts'
import { outside } from './outside.ts'
import { moment, momentToday } from './time.ts'

export function inboxPage(messages: readonly Message[], facts: Facts): Html {
  // The script compares this with what the server tells, to know whether the page is behind.
  return html`<div id="messages" data-standing="${messages.length} ${messages[0]?.id}">
<div class="bar">
<div><h1>Inbox</h1><p class="quiet">Mail and SMS of the services arrive here at once and go no further.</p></div>
${messages.length > 0 && html`<form method="post" action="/inbox/clear"><button id="clear">Clear the inbox</button></form>`}
</div>
${messages.length > 0 ? html`<ol class="messages">${messages.map(row)}</ol>` : empty(facts)}
</div>`
}

function row(message: Message): Html {
  const { id, kind, receivedAt, links, code } = message
  const [link] = links
  const name = html`Open link<span class="spoken"> of ${titleOf(message)}</span> &nearr;`
  return html`<li id="row-${id}" class="${kind}"><a id="message-${id}" href="/inbox/${id}">
${kind === 'mail' ? mailWords(message) : smsWords(message)}
<time datetime="${receivedAt.toISOString()}" title="${moment(receivedAt)}">${momentToday(receivedAt)}</time>
</a>${code && codeToCopy(code, id)}${link && outside(link, name, { style: 'button', id: `open-${id}` })}</li>`
}

function mailWords(mail: Mail): Html {
  return html`<span class="to"><span class="spoken">To </span><bdi>${mail.to.join(', ')}</bdi></span>
<span class="about"><span class="subject"><bdi>${titleOf(mail)}</bdi></span>
<span class="start"><bdi>${startOf(mail.text)}</bdi></span></span>`
}

function smsWords({ to, text }: Sms): Html {
  return html`<span class="to"><span class="kind">SMS</span> <span class="spoken">to </span><bdi>${to.join(', ')}</bdi></span>
<span class="about"><span class="bubble"><bdi>${startOf(text, 400)}</bdi></span></span>`
}

export function titleOf(message: Message): string {
  if (message.kind === 'sms') return `SMS to ${message.to.join(', ')}`
  return message.subject.trim() || 'Without a subject'
}

export function startOf(text: string, length = 160): string {
  return text.slice(0, 1_000).replaceAll(/\s+/g, ' ').trim().slice(0, length)
}

function empty({ smtp: { host, port }, sms }: Facts): Html {
  const mail = [
    `printf 'Subject: Hello\\n\\nIt works.\\n' |`,
    '  curl --crlf --upload-file - --mail-from me@example.com \\',
    `  --mail-rcpt you@example.com smtp://${host}:${port}`,
  ].join('\n')
  const text = `curl ${sms} -d 'to=4520304050&text=Your code is 123456'`
  return html`<div class="empty">
<h2>Nothing has arrived yet</h2>
<p class="quiet">Messages show up here by themselves. Programs of yours can send mail by SMTP to <code>${host}:${port}</code>,
without TLS, with any credentials or none; or try it by hand:</p>
${copyable(mail, 'the command that sends a mail', html`<pre>${mail}</pre>`)}
<p class="quiet">An SMS is a form with the number and the text:</p>
${copyable(text, 'the command that sends an SMS', html`<pre>${text}</pre>`)}
</div>`
}
