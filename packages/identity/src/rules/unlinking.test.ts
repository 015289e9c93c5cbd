import { expect, test } from 'vitest'
import { emailAfterUnlinking, type Vouching } from './unlinking.ts'

const proved = (email: string): Vouching => ({ email, verified: true })
const unproved = (email: string): Vouching => ({ email, verified: false })
const none: Vouching = { email: null, verified: false }

const kept = { outcome: 'kept' }
const conflict = { outcome: 'conflict' }
const promoted = (email: string | null, verified: boolean) => ({ outcome: 'promoted', email, verified })

test.each<[string, string, Vouching[], string[], object]>([
  ['an account without an address keeps none', '', [proved('b@x')], [], kept],
  ['an address that another identity has too is kept', 'a@x', [proved('b@x'), unproved('a@x')], [], kept],
  ['an address that another identity has is kept, whoever else has it', 'a@x', [proved('a@x')], ['a@x'], kept],
  ['the oldest proved address is promoted', 'a@x', [proved('b@x'), proved('c@x')], [], promoted('b@x', true)],
  ['a proved address goes before an older one that is not', 'a@x', [unproved('b@x'), proved('c@x')], [], promoted('c@x', true)],
  ['a proved address of somebody else is passed over', 'a@x', [proved('b@x'), unproved('c@x')], ['b@x'], promoted('c@x', false)],
  [
    'the oldest address that is not proved is promoted',
    'a@x',
    [none, unproved('b@x'), unproved('c@x')],
    [],
    promoted('b@x', false),
  ],
  ['any address goes before none', 'a@x', [none, unproved('b@x')], [], promoted('b@x', false)],
  ['where no identity has an address, the account has none', 'a@x', [none], [], promoted(null, false)],
  ['an empty address is none', 'a@x', [unproved('')], [], promoted(null, false)],
  ['rather none than somebody else’s', 'a@x', [proved('b@x'), none], ['b@x'], promoted(null, false)],
  ['nothing but addresses of others is a conflict', 'a@x', [proved('b@x'), unproved('c@x')], ['b@x', 'c@x'], conflict],
])('%s', (_, email, remaining, taken, expected) => {
  expect(emailAfterUnlinking(email, remaining, (each) => taken.includes(each))).toEqual(expected)
})
