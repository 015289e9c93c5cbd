import { version } from '@tollgate/kit/version'
import { expect, onTestFinished, test } from 'vitest'
import { startPayments } from '../testing.ts'

test('the service tells what it is, on one line and without a line in the log', async () => {
  const service = await startPayments()
  onTestFinished(() => service.stop())
  const answer = await service.call('GET /health')
  expect(answer.status).toBe(200)
  expect(answer.text).toMatch(/^\{[^\n]*\}\n$/)
  expect(answer.json()).toMatchObject({ version, name: 'Tollgate Payments' })
  expect(service.lines).toEqual([])
})
