import { createHash } from 'node:crypto'
import type { TSchema } from 'typebox'
import { type Endpoint, schemesOf } from './endpoint.ts'
import { Html, html } from './html.ts'
import { type ApiDescription, failuresOf } from './openapi.ts'

type Shape = TSchema & {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
  description?: string
  format?: string
}

/** The API on one readable page: no script, no request to anywhere else, good on paper too. */
export function docsPage(api: ApiDescription): { page: string; policy: string } {
  const tags = Map.groupBy(api.endpoints, (endpoint) => endpoint.tag)
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${api.title}</title>
<style>${new Html(style)}</style>
<body>
<nav>
<h1>${api.title}</h1>
<p class="quiet">Version ${api.version} &middot; <a href="openapi.json">openapi.json</a></p>
${[...tags].map(
  ([tag, endpoints]) => html`<h2>${tag}</h2>
<ul>${endpoints.map((endpoint) => html`<li><a href="#${anchor(endpoint)}"><b class="${endpoint.method}">${endpoint.method}</b> ${endpoint.path}</a></li>`)}</ul>`,
)}
</nav>
<main>
<p>${api.description}</p>
${api.endpoints.map((endpoint) => section(endpoint, api))}
</main>
</body>
</html>`
  const hash = createHash('sha256').update(style).digest('base64')
  return {
    page: page.text,
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

function anchor({ method, path }: Endpoint<unknown>): string {
  return `${method}${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

function section(endpoint: Endpoint<unknown>, api: ApiDescription): Html {
  const refusals = failuresOf(endpoint, api.failures)
  return html`<section id="${anchor(endpoint)}">
<h3><b class="${endpoint.method}">${endpoint.method}</b> <code>${endpoint.path}</code></h3>
<p>${endpoint.summary}.${endpoint.description && html`</p><p>${endpoint.description}`}</p>
<p class="quiet">${needs(endpoint)}</p>
${fields('In the path', endpoint.params, given)}
${fields('In the query', endpoint.query, given)}
${fields('In the body', endpoint.body, given)}
${Object.entries(endpoint.reply).map(([status, schema]) => fields(`Answer ${status}`, schema, answered) ?? html`<h4>Answer ${status}</h4><p class="quiet">${(schema as Shape).type === 'void' ? 'No body.' : typeName(schema as Shape)}</p>`)}
${refusals.length > 0 && html`<h4>Refusals</h4><table>${refusals.map(({ status, code, message }) => html`<tr><td>${status}<td><code>${code}</code><td>${message}`)}</table>`}
</section>`
}

function needs({ caller }: Endpoint<unknown>): string {
  const ways = schemesOf(caller).map(({ name, scheme }) => scheme.description ?? name)
  return ways.length > 0 ? `Needs ${ways.join(', or ')}.` : 'Needs no credentials.'
}

/** What is worth a remark: that something must be sent, and that something may be missing from an answer. */
const given = (required: boolean) => required && 'required'
const answered = (required: boolean) => !required && 'optional'

function fields(title: string, schema: TSchema | undefined, remark: (required: boolean) => string | false): Html | undefined {
  const rows = schema ? rowsOf(schema as Shape, '') : []
  if (rows.length === 0) return undefined
  return html`<h4>${title}</h4><table>${rows.map(
    ({ name, type, required, description }) =>
      html`<tr><td><code>${name}</code>${remark(required) && html` <i>${remark(required)}</i>`}<td>${type}<td>${description}`,
  )}</table>`
}

function rowsOf(schema: Shape, prefix: string): { name: string; type: string; required: boolean; description: string }[] {
  const { properties = {}, required = [] } = objectIn(schema) ?? {}
  return Object.entries(properties).flatMap(([name, property]) => [
    { name: prefix + name, type: typeName(property), required: required.includes(name), description: property.description ?? '' },
    ...rowsOf(property, `${prefix}${name}.`),
  ])
}

/** The object whose properties are worth rows of their own: the shape itself, a list's element, or what may also be null. */
function objectIn(schema: Shape): Shape | undefined {
  if (schema.properties) return schema
  if (schema.items) return objectIn(schema.items)
  return schema.anyOf?.map(objectIn).find((member) => member !== undefined)
}

function typeName(schema: Shape): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' or ')
  if (schema.anyOf) return schema.anyOf.map(typeName).join(' or ')
  if (schema.type === 'array') return `list of ${schema.items ? typeName(schema.items) : 'anything'}`
  return schema.format ?? schema.type ?? 'anything'
}

const style = `
:root { color-scheme: light dark; --ink: light-dark(#1c2230, #e6e9f0); --paper: light-dark(#fff, #12151c); --soft: light-dark(#f5f6f9, #1a1e28);
  --line: light-dark(#e0e4ec, #2b3140); --quiet: light-dark(#5b6478, #98a1b5); --accent: light-dark(#3a4fd8, #92a1ff) }
* { box-sizing: border-box } body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); display: grid; grid-template-columns: 20rem minmax(0, 1fr) }
nav { padding: 2rem 1.5rem; background: var(--soft); border-right: 1px solid var(--line); height: 100vh; overflow: auto; position: sticky; top: 0 }
nav h1 { font-size: 1.2rem; margin: 0 } nav h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); margin: 1.5rem 0 .3rem }
nav ul { list-style: none; margin: 0; padding: 0; font: .85rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere } nav li { margin: .4rem 0 } a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
main { padding: 2rem 2.5rem 6rem; max-width: 60rem } section { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 1rem }
h3 { font-size: 1.15rem } h4 { margin: 1.4rem 0 .3rem; font-size: .9rem } table { border-collapse: collapse; width: 100%; font-size: .92rem } td { border-top: 1px solid var(--line); padding: .35rem .8rem .35rem 0; vertical-align: top; overflow-wrap: anywhere } td:first-child { width: 32% } td:nth-child(2) { width: 28% }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere } .quiet { color: var(--quiet); font-size: .92rem } i { color: var(--quiet); font-size: .8rem }
b.GET { color: light-dark(#0b6b45, #5bd6a0) } b.POST { color: light-dark(#2746c4, #92a1ff) } b.PUT, b.PATCH { color: light-dark(#8a5a00, #e6b455) } b.DELETE { color: light-dark(#b3261e, #ff8f86) }
@media (max-width: 50rem) { body { grid-template-columns: minmax(0, 1fr) } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line) } main { padding: 1.5rem } }
`
