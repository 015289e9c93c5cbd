/** The words of a command as a shell makes them: quotes are taken off, and `$NAME` is filled in wherever they are not single ones. */
export function shellWords(command: string, lookUp = (name: string) => `$${name}`): string[] {
  const fill = (text: string) =>
    text.replaceAll(/\\(.)|\$([A-Z_][A-Z_\d]*)/g, (_, plain, name) => (name === undefined ? plain : lookUp(name)))
  const words = command.match(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"])+/g) ?? []
  return words.map((word) =>
    word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|([^'"]+)/g, (_, single, double, bare) => single ?? fill(double ?? bare)),
  )
}

/** Does what a curl command in our documents would do, on machines that have no curl: -s, -u, -d, -H, -X and an address. */
export async function curl(command: string, lookUp?: (name: string) => string): Promise<{ status: number; text: string }> {
  const [program, ...words] = shellWords(command, lookUp)
  if (program !== 'curl') throw new Error(`Not a curl command: ${command}`)
  const headers = new Headers()
  let body: string | undefined
  let url = ''
  let method: string | undefined
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '-s') continue
    if (word === '-u') headers.set('authorization', `Basic ${Buffer.from(words[++index] ?? '').toString('base64')}`)
    else if (word === '-X') method = words[++index]
    else if (word === '-d') body = [...(body === undefined ? [] : [body]), words[++index] ?? ''].join('&')
    else if (word === '-H') headers.append(...((words[++index] ?? '').split(/:\s*/, 2) as [string, string]))
    else if (word.startsWith('-')) throw new Error(`Documents use ${word}, which the test does not know yet`)
    else url = word
  }
  // What curl takes for a range of addresses.
  if (/[[\]{}]/.test(url)) throw new Error(`curl cannot ask for ${url}: write brackets as %5B and %5D`)
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded')
  method ??= body === undefined ? 'GET' : 'POST'
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  return { status: answer.status, text: await answer.text() }
}
