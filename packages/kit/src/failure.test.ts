import { expect, test } from 'vitest'
import { Failure, failures } from './failure.ts'

const fail = failures({ not_found: [404, 'There is nothing here'], weak_password: [422, 'Too weak'] })

test('a failure has the status and the message of the table', () => {
  expect(fail('not_found')).toMatchObject({
    code: 'not_found',
    status: 404,
    message: 'There is nothing here',
    problems: [],
    headers: {},
  })
  expect(fail('not_found')).toBeInstanceOf(Failure)
})

test('a situation may say more', () => {
  const problems = [{ path: 'password', kind: 'value', message: 'Too short' }] as const
  const failure = fail('weak_password', { status: 400, message: 'Too short', problems, headers: { 'retry-after': '1' } })
  expect(failure).toMatchObject({
    code: 'weak_password',
    status: 400,
    message: 'Too short',
    problems,
    headers: { 'retry-after': '1' },
  })
})
