import { expect, onTestFinished, test } from 'vitest'
import { startPayments } from '../testing.ts'

test('a process that answers is live, without a line in the log', async () => {
  const service = await startPayments()
  onTestFinished(() => service.stop())
  const answer = await service.call('GET /live')
  expect([answer.status, answer.json()]).toEqual([200, { status: 'live' }])
  expect(service.lines).toEqual([])
})
