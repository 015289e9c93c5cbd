import { type Html, html } from '@tollgate/kit/html'
import type { Facts } from './facts.ts'
import { copyable, section } from './frame.ts'
import type { Health } from './health.ts'
import { mask } from './mask.ts'

export function welcomePage(facts: Facts, health: readonly Health[]): Html {
  return html`<h1>Tollgate is running</h1>
<p class="quiet">Its services, their database and an inbox: all on this machine, all for development.</p>
${section('Services', 'Each one documents itself.', servicesList(facts, health))}
${facts.testSignIn !== undefined && section('Social sign-in', 'With a provider that runs here and needs no registration.', signInAdvice(facts.testSignIn))}
${facts.shop && section('Demo shop', 'Fjord & Fern, whose sales are in the database.', shopAdvice())}
${section('First steps', 'Paste one into a terminal.', stepsList(facts))}
${section('Development keys', 'Made for this machine. They are worth nothing elsewhere.', keysList(facts))}
${section('Database', 'A PostgreSQL of its own, for psql or any other client.', value('database address', facts.database))}
${section('Inbox', 'Mail and SMS of the services arrive there, whomever they are for. None leaves this machine.', inboxAdvice(facts))}
${section('Your data', 'Kept between starts.', dataAdvice(facts))}`
}

function servicesList({ services }: Facts, health: readonly Health[]): Html {
  return html`<ul class="services">${services.map(({ name, title, url, docs, openapi }) => {
    const { healthy, said } = health.find((each) => each.name === name) ?? { healthy: false, said: 'Not answering' }
    const light = html`<span class="health" role="status" data-service="${name}" data-healthy="${String(healthy)}">${said}</span>`
    const of = html`<span class="spoken"> of ${title}</span>`
    return html`<li>
<div><h3>${title}</h3>${light}</div>
<p><code>${url}</code></p>
<ul><li><a href="${docs}">Documentation${of}</a></li><li><a href="${openapi}">openapi.json${of}</a></li></ul>
</li>`
  })}</ul>`
}

function signInAdvice(address: string): Html {
  return html`<p><a class="button primary" href="${address}">Sign in with the test provider</a></p>
<p class="quiet">Choose somebody, or be whom you like; what your app gets back is shown.
In your app it is <code>provider: 'custom:test'</code>.</p>`
}

function shopAdvice(): Html {
  return html`<p><a class="button primary" href="/shop">Pay as a customer would</a></p>
<p class="quiet">With a popup over the page of a shop, by a link, or for every month to come; all with a test card.</p>`
}

function stepsList({ firstSteps }: Facts): Html {
  return html`<ol class="list">${firstSteps.map(
    ({ title, command }) =>
      html`<li><h3>${title}</h3>${copyable(command, `the command: ${title}`, html`<pre>${command}</pre>`)}</li>`,
  )}</ol>`
}

function keysList({ keys }: Facts): Html {
  return html`<ul class="list">${keys.map(
    (key) => html`<li><h3>${key.name}</h3><p class="quiet">${key.explanation}</p>${value(key.name, key.value)}</li>`,
  )}</ul>`
}

function value(name: string, text: string): Html {
  const masked = mask(name, text)
  if (masked === undefined) return copyable(text, name, html`<code>${text}</code>`)
  const toggle = html`<span class="toggle"><span class="spoken">${name}: </span></span>`
  const summary = html`<summary><code class="masked" aria-hidden="true">${masked}</code>${toggle}</summary>`
  return copyable(text, name, html`<details>${summary}<code>${text}</code></details>`)
}

function inboxAdvice({ smtp, sms }: Facts): Html {
  return html`<p><a class="button primary" href="/inbox">Open the inbox</a></p>
<p class="quiet">Programs of yours can send mail to it by SMTP at <code>${smtp.host}:${smtp.port}</code>,
an SMS by a form with <code>to</code> and <code>text</code> to <code>${sms}</code>, and read it at <a href="/inbox.json">inbox.json</a>.</p>`
}

function dataAdvice({ dataFolder }: Facts): Html {
  return html`<dl>
<dt>Where it lives</dt><dd><code>${dataFolder}</code></dd>
<dt>To stop</dt><dd>Press <kbd>Ctrl-C</kbd> in the terminal in which Tollgate runs.</dd>
<dt>To start again</dt><dd><code>npm start</code></dd>
<dt>To start afresh</dt><dd>Stop it, delete that folder, and start again: with an empty database and new keys.</dd>
</dl>`
}
