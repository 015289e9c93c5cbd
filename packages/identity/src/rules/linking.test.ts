import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decision, decideAccount, type Found } from './linking.ts'

const nobody: Found = { identityOwner: undefined, addressOwners: [], addressTaken: false, policy: 'verified' }

test.each<[string, Partial<Found>, Decision]>([
  ['somebody new gets an account', {}, { outcome: 'create', withEmail: true }],
  ['whoever has the identity enters', { identityOwner: 'a' }, { outcome: 'enter', userId: 'a' }],
  [
    'whoever has the identity enters, whatever their address says',
    { identityOwner: 'a', addressOwners: ['b'], addressTaken: true },
    { outcome: 'enter', userId: 'a' },
  ],
  [
    'an address that is vouched for leads to its account',
    { addressOwners: ['a'], addressTaken: true },
    { outcome: 'link', userId: 'a' },
  ],
  ['an address that is not leads to nobody’s', { addressTaken: true }, { outcome: 'create', withEmail: false }],
  ['addresses of several lead nowhere', { addressOwners: ['a', 'b'], addressTaken: true }, { outcome: 'ambiguous' }],
  [
    'where linking is not wanted, an address leads to nobody',
    { addressOwners: ['a'], addressTaken: true, policy: 'never' },
    { outcome: 'create', withEmail: false },
  ],
])('%s', (_, found, decision) => {
  expect(decideAccount({ ...nobody, ...found })).toEqual(decision)
})

test('nobody is ever let into an account that neither the identity nor a vouched-for address belongs to', () => {
  const found = fc.record({
    identityOwner: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    addressOwners: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
    addressTaken: fc.boolean(),
    policy: fc.constantFrom('verified' as const, 'never' as const),
  })
  fc.assert(
    fc.property(found, (each) => {
      const decision = decideAccount(each)
      if ('userId' in decision) expect([each.identityOwner, ...each.addressOwners]).toContain(decision.userId)
    }),
  )
})
