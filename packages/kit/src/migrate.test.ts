import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type Migration, migrate, readMigrations } from './migrate.ts'
import { scratchDatabase } from './testing.ts'

let url: string
let client: pg.Client
beforeEach(async () => {
  const database = await scratchDatabase()
  url = database.url
  client = new pg.Client(url)
  await client.connect()
  return async () => {
    await client.end()
    await database.drop()
  }
})

const notes: Migration = { version: '0001', name: 'notes', sql: 'create table auth.notes (text text); create table auth.more ()' }
const seeds: Migration = { version: '0002', name: 'seeds', sql: "insert into auth.notes values ('a')" }
const third: Migration = { version: '0003', name: 'third', sql: "insert into auth.notes values ('b')" }

function bring(migrations: Migration[], actual = 'auth', to = url): Promise<string[]> {
  return migrate({ url: to, schema: { written: 'auth', actual }, migrations })
}

async function ask<Row>(statement: string): Promise<Row[]> {
  return (await client.query(statement)).rows
}

test('migrations are applied in order and once, and the new ones are named', async () => {
  expect(await bring([notes, seeds])).toEqual(['0001_notes', '0002_seeds'])
  expect(await bring([notes, seeds])).toEqual([])
  expect(await bring([notes, seeds, third])).toEqual(['0003_third'])
  expect(await ask('select text from auth.notes')).toEqual([{ text: 'a' }, { text: 'b' }])
  expect(await ask('select version, name from auth.schema_migrations order by version')).toEqual([
    { version: '0001', name: 'notes' },
    { version: '0002', name: 'seeds' },
    { version: '0003', name: 'third' },
  ])
})

test('ten that start at once apply each migration once', async () => {
  const applied = await Promise.all(Array.from({ length: 10 }, () => bring([notes, seeds, third])))
  expect(applied.filter((names) => names.length > 0)).toEqual([['0001_notes', '0002_seeds', '0003_third']])
  expect(await ask('select text from auth.notes')).toHaveLength(2)
})

test('a migration that fails names itself and leaves nothing, not even those before it', async () => {
  const broken = { version: '0002', name: 'broken', sql: "insert into auth.notes values ('x'); select 1 / 0" }
  await expect(bring([notes, broken])).rejects.toThrow('Migration 0002_broken failed and nothing was changed: division by zero')
  expect(await ask("select to_regnamespace('auth') as found")).toEqual([{ found: null }])
  expect(await bring([notes, seeds])).toEqual(['0001_notes', '0002_seeds'])
})

test('a migration that was edited after it had been applied is refused', async () => {
  await bring([notes])
  const edited = { ...notes, sql: `${notes.sql} ` }
  await expect(bring([edited, seeds])).rejects.toThrow(/^Migration 0001_notes was changed after this database applied it/)
  expect(await ask('select text from auth.notes')).toEqual([])
})

test('another schema takes the place of the one that migrations are written for, even one named like a word of SQL', async () => {
  await bring([notes, seeds], 'order')
  await bring([notes], 'auth')
  expect(await ask('select text from "order".notes')).toEqual([{ text: 'a' }])
  expect(await ask('select version from "order".schema_migrations')).toHaveLength(2)
  expect(await ask('select text from auth.notes')).toEqual([])
})

test('a database that is ahead of the program is accepted', async () => {
  await bring([notes, seeds, third])
  expect(await bring([notes, seeds])).toEqual([])
})

test('a database that is up to date is asked two questions', async () => {
  await bring([notes])
  const asked = vi.spyOn(pg.Client.prototype, 'query')
  onTestFinished(() => asked.mockRestore())
  await bring([notes])
  expect(asked).toHaveBeenCalledTimes(2)
})

test('a role that may not create schemas can migrate one that was made for it', async () => {
  const role = `modest_${Date.now()}`
  await ask(`create role ${role} login; create schema auth authorization ${role}`)
  const modest = new URL(url)
  modest.username = role
  expect(await bring([notes], 'auth', modest.href)).toEqual(['0001_notes'])
  await ask(`drop owned by ${role} cascade; drop role ${role}`)
})

test('a dump that brings numbers of another program’s migrations can be loaded beside ours', async () => {
  await bring([notes])
  await ask("insert into auth.schema_migrations (version) values ('20171026211738')")
  expect(await bring([notes, seeds])).toEqual(['0002_seeds'])
})

test.each([
  ['a name without a number', ['apps.sql'], 'apps.sql is not named like 0001_what.sql'],
  ['a number twice', ['0001_one.sql', '0002_two.sql', '0002_deux.sql'], 'Two migrations have the number 0002'],
])('a folder with %s is refused', async (_, files, sentence) => {
  const folder = await folderWith(files)
  expect(() => readMigrations(folder)).toThrow(sentence)
})

test('a folder is read in the order of its numbers', async () => {
  const folder = await folderWith(['0010_ten.sql', '0002_two.sql', 'readme.md'])
  expect(readMigrations(folder)).toEqual([
    { version: '0002', name: 'two', sql: '0002_two.sql' },
    { version: '0010', name: 'ten', sql: '0010_ten.sql' },
  ])
})

async function folderWith(files: string[]): Promise<URL> {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-migrations-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const folder = join(home, 'migrations')
  await mkdir(folder)
  for (const file of files) await writeFile(join(folder, file), file)
  return pathToFileURL(`${folder}/`)
}

test('a schema that another program migrates is left alone, and that is said in a sentence', async () => {
  await client.query('create schema auth; create table auth.schema_migrations (version varchar(14) not null)')
  await expect(bring([notes])).rejects.toThrow('The schema auth holds the tables of another program.')
  expect(await ask('select version from auth.schema_migrations')).toEqual([])
})
