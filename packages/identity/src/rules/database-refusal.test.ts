import { expect, test } from 'vitest'
import { DatabaseRefusal, databaseRefusal } from './database-refusal.ts'

const stranger = () => false
const admin = () => true
const raised = (code: string, more: object = {}) =>
  Object.assign(new Error('Only staff may join'), { severity: 'ERROR', code, hint: 'Ask Ann', detail: 'row 7', ...more })

test.each([stranger, admin])('what a trigger raises is told to everybody as it was written', (isAdmin) => {
  const refusal = databaseRefusal(raised('P0001'), isAdmin)
  expect(refusal).toBeInstanceOf(DatabaseRefusal)
  expect(refusal).toMatchObject({ code: 'unexpected_failure', status: 500, message: 'Database error: Only staff may join' })
  expect(refusal?.told).toEqual({ code: 'P0001', message: 'Only staff may join', hint: 'Ask Ann', detail: 'row 7' })
})

test.each([
  ['PT400', 400],
  ['PT403', 403],
  ['PT599', 599],
  ['PT399', 500],
  ['PT600', 500],
  ['PT200', 500],
  ['PT000', 500],
])('%s is answered with the status %i', (code, status) => {
  expect(databaseRefusal(raised(code), stranger)).toMatchObject({ status, told: { code, message: 'Only staff may join' } })
})

const constraints = ['23000', '23001', '23502', '23503', '23505', '23514', '23P01']

test.each(constraints)('strangers are told of %s in plain words, without what stands in rows', (code) => {
  const refusal = databaseRefusal(raised(code), stranger)
  expect(refusal?.status).toBe(500)
  expect(refusal?.told).toEqual({ code, message: expect.stringMatching(/^[A-Z][a-z ,]+$/) })
  expect(refusal?.message).toBe(`Database error: ${refusal?.told.message} (SQLSTATE ${code})`)
})

test.each(constraints)('whoever administers is told of %s in the words of the database', (code) => {
  const refusal = databaseRefusal(raised(code), admin)
  expect(refusal?.told).toMatchObject({ code, message: 'Only staff may join', hint: 'Ask Ann' })
  expect(refusal?.message).toBe(`Database error: Only staff may join (SQLSTATE ${code})`)
})

test('nobody is told a whole row, which may hold the hash of a password', () => {
  const told = Object.fromEntries(constraints.map((code) => [code, databaseRefusal(raised(code), admin)?.told.detail]))
  expect(told).toEqual({ ...Object.fromEntries(constraints.map((code) => [code, 'row 7'])), 23502: undefined, 23514: undefined })
})

test('a hint or detail that is missing or empty is left out', () => {
  const refusal = databaseRefusal(raised('P0001', { hint: undefined, detail: '' }), stranger)
  expect(refusal?.told).toEqual({ code: 'P0001', message: 'Only staff may join' })
})

test.each([
  ['another error of the database', raised('42P01')],
  ['a status that is no number', raised('PTABC')],
  ['a longer code', raised('PT4030')],
  ['an error without a code', new Error('P0001')],
  ['an error that did not come from the database', Object.assign(new Error('x'), { code: 'P0001' })],
  ['an error whose code is a number', Object.assign(new Error('x'), { severity: 'ERROR', code: 23505 })],
  ['a name that every object knows', raised('constructor')],
  ['something that is no error', { severity: 'ERROR', code: 'P0001', message: 'x' }],
  ['nothing', undefined],
])('%s is no refusal', (_, thrown) => {
  expect(databaseRefusal(thrown, admin)).toBeUndefined()
})
