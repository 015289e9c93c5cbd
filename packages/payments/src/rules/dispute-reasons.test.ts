import { expect, test } from 'vitest'
import { disputeCodes, disputeReason, usualDue } from './dispute-reasons.ts'

test.each([
  ['nothing', undefined, { code: 4853, title: 'Cardholder Dispute' }],
  ['a code', { code: 131 }, { code: 131, title: 'Merchandise or Services Not Received' }],
  ['a title', { title: 'Parcel lost' }, { code: 4853, title: 'Parcel lost' }],
  ['both', { code: 7, title: 'Other' }, { code: 7, title: 'Other' }],
  ['a code that nobody knows', { code: 7 }, undefined],
])('of a reason given as %s the rest is known', (_, given, reason) => {
  expect(disputeReason(given)).toEqual(reason)
})

test('every code has a title', () => {
  expect(disputeCodes.length).toBeGreaterThan(10)
  for (const code of disputeCodes) expect(disputeReason({ code })).toEqual({ code, title: expect.stringMatching(/^[A-Z]/) })
})

test('a merchant has a fortnight', () => {
  expect(usualDue(new Date('2030-02-20T10:00:00Z'))).toEqual(new Date('2030-03-06T10:00:00Z'))
})
