import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseMasterKeys } from '@tollgate/payments/vault/master-keys'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { Mistake } from '../mistake.ts'
import { keepSecrets } from './secrets.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-secrets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
})

const file = () => join(folder, 'secrets.json')
const write = (content: unknown) => writeFile(file(), JSON.stringify(content))
const read = async () => JSON.parse(await readFile(file(), 'utf8')) as unknown

const old = {
  jwtSecret: 'kept since long ago',
  app: { id: '5d18a5000000000000000001', key: 'a key', created: '2025-01-01T00:00:00.000Z' },
}

test('what is made at the first start is there at every other, for nobody but its owner', async () => {
  const secrets = keepSecrets(folder)
  expect(parseMasterKeys(secrets.vaultKey)).not.toHaveProperty('expected')
  expect(keepSecrets(folder)).toEqual(secrets)
  expect(await read()).toEqual(secrets)
  expect((await stat(file())).mode & 0o777).toBe(0o600)
})

test('a file from before there was a vault keeps what it has, and gets a key that stays', async () => {
  await write(old)
  const secrets = keepSecrets(folder)
  expect(secrets).toEqual({ ...old, vaultKey: expect.any(String) })
  expect(parseMasterKeys(secrets.vaultKey)).not.toHaveProperty('expected')
  expect(await read()).toEqual(secrets)
  expect(keepSecrets(folder)).toEqual(secrets)
  expect(await readdir(folder)).toEqual(['secrets.json'])
  expect((await stat(file())).mode & 0o777).toBe(0o600)
})

test.each([
  ['no object', []],
  ['no app', { jwtSecret: 'x' }],
  ['a key of the vault that is none', { ...old, vaultKey: 'x' }],
  ['a key of the vault that is no text', { ...old, vaultKey: 1 }],
])('%s is not overwritten, but complained about', async (_, content) => {
  await write(content)
  expect(() => keepSecrets(folder)).toThrow(Mistake)
  expect(await read()).toEqual(content)
})
