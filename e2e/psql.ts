import pg from 'pg'

/** Does what `psql --single-transaction --set ON_ERROR_STOP=1` would do with a dump, on machines that have no psql. */
export async function psql(url: string, dump: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query('begin')
    for (const { text, rows } of statementsOf(dump)) await (rows === undefined ? client.query(text) : copy(client, text, rows))
    await client.query('commit')
  } finally {
    await client.end()
  }
}

type Statement = { text: string; rows?: string }

/** Statements end with a semicolon at the end of a line; those that read rows are followed by them. */
function* statementsOf(dump: string): Generator<Statement> {
  const lines = dump.split('\n')
  let text = ''
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    // Comments, and words that psql says to itself.
    if (text === '' && (line === '' || line.startsWith('--') || line.startsWith('\\'))) continue
    text += `${line}\n`
    if (!line.endsWith(';')) continue
    if (line.endsWith('FROM stdin;')) {
      const end = lines.indexOf('\\.', index)
      yield {
        text,
        rows: lines
          .slice(index + 1, end)
          .map((row) => `${row}\n`)
          .join(''),
      }
      index = end
    } else yield { text }
    text = ''
  }
  if (text !== '') throw new Error(`The dump ends in the middle of a statement: ${text.slice(0, 100)}`)
}

/** The driver speaks the protocol of COPY, but leaves it to others to use it. */
function copy(client: pg.Client, text: string, rows: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = Object.assign(new pg.Query(text), {
      handleCopyInResponse(connection: { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }) {
        connection.sendCopyFromChunk(Buffer.from(rows))
        connection.endCopyFrom()
      },
    })
    query.on('end', () => resolve())
    query.on('error', reject)
    client.query(query)
  })
}
