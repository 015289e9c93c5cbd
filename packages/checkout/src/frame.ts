import { type Html, html } from './html.ts'

/** A file that a page loads, and the hash that it must have. */
export type Loaded = { path: string; integrity: string }

export type Files = { script: Loaded; style: Loaded; icon: Loaded; accent: Loaded | undefined }

/** What is around every page. */
export function frame(
  content: Html,
  {
    language,
    title,
    kind,
    files,
  }: { language: string; title: string; kind: string; files: Omit<Files, 'script'> & { script?: Loaded } },
): string {
  const { script, style, icon, accent } = files
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<meta name="format-detection" content="telephone=no, date=no, address=no">
<link rel="stylesheet" href="${style.path}" integrity="${style.integrity}">
${accent && html`<link rel="stylesheet" href="${accent.path}" integrity="${accent.integrity}">`}
<link rel="icon" type="image/svg+xml" href="${icon.path}">
${script && html`<script type="module" src="${script.path}" integrity="${script.integrity}"></script>`}
</head>
<body class="${kind}">
${content}
</body>
</html>
`.markup
}
