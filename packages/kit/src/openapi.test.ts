import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { type Endpoint, Nothing } from './endpoint.ts'
import { type ApiDescription, describeApi, failuresOf } from './openapi.ts'

const failures = {
  bad_json: [400, 'The body could not be read'],
  validation_failed: [400, 'A field is not as it should be'],
  unauthorized: [401, 'Say who you are'],
  not_found: [404, 'There is nothing here'],
} as const

const app = {
  security: { name: 'appKey', scheme: { type: 'http', scheme: 'basic' } },
  fails: ['unauthorized'],
  identify: () => undefined,
}
const anyone = { security: undefined, fails: [], identify: () => undefined }

function endpoint(method: string, path: string, more: Partial<Endpoint<unknown>> = {}): Endpoint<unknown> {
  return {
    method,
    path,
    summary: 'Do it',
    tag: 'Things',
    caller: anyone,
    reply: { 200: Type.Object({}) },
    fails: [],
    run: () => ({}),
    ...more,
  }
}

function api(...endpoints: Endpoint<unknown>[]): ApiDescription {
  return {
    title: 'Test',
    version: '1.2.3',
    description: 'A test',
    endpoints,
    failures,
    failureShape: () => Type.Object({ code: Type.String() }),
    bodyTypes: ['application/json', 'application/x-www-form-urlencoded'],
  }
}

type Operation = {
  operationId: string
  security: unknown[]
  parameters?: { name: string; in: string; required: boolean; schema: object; style?: string }[]
  requestBody?: { required: boolean; content: Record<string, unknown> }
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}

/** As a reader gets it: through JSON. */
function documentOf(description: ApiDescription) {
  return JSON.parse(JSON.stringify(describeApi(description))) as {
    openapi: string
    info: Record<string, unknown>
    paths: Record<string, Record<string, Operation>>
    components: { securitySchemes: Record<string, unknown> }
  }
}

const document = documentOf(
  api(
    endpoint('GET', '/things', {
      query: Type.Object({ limit: Type.Integer(), filter: Type.Optional(Type.Object({ test: Type.Boolean() })) }),
    }),
    endpoint('POST', '/things', {
      caller: app,
      body: Type.Object({ name: Type.String() }),
      reply: { 201: Type.Object({ id: Type.String() }) },
    }),
    endpoint('GET', '/things/{id}', { params: Type.Object({ id: Type.String({ pattern: '^a' }) }), fails: ['not_found'] }),
    endpoint('DELETE', '/things/{id}/parts/{part}', { caller: app, reply: { 204: Nothing }, fails: ['not_found'] }),
    endpoint('GET', '/things/{id}/parts'),
    endpoint('PUT', '/things/{id}', { body: Type.Object({ name: Type.Optional(Type.String()) }) }),
    endpoint('GET', '/.well-known/keys.json', { reply: { 200: Type.Unsafe({ type: 'string', contentMediaType: 'text/html' }) } }),
  ),
)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

describe('the document', () => {
  test('has what OpenAPI 3.1 requires', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ title: 'Test', version: '1.2.3', license: { identifier: 'Apache-2.0' } })
    expect(document.components.securitySchemes).toEqual({ appKey: { type: 'http', scheme: 'basic' } })
    for (const { operation } of operations)
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/)
        expect(response.description).not.toBe('')
      }
  })

  test('gives every operation a name of its own', () => {
    expect(operations.map(({ operation }) => operation.operationId)).toEqual([
      'get-things',
      'post-things',
      'get-things-id',
      'put-things-id',
      'delete-things-parts-part',
      'get-things-parts',
      'get-well-known-keys-json',
    ])
    expect(() => describeApi(api(endpoint('GET', '/a/{x}/b'), endpoint('GET', '/a/b')))).toThrow('get-a-b')
  })

  test('declares every placeholder, with its shape where there is one', () => {
    for (const { path, operation } of operations) {
      const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(declared.map(({ name }) => name)).toEqual(placeholders)
      expect(declared.every(({ required, schema }) => required && 'type' in schema)).toBe(true)
    }
    expect(document.paths['/things/{id}']?.get?.parameters?.[0]?.schema).toEqual({ type: 'string', pattern: '^a' })
  })

  test('tells which parameters of the query are required, and how a nested one is written', () => {
    expect(document.paths['/things']?.get?.parameters).toMatchObject([
      { name: 'limit', in: 'query', required: true },
      { name: 'filter', in: 'query', required: false, style: 'deepObject' },
    ])
  })

  test('tells how a body may be sent, and whether there must be one', () => {
    expect(Object.keys(document.paths['/things']?.post?.requestBody?.content ?? {})).toHaveLength(2)
    expect(document.paths['/things']?.post?.requestBody?.required).toBe(true)
    expect(document.paths['/things/{id}']?.put?.requestBody?.required).toBe(false)
    expect(document.paths['/things']?.get?.requestBody).toBeUndefined()
  })

  test('an answer without a body has no content, a page is not JSON', () => {
    expect(document.paths['/things/{id}/parts/{part}']?.delete?.responses['204']).not.toHaveProperty('content')
    expect(Object.keys(document.paths['/.well-known/keys.json']?.get?.responses['200']?.content ?? {})).toEqual(['text/html'])
  })

  test('every refusal stands under its status, those of the caller and of the body included', () => {
    expect(document.paths['/things']?.post).toMatchObject({
      security: [{ appKey: [] }],
      responses: {
        201: { description: 'Do it' },
        400: { description: expect.stringMatching(/`bad_json`.*\n\n`validation_failed`/) },
        401: { description: '`unauthorized`: Say who you are' },
      },
    })
  })
})

test('a failure that the table does not know is not documented as something else', () => {
  expect(() => failuresOf(endpoint('GET', '/x', { fails: ['not_fuond'] }), failures)).toThrow(
    /GET \/x names the failure not_fuond/,
  )
})

test('failures are told once each, by status', () => {
  const both = endpoint('POST', '/x', { caller: app, fails: ['not_found', 'unauthorized'], body: Type.Object({}) })
  expect(failuresOf(both, failures).map(({ code, status }) => [status, code])).toEqual([
    [400, 'bad_json'],
    [400, 'validation_failed'],
    [401, 'unauthorized'],
    [404, 'not_found'],
  ])
})

test('where there are several ways to say who one is, any of them will do', () => {
  const token = { name: 'token', scheme: { type: 'http', scheme: 'bearer' } }
  const { paths, components } = documentOf(
    api(endpoint('GET', '/x', { caller: { ...app, alternatives: [token] } }), endpoint('GET', '/y', { caller: app })),
  )
  expect(paths['/x']?.get?.security).toEqual([{ appKey: [] }, { token: [] }])
  expect(paths['/y']?.get?.security).toEqual([{ appKey: [] }])
  expect(components.securitySchemes).toEqual({ appKey: app.security.scheme, token: token.scheme })
})
