import { type Html, html } from '@tollgate/kit/html'
import type { Words } from './words.ts'

// Most mail programs drop one or the other: inline styles are the ground, this only adds what cannot be said there.
const dark = `
@media (prefers-color-scheme: dark) {
  .page { background: #12151c !important }
  .card { background: #1a1e28 !important; border-color: #2b3140 !important }
  .ink, .ink a { color: #e6e9f0 !important }
  .quiet, .quiet a { color: #98a1b5 !important }
  .soft { background: #232836 !important; color: #e6e9f0 !important }
  .line { border-color: #2b3140 !important }
  .button { background: #92a1ff !important; color: #12151c !important }
  .link { color: #92a1ff !important }
}
@media (max-width: 480px) {
  .margin { padding: 20px 12px !important }
  .card { padding: 24px 20px !important }
}`

const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const mono = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace"
const small = `margin:0 0 8px;${font};font-size:14px;line-height:21px;color:#5b6478`

export function htmlPart(words: Words, { site, subject }: { site: string; subject: string }): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${subject}</title>
<style>:root { color-scheme: light dark }${dark}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f5f6f9;-webkit-text-size-adjust:100%">
${preview(words.preview)}
<table role="presentation" width="100%" cellspacing="0" cellpadding="0" border="0" style="table-layout:fixed"><tr>
<td class="page margin" align="center" style="padding:32px 16px;background:#f5f6f9">
<table role="presentation" width="100%" cellspacing="0" cellpadding="0" border="0" style="max-width:520px;table-layout:fixed">
<tr><td class="ink" style="padding:0 4px 16px;${font};font-size:15px;line-height:22px;font-weight:600;color:#1c2230;text-align:left;overflow-wrap:anywhere">${site}</td></tr>
<tr><td class="card" style="padding:32px 28px 24px;background:#ffffff;border:1px solid #e0e4ec;border-radius:12px;text-align:left">
<h1 class="ink" style="margin:0 0 16px;${font};font-size:24px;line-height:31px;font-weight:650;letter-spacing:-0.01em;color:#1c2230;overflow-wrap:anywhere">${words.heading}</h1>
${words.paragraphs.map(
  (paragraph) =>
    html`<p class="ink" style="margin:0 0 16px;${font};font-size:16px;line-height:25px;color:#1c2230;overflow-wrap:anywhere">${paragraph}</p>
`,
)}${words.button && button(words.button)}${words.code && code(words.code)}<div class="line" style="margin:28px 0 20px;border-top:1px solid #e0e4ec;font-size:0;line-height:0">&nbsp;</div>
${words.notes.map(
  (note) => html`<p class="quiet" style="${small}">${note}</p>
`,
)}${words.button && bareLink(words.button)}</td></tr>
</table>
</td>
</tr></table>
</body>
</html>
`
  return page.text
}

/** Mail programs fill the rest of the line with the beginning of the mail, unless there is something else, invisible, to take. */
function preview(text: string): Html {
  const hidden = 'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px;color:transparent'
  return html`<div style="${hidden}">${text}${Array.from({ length: 60 }, () => '\u034f\u200c\u00a0')}</div>`
}

function button({ label, link }: { label: string; link: string }): Html {
  return html`<table role="presentation" cellspacing="0" cellpadding="0" border="0" style="margin:28px 0 24px"><tr>
<td class="button" bgcolor="#3a4fd8" style="border-radius:8px;background:#3a4fd8"><a class="button" href="${link}" style="display:inline-block;padding:13px 24px;border-radius:8px;background:#3a4fd8;${font};font-size:16px;line-height:22px;font-weight:600;color:#ffffff;text-decoration:none">${label}</a></td>
</tr></table>
`
}

function code({ introduction, digits }: { introduction: string; digits: string }): Html {
  return html`<p class="ink" style="margin:0 0 12px;${font};font-size:16px;line-height:25px;color:#1c2230">${introduction}</p>
<p class="soft" style="margin:0 0 16px;padding:14px 16px;border-radius:8px;background:#f0f2f8;${mono};font-size:26px;line-height:34px;font-weight:600;letter-spacing:0.18em;text-indent:0.18em;text-align:center;color:#1c2230">${digits}</p>
`
}

function bareLink({ link }: { link: string }): Html {
  return html`<p class="quiet" style="${small};margin:16px 0 4px">If the button does not work, open this address:</p>
<p style="margin:0;${font};font-size:13px;line-height:20px;overflow-wrap:anywhere;word-break:break-all"><a class="link" href="${link}" style="color:#3a4fd8;text-decoration:underline">${link}</a></p>
`
}
