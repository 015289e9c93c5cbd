import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createKeys } from '../jwt.ts'
import { stillClock } from '../testing.ts'
import { base64url, hmacToken, makeJwk, reasonOf, secret } from './testing.ts'

const now = stillClock()()
const claims = { sub: 'a', role: 'authenticated', exp: Math.floor(now.getTime() / 1000) + 3600 }
const keys = createKeys({ secret, jwks: [makeJwk('ES256')] })

describe('signed with the right key but not in the right form', () => {
  const long = { ...claims, filling: 'x'.repeat(13_000) }
  test.each<[string, string, string]>([
    [
      'crit',
      hmacToken({ alg: 'HS256', crit: ['exp'] }, claims),
      'token is unverifiable: critical header parameters are not supported',
    ],
    [
      'an empty crit',
      hmacToken({ alg: 'HS256', crit: [] }, claims),
      'token is unverifiable: critical header parameters are not supported',
    ],
    ['no alg', hmacToken({ typ: 'JWT' }, claims), 'token is unverifiable: signing method (alg) is unspecified'],
    ['alg in a list', hmacToken({ alg: ['HS256'] }, claims), 'token is unverifiable: signing method (alg) is unspecified'],
    ['alg in small letters', hmacToken({ alg: 'hs256' }, claims), 'token is unverifiable: signing method (alg) is unavailable'],
    ['alg none', hmacToken({ alg: 'none' }, claims), 'token signature is invalid: signing method none is invalid'],
    [
      'HS512',
      hmacToken({ alg: 'HS512' }, claims, secret.reveal(), 'sha512'),
      'token signature is invalid: signing method HS512 is invalid',
    ],
    [
      'HS256 by SHA-512',
      hmacToken({ alg: 'HS256' }, claims, secret.reveal(), 'sha512'),
      'token signature is invalid: signature is invalid',
    ],
    [
      'kid of another kind',
      hmacToken({ alg: 'HS256', kid: 'ES256' }, claims),
      'token signature is invalid: key is of invalid type',
    ],
    ['kid a number', hmacToken({ alg: 'HS256', kid: 1 }, claims), 'token is malformed: kid is not a string'],
    ['kid null', hmacToken({ alg: 'HS256', kid: null }, claims), 'token is malformed: kid is not a string'],
    [
      'alg twice',
      hmacToken('{"alg":"none","alg":"HS256"}', claims),
      'token is malformed: could not JSON decode header: it has a member twice',
    ],
    [
      'alg twice, once escaped',
      hmacToken('{"\\u0061lg":"none","alg":"HS256"}', claims),
      'token is malformed: could not JSON decode header: it has a member twice',
    ],
    [
      'role twice',
      hmacToken({ alg: 'HS256' }, '{"role":"a","role":"b"}'),
      'token is malformed: could not JSON decode claim: it has a member twice',
    ],
    [
      'twice deep inside',
      hmacToken({ alg: 'HS256' }, '{"a":[{"b":{"c":1,"c":1}}]}'),
      'token is malformed: could not JSON decode claim: it has a member twice',
    ],
    [
      'prototype twice',
      hmacToken({ alg: 'HS256' }, '{"__proto__":1,"__proto__":1}'),
      'token is malformed: could not JSON decode claim: it has a member twice',
    ],
    [
      'claims a list',
      hmacToken({ alg: 'HS256' }, []),
      'token is malformed: could not JSON decode claim: it is not a JSON object',
    ],
    [
      'claims null',
      hmacToken({ alg: 'HS256' }, null),
      'token is malformed: could not JSON decode claim: it is not a JSON object',
    ],
    [
      'claims a text',
      hmacToken({ alg: 'HS256' }, '"a"'),
      'token is malformed: could not JSON decode claim: it is not a JSON object',
    ],
    ['claims empty', hmacToken({ alg: 'HS256' }, ''), 'token is malformed: could not JSON decode claim: it is not a JSON object'],
    [
      'claims with more after them',
      hmacToken({ alg: 'HS256' }, '{} {}'),
      'token is malformed: could not JSON decode claim: it is not a JSON object',
    ],
    [
      'a mark in front of the claims',
      hmacToken({ alg: 'HS256' }, '\u{FEFF}{}'),
      'token is malformed: could not JSON decode claim: it is not a JSON object',
    ],
    ['header a list', hmacToken(['HS256'], claims), 'token is malformed: could not JSON decode header: it is not a JSON object'],
    [
      'header nested without end',
      hmacToken(`${'['.repeat(5000)}${']'.repeat(5000)}`, claims),
      'token is malformed: could not JSON decode header: it is not a JSON object',
    ],
    ['too long', hmacToken({ alg: 'HS256' }, long), 'token is malformed: token is longer than 16384 characters'],
    ['nothing', '', 'token is malformed: token contains an invalid number of segments'],
    ['dots', '..', 'token is malformed: could not JSON decode header: it is not a JSON object'],
    ['many dots', '.'.repeat(16_000), 'token is malformed: token contains an invalid number of segments'],
    [
      'a sign that is not base64url',
      'ab+c.e30.AA',
      'token is malformed: could not base64 decode header: illegal base64 data at input byte 2',
    ],
    [
      'claims that are not base64url',
      `${base64url({ alg: 'HS256' })}.a/b.AA`,
      'token is malformed: could not base64 decode claim: illegal base64 data at input byte 1',
    ],
    [
      'a signature of five letters',
      `${base64url({ alg: 'HS256' })}.e30.AAAAA`,
      'token is malformed: could not base64 decode signature: illegal base64 data at input byte 4',
    ],
  ])('%s', (_, token, reason) => {
    expect(reasonOf(keys, token, now)).toBe(reason)
  })

  test('claims that are not UTF-8', () => {
    const signed = `${base64url({ alg: 'HS256' })}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}`
    const token = `${signed}.${createHmac('sha256', secret.reveal()).update(signed).digest('base64url')}`
    expect(reasonOf(keys, token, now)).toBe('token is malformed: could not JSON decode claim: it is not UTF-8')
  })

  test('colons, quotes and backslashes in texts are not taken for members', () => {
    const odd = { 'a:b': ':', '"': '\\', '\\"': '":"', c: { 'd:': [':', { ':': null }] } }
    expect(keys.verify(hmacToken({ alg: 'HS256' }, odd), now)).toEqual(odd)
  })
})
