import Type from 'typebox'
import { docsPage } from './docs-page.ts'
import { Answer, anyone, type Endpoint } from './endpoint.ts'
import { type ApiDescription, describeApi } from './openapi.ts'

/** The two URLs under which a service explains itself. */
export function documentEndpoints(api: ApiDescription): Endpoint<unknown>[] {
  let described: Record<string, unknown> | undefined
  let rendered: ReturnType<typeof docsPage> | undefined
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This API as an OpenAPI 3.1 document',
      tag: 'About',
      caller: anyone,
      reply: { 200: Type.Unsafe({ description: 'An OpenAPI document' }) },
      fails: [],
      run() {
        described ??= describeApi(api)
        return described
      },
    },
    {
      method: 'GET',
      path: '/docs',
      summary: 'This API as a page to read',
      tag: 'About',
      caller: anyone,
      reply: { 200: Type.Unsafe<string>({ type: 'string', contentMediaType: 'text/html' }) },
      fails: [],
      run() {
        rendered ??= docsPage(api)
        return new Answer(200, rendered.page, { 'content-security-policy': rendered.policy })
      },
    },
  ]
}
