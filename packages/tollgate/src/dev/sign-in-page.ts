import { createHash } from 'node:crypto'
import { Html, html } from '@tollgate/kit/html'
import { style } from '../welcome/style.ts'
import { type Person, people, picturePath, type Typed } from './people.ts'

const ownStyle = `${style}
main, .top > div { max-width: 30rem }
main { padding-block: 2.5rem 4rem }
h2 { margin-top: 2rem }
.people { display: grid; gap: .6rem; margin-top: 1.75rem }
.person {
  display: grid; grid-template-columns: 2.75rem minmax(0, 1fr); gap: 0 .9rem; align-items: center; padding: .75rem 1rem; text-align: left;
  white-space: normal; border-color: var(--line); border-radius: .75rem; justify-content: stretch
}
.person img { grid-row: span 3; display: block; border-radius: 50% }
.person span { overflow-wrap: anywhere; font-weight: 400; color: var(--quiet) }
.person .called { font-size: 1rem; font-weight: 600; color: var(--ink) }
.fields { display: grid; gap: .9rem; margin-top: .9rem }
.fields label { display: grid; gap: .25rem; font-size: .925rem }
.fields input:not([type=checkbox]) {
  min-height: 2.5rem; padding: .3rem .7rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge);
  border-radius: .5rem
}
.fields .tick { display: flex; gap: .55rem; align-items: center }
.fields button, .cancel button { min-height: 2.5rem; width: 100% }
.cancel { margin-top: 2rem; padding-top: 1.5rem; border-top: 1px solid var(--line) }
.complaint { color: var(--ill); font-size: .925rem }
`

/**
 * No script, and nothing from anywhere else. Where forms may go is left open: browsers count every address that the answer leads on to, and
 * the last of them is a page of the developer's.
 */
export const policy = [
  "default-src 'none'",
  // There only for the library, which adds its own where an answer is to be sent on by a form.
  "script-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(ownStyle).digest('base64')}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** What somebody typed that cannot be used comes back with the complaint. */
export function signInPage(typed: Typed, complaint?: string): string {
  return frame(
    'Sign in – Test provider',
    html`<h1>Sign in as</h1>
<p class="quiet">This provider is for development, and believes whatever you tell it. Nothing leaves this machine.</p>
<form method="post" class="people">
${Object.entries(people).map(([key, person]) => personButton(key, person))}
</form>
<form method="post" class="fields">
<h2>Or as somebody else</h2>
${complaint !== undefined && html`<p id="complaint" class="complaint" role="alert">${complaint}</p>`}
<label>Email<input name="email" type="email" autocomplete="off" required maxlength="200" value="${typed.email}"${
      complaint !== undefined && html` aria-describedby="complaint" autofocus`
    }></label>
<label>Name, if they tell one<input name="name" autocomplete="off" maxlength="200" value="${typed.name}"></label>
<label class="tick"><input name="verified" type="checkbox" value="true"${typed.verified && html` checked`}>The address is verified</label>
<button class="primary" name="action" value="type">Sign in</button>
</form>
<form method="post" class="cancel"><button name="action" value="cancel">Cancel</button></form>`,
  )
}

function personButton(key: string, person: Person & { remark: string }): Html {
  return html`<button class="person" name="person" value="${key}">
<img src="${picturePath(person)}" alt="" width="44" height="44">
<span class="called">${person.name ?? 'Somebody'}</span><span>${person.email}</span><span>${person.remark}</span>
</button>`
}

export function problemPage(title: string, explanation: string): string {
  return frame(`${title} – Test provider`, html`<div class="lone"><h1>${title}</h1><p class="quiet">${explanation}</p></div>`)
}

function frame(title: string, main: Html): string {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg">
<style>${new Html(ownStyle)}</style>
<body>
<header class="top"><div><span class="brand"><img src="/favicon.svg" alt="" width="28" height="28">
<span>Tollgate <small>Test provider</small></span></span></div></header>
<main>
${main}
</main>
</body>
</html>`.text
}

export function picture(initials: string): string {
  const hue = [...initials].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0) * 47, 0) % 360
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><rect width="96" height="96" fill="hsl(${hue} 45% 42%)"/>
<text x="48" y="49" fill="#fff" font-family="system-ui, sans-serif" font-size="40" text-anchor="middle" dominant-baseline="central">${initials}</text></svg>`
    .text
}
