import { inspect } from 'node:util'
import { Secret } from '@tollgate/kit/secret'
import { stillClock } from '@tollgate/kit/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testVault, testVaultSettings } from './testing.ts'
import { createVault, type TokenType, type Vault } from './vault.ts'

const vault = testVault('new', 'old')
const now = stillClock()
const text = fc.string({ unit: 'binary' }).filter((each) => each.isWellFormed())
const digits = (length: fc.IntegerConstraints) =>
  fc.integer(length).chain((size) => fc.stringMatching(new RegExp(`^[0-9]{${size}}$`)))
const plainTypes = fc.constantFrom<Exclude<TokenType, 'pcsc'>>('pcn', 'applepay', 'googlepay')

const revealed = (opened: unknown) => (opened instanceof Secret ? opened.reveal() : opened)

/** The bytes with one bit of one of them turned. */
function flipped(bytes: Buffer, place: number): Buffer {
  const copy = Buffer.from(bytes)
  const at = Math.floor(place / 8) % bytes.length
  copy[at] = (copy[at] as number) ^ (1 << (place % 8))
  return copy
}

test('what was sealed opens again, as a secret, and no two tokens are the same', () => {
  fc.assert(
    fc.property(plainTypes, text, (type, value) => {
      const [token, other] = [vault.seal(type, value, now()), vault.seal(type, value, now())]
      const opened = vault.open(type, token, now())
      expect(revealed(opened)).toBe(value)
      expect(inspect(opened)).toBe('[secret]')
      expect(other).not.toBe(token)
    }),
  )
})

test('tokens of card numbers and security codes are base64 of at most 250 characters, whatever the key is called', () => {
  const long = testVault('k'.repeat(32))
  fc.assert(
    fc.property(digits({ min: 10, max: 19 }), digits({ min: 3, max: 3 }), (number, code) => {
      for (const token of [long.seal('pcn', number, now()), long.sealCode(code, now()).token]) {
        expect(token).toMatch(/^[A-Za-z0-9+/]{100,249}={0,2}$/)
        expect(token.length).toBeLessThanOrEqual(250)
        expect(Buffer.from(token, 'base64').toString('latin1')).not.toContain(number)
      }
    }),
  )
})

test('no token opens with any bit of it turned, or any character of its text another one', () => {
  const token = vault.seal('pcn', '4100000000000000', now())
  const code = vault.sealCode('123', now())
  for (const { token: whole, open } of [
    { token, open: (changed: string) => vault.open('pcn', changed, now()) },
    { token: code.token, open: (changed: string) => vault.readCode(changed, now()) },
    { token: code.token, open: (changed: string) => vault.openCode(changed, code.wrappedKey) ?? 'invalid' },
  ]) {
    const bytes = Buffer.from(whole, 'base64')
    const turned = Array.from({ length: bytes.length * 8 }, (_, place) => flipped(bytes, place).toString('base64'))
    const respelt = [...whole].flatMap((character, place) =>
      [...'Az/+-_= \né']
        .filter((other) => other !== character)
        .map((other) => whole.slice(0, place) + other + whole.slice(place + 1)),
    )
    expect(typeof open(whole)).toBe('object')
    expect([...turned, ...respelt].filter((changed) => open(changed) !== 'invalid')).toEqual([])
  }
})

test('no token opens cut short, made longer, or spelt in another way', () => {
  const token = vault.seal('pcn', '4100000000000000', now())
  for (let length = 0; length < token.length; length++) expect(vault.open('pcn', token.slice(0, length), now())).toBe('invalid')
  for (const other of [`${token}AAAA`, `${token}\n`, ` ${token}`, `${token}=`, token + token, `{"token":"${token}"}`])
    expect(vault.open('pcn', other, now())).toBe('invalid')
})

