import { execSync } from 'node:child_process'
import pg from 'pg'

/**
 * As much of psql as deploy/backup/base-backup.sh needs, for machines that have none: statements of one line, `\!` and `\o |`, of which
 * the answers come without a frame. The last word of the command line names the database.
 */
const script = (await process.stdin.toArray()).join('')
const client = new pg.Client(process.argv.at(-1))
await client.connect()
let pipe: string | undefined
let piped = ''

for (const line of script.split('\n').filter((each) => each !== '')) {
  const [, word, rest = ''] = /^\\([!o])\s*(.*)$/.exec(line) ?? []
  if (word === '!') shell(rest)
  else if (word === 'o') {
    if (pipe !== undefined) execSync(pipe, { input: piped, stdio: ['pipe', 'inherit', 'inherit'] })
    pipe = rest === '' ? undefined : rest.replace(/^\|\s*/, '')
    piped = ''
  } else {
    const { rows } = await client.query({ text: line, rowMode: 'array' })
    const text = rows.map((row) => `${row.join('|')}\n`).join('')
    if (pipe === undefined) process.stdout.write(text)
    else piped += text
  }
}
await client.end()

/** What goes wrong there is no error of psql's. */
function shell(command: string) {
  try {
    execSync(command, { stdio: 'inherit' })
  } catch {}
}
