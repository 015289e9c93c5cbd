import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Where all that a database keeps stands in the end: every file of it, and among them its log of changes and its log of statements. */
export function databaseFiles(folder: string) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const changes = files.filter((file) => basename(join(file, '..')) === 'pg_wal')
  const statements = files.filter((file) => file.endsWith('.log'))
  if (changes.length === 0 || statements.length === 0)
    throw new Error(`there is no log of changes, or none of statements, in ${folder}`)
  return { files, changes: readAll(changes, 'latin1'), statements: readAll(statements, 'utf8') }
}

function readAll(files: readonly string[], encoding: 'latin1' | 'utf8'): string {
  return files.map((file) => readFileSync(file, encoding)).join('\n')
}