test('garbage is refused without a fuss, however long', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each))
  // A front and a head like ours let the garbage in further.
  const alike = bytes.map((each) => Buffer.concat([Buffer.from('\x01\0\0\0\0\0\0\x01\x03new', 'latin1'), each]))
  const garbage = fc.oneof(
    text,
    fc.string({ unit: 'binary' }),
    bytes.map((each) => each.toString('base64')),
    alike.map((each) => each.toString('base64')),
  )
  const { token, wrappedKey } = vault.sealCode('123', now())
  fc.assert(
    fc.property(garbage, fc.oneof(bytes, alike), (written, locked) => {
      expect(vault.open('pcn', written, now())).toBe('invalid')
      expect(vault.readCode(written, now())).toBe('invalid')
      expect(vault.openCode(written, wrappedKey)).toBeUndefined()
      expect(vault.openCode(token, locked)).toBeUndefined()
      expect(vault.openNote(written, 'x')).toBeUndefined()
      expect(vault.unlock(locked, 'x')).toBeUndefined()
      expect(vault.relock(locked, 'x')).toBeUndefined()
    }),
    { numRuns: 500 },
  )
  for (const long of ['A'.repeat(4_000_000), '\u{1F600}'.repeat(1_000_000)]) {
    expect(vault.open('pcn', long, now())).toBe('invalid')
    expect(vault.openNote(long, 'x')).toBeUndefined()
  }
})

test('a token is of one type', () => {
  const tokens: Record<TokenType, string> = {
    pcn: vault.seal('pcn', '4100000000000000', now()),
    applepay: vault.seal('applepay', '{}', now()),
    googlepay: vault.seal('googlepay', '{}', now()),
    pcsc: vault.sealCode('123', now()).token,
  }
  const taken = (as: TokenType, token: string) => (as === 'pcsc' ? vault.readCode(token, now()) : vault.open(as, token, now()))
  for (const [type, token] of Object.entries(tokens))
    for (const as of Object.keys(tokens) as TokenType[])
      expect(taken(as, token)).toEqual(as === type ? expect.anything() : 'other type')
  const { wrappedKey } = vault.sealCode('123', now())
  expect(vault.openCode(tokens.pcn, wrappedKey)).toBeUndefined()
})

test('a token opens until the very millisecond in which it expires', () => {
  const clock = stillClock()
  const short = createVault({ ...testVaultSettings('new'), tokenExp: 60 }, () => new Error())
  const token = short.seal('pcn', '4100000000000000', clock())
  const code = short.sealCode('123', clock())
  expect(code.expires).toEqual(new Date(clock().getTime() + 60_000))
  clock.advance(59.999)
  expect(revealed(short.open('pcn', token, clock()))).toBe('4100000000000000')
  expect(short.readCode(code.token, clock())).toEqual({ id: code.id })
  clock.advance(0.001)
  expect(short.open('pcn', token, clock())).toBe('invalid')
  expect(short.readCode(code.token, clock())).toBe('invalid')
})

test('a security code opens with its own key alone, and the keys of the vault are not enough', () => {
  const [one, two] = [vault.sealCode('123', now()), vault.sealCode('123', now())]
  expect(one.id).not.toEqual(two.id)
  expect(revealed(vault.openCode(one.token, one.wrappedKey))).toBe('123')
  expect(vault.openCode(one.token, two.wrappedKey)).toBeUndefined()
  expect(vault.openCode(one.token, Buffer.alloc(0))).toBeUndefined()
  for (let place = 0; place < one.wrappedKey.length * 8; place++)
    expect(vault.openCode(one.token, flipped(one.wrappedKey, place))).toBeUndefined()
})

test('what is locked opens for what it is about, and for nothing else', () => {
  fc.assert(
    fc.property(text, text, text, (value, about, other) => {
      const locked = vault.lock(value, about)
      expect(revealed(vault.unlock(locked, about))).toBe(value)
      if (other !== about) expect(vault.unlock(locked, other)).toBeUndefined()
    }),
  )
  const locked = vault.lock('4100000000000000', 'card 1 2')
  for (let place = 0; place < locked.length * 8; place++) expect(vault.unlock(flipped(locked, place), 'card 1 2')).toBeUndefined()
})

test('notes come back as they were, for what they are about, and never twice in the same text', () => {
  const about = 'hint'
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), (content) => {
      const note = JSON.parse(JSON.stringify(content)) as object
      const sealed = vault.sealNote(note, about)
      expect(vault.openNote(sealed, about)).toEqual(note)
      expect(vault.openNote(sealed, 'hints')).toBeUndefined()
      expect(vault.sealNote(note, about)).not.toBe(sealed)
    }),
  )
  const sealed = Buffer.from(vault.sealNote({ step: 1 }, about), 'base64')
  for (let place = 0; place < sealed.length * 8; place++)
    expect(vault.openNote(flipped(sealed, place).toString('base64'), about)).toBeUndefined()
})

