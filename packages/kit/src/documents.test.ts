import Type from 'typebox'
import { expect, test } from 'vitest'
import { documentEndpoints } from './documents.ts'
import { Answer } from './endpoint.ts'
import { compileReply } from './shape.ts'

const api = {
  title: 'Test',
  version: '1',
  description: 'A test',
  endpoints: [],
  failures: {},
  failureShape: () => Type.Object({}),
  bodyTypes: [],
}
const [document, page] = documentEndpoints(api)

test('the document leaves whole, though its shape names nothing of it', () => {
  const reply = document?.run(undefined, {} as never)
  expect(JSON.parse(compileReply(document?.reply[200] ?? Type.Never())(reply))).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Test' },
  })
  expect(document?.run(undefined, {} as never)).toBe(reply)
})

test('the page brings the policy that it needs', () => {
  const answer = page?.run(undefined, {} as never)
  expect(answer).toBeInstanceOf(Answer)
  expect(answer).toMatchObject({ status: 200, headers: { 'content-security-policy': expect.stringContaining('style-src') } })
})
