import type { TSchema } from 'typebox'
import { type Endpoint, schemesOf } from './endpoint.ts'
import type { FailureTable } from './failure.ts'

export type ApiDescription = {
  title: string
  version: string
  description: string
  endpoints: readonly Endpoint<unknown>[]
  failures: FailureTable
  /** What a refusal looks like on the wire. */
  failureShape(status: number, path: string): TSchema
  bodyTypes: readonly string[]
}

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of a service, read off the endpoints that it serves. */
export function describeApi(api: ApiDescription): Json {
  const paths: Record<string, Json> = {}
  const schemes: Json = {}
  const ids = new Set<string>()
  for (const endpoint of api.endpoints) {
    const id = operationId(endpoint)
    // Generators make a function of each, and would let one overwrite the other.
    if (ids.has(id)) throw new Error(`Two endpoints would be called ${id}`)
    ids.add(id)
    paths[endpoint.path] ??= {}
    Object.assign(paths[endpoint.path] as Json, { [endpoint.method.toLowerCase()]: operation(id, endpoint, api) })
    for (const { name, scheme } of schemesOf(endpoint.caller)) schemes[name] = scheme
  }
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: api.version,
      description: api.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: { securitySchemes: schemes },
  }
}

function operation(operationId: string, endpoint: Endpoint<unknown>, api: ApiDescription): Json {
  return {
    operationId,
    summary: endpoint.summary,
    ...(endpoint.description ? { description: endpoint.description } : {}),
    tags: [endpoint.tag],
    security: schemesOf(endpoint.caller).map(({ name }) => ({ [name]: [] })),
    ...parameters(endpoint),
    ...requestBody(endpoint, api.bodyTypes),
    responses: { ...successes(endpoint), ...refusals(endpoint, api) },
  }
}

/** `POST /transactions/{id}/captures` → `post-transactions-captures`, but `GET /transactions/{id}` → `get-transactions-id` */
function operationId({ method, path }: Endpoint<unknown>): string {
  const words = path.replace(/\/\{\w+\}(?=\/)/g, '').match(/\w+/g) ?? []
  return [method.toLowerCase(), ...words].join('-')
}

type ObjectShape = { properties?: Record<string, Json>; required?: string[] }

function parameters(endpoint: Endpoint<unknown>): Json {
  const declared = (endpoint.params ?? { properties: {} }) as ObjectShape
  const placeholders = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: declared.properties?.[name ?? ''] ?? { type: 'string' },
  }))
  const query = (endpoint.query ?? {}) as ObjectShape
  const asked = Object.entries(query.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    schema,
    // `filter[test]=yes`, as body.ts reads it.
    ...(schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
  }))
  return placeholders.length + asked.length === 0 ? {} : { parameters: [...placeholders, ...asked] }
}

function requestBody(endpoint: Endpoint<unknown>, types: readonly string[]): Json {
  if (!endpoint.body) return {}
  const required = ((endpoint.body as ObjectShape).required ?? []).length > 0
  return { requestBody: { required, content: Object.fromEntries(types.map((type) => [type, { schema: endpoint.body }])) } }
}

function successes(endpoint: Endpoint<unknown>): Json {
  const entries = Object.entries(endpoint.reply).map(([status, schema]) => {
    const { type, contentMediaType = 'application/json' } = schema as { type?: string; contentMediaType?: string }
    return [
      status,
      { description: endpoint.summary, ...(type === 'void' ? {} : { content: { [contentMediaType]: { schema } } }) },
    ]
  })
  return Object.fromEntries(entries)
}

function refusals(endpoint: Endpoint<unknown>, api: ApiDescription): Json {
  const byStatus = Map.groupBy(failuresOf(endpoint, api.failures), ({ status }) => status)
  const entries = [...byStatus].map(([status, failures]) => [
    status,
    {
      description: failures.map(({ code, message }) => `\`${code}\`: ${message}`).join('\n\n'),
      content: { 'application/json': { schema: api.failureShape(status, endpoint.path) } },
    },
  ])
  return Object.fromEntries(entries)
}

/** What an endpoint may refuse with, in the order of the statuses; what every endpoint shares is told once, in docs/errors.md. */
export function failuresOf(endpoint: Endpoint<unknown>, table: FailureTable) {
  const shared = [...(endpoint.body ? ['bad_json'] : []), ...(endpoint.body || endpoint.query ? ['validation_failed'] : [])]
  return [...new Set([...endpoint.caller.fails, ...endpoint.fails, ...shared])]
    .map((code) => {
      const [status, message] = table[code] ?? unknownCode(endpoint, code)
      return { code, status, message }
    })
    .sort((one, other) => one.status - other.status)
}

function unknownCode({ method, path }: Endpoint<unknown>, code: string): never {
  throw new Error(`${method} ${path} names the failure ${code}, which is not in the service's table`)
}