test('what was made for one purpose is worth nothing for another', () => {
  const note = vault.sealNote({}, 'x')
  expect(vault.unlock(Buffer.from(note, 'base64'), 'x')).toBeUndefined()
  expect(vault.openNote(vault.lock('{}', 'x').toString('base64'), 'x')).toBeUndefined()
  expect(vault.open('pcn', note, now())).toBe('invalid')
})

test('after a rotation the old key opens what it sealed, and without it nothing does', () => {
  const before = testVault('old')
  const token = before.seal('pcn', '4100000000000000', now())
  const code = before.sealCode('123', now())
  const note = before.sealNote({ step: 1 }, 'x')
  const locked = before.lock('4100000000000000', 'x')
  const seen = (by: Vault) => [
    revealed(by.open('pcn', token, now())),
    revealed(by.openCode(code.token, code.wrappedKey)),
    by.openNote(note, 'x'),
    revealed(by.unlock(locked, 'x')),
  ]
  expect(seen(testVault('new', 'old'))).toEqual(['4100000000000000', '123', { step: 1 }, '4100000000000000'])
  expect(seen(testVault('new'))).toEqual(['invalid', undefined, undefined, undefined])
  expect(testVault('new').readCode(code.token, now())).toBe('invalid')
})

test('the first key alone encrypts', () => {
  const token = testVault('new', 'old').seal('pcn', '4100000000000000', now())
  expect(testVault('old').open('pcn', token, now())).toBe('invalid')
  expect(revealed(testVault('new').open('pcn', token, now()))).toBe('4100000000000000')
})

test('what is locked anew needs the first key alone, and stays about the same', () => {
  const locked = testVault('old').lock('4100000000000000', 'card 1 2')
  const anew = vault.relock(locked, 'card 1 2') as Buffer
  expect(revealed(testVault('new').unlock(anew, 'card 1 2'))).toBe('4100000000000000')
  expect(testVault('old').unlock(anew, 'card 1 2')).toBeUndefined()
  expect(testVault('new').unlock(anew, 'card 1 3')).toBeUndefined()
  expect(vault.relock(anew, 'card 1 2')).toBeUndefined()
  expect(vault.relock(locked, 'card 1 3')).toBeUndefined()
  expect(testVault('new').relock(locked, 'card 1 2')).toBeUndefined()
})

test('other bytes under the same id open nothing', () => {
  const token = testVault('new').seal('pcn', '4100000000000000', now())
  const { keys } = testVaultSettings('other')
  const [{ key }] = (keys as NonNullable<typeof keys>).reveal()
  const impostor = createVault({ keys: new Secret([{ id: 'new', key }] as const), tokenExp: 60 }, () => new Error())
  expect(impostor.open('pcn', token, now())).toBe('invalid')
})

test('a mark is the same for the same value and first key, and for nothing else', () => {
  const mark = vault.mark('4100000000000000')
  expect(testVault('new').mark('4100000000000000')).toEqual(mark)
  expect(vault.mark('4100000000000001')).not.toEqual(mark)
  expect(testVault('old', 'new').mark('4100000000000000')).not.toEqual(mark)
})

test('without keys every use is refused in the words of whoever made the vault', () => {
  const none = createVault({ keys: undefined, tokenExp: 1200 }, () => new Error('no keys'))
  const uses: (() => unknown)[] = [
    () => none.seal('pcn', '4100000000000000', now()),
    () => none.open('pcn', 'x', now()),
    () => none.sealCode('123', now()),
    () => none.readCode('x', now()),
    () => none.openCode('x', Buffer.alloc(0)),
    () => none.lock('x', 'x'),
    () => none.unlock(Buffer.alloc(0), 'x'),
    () => none.relock(Buffer.alloc(0), 'x'),
    () => none.sealNote({}, 'x'),
    () => none.openNote('x', 'x'),
  ]
  for (const use of uses) expect(use).toThrow('no keys')
  // Who only wants to know something again can do without.
  expect(none.mark('x')).toBeUndefined()
  expect(uses.length + 1).toBe(Object.keys(none).length)
})
