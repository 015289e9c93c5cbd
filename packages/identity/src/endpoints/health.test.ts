import { version } from '@tollgate/kit/version'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startIdentity } from '../testing.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

test('the service tells its version under the name that clients know', async () => {
  const answer = await service.call('GET /health')
  expect(answer.status).toBe(200)
  expect(answer.json()).toEqual({
    version,
    name: 'GoTrue',
    description: 'GoTrue is a user registration and authentication API',
  })
})

test('being asked leaves no line in the log', () => {
  expect(service.lines).toEqual([])
})
