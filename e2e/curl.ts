/** Does what a curl command in our documents would do, on machines that have no curl: -u, -d, -H, -X and an address. */
export async function curl(command: string): Promise<{ status: number; text: string }> {
  const [program, ...words] = [...command.matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '',
  )
  if (program !== 'curl') throw new Error(`Not a curl command: ${command}`)
  const headers = new Headers()
  let body: string | undefined
  let url = ''
  let method: string | undefined
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '-u') headers.set('authorization', `Basic ${Buffer.from(words[++index] ?? '').toString('base64')}`)
    else if (word === '-X') method = words[++index]
    else if (word === '-d') body = [...(body === undefined ? [] : [body]), words[++index] ?? ''].join('&')
    else if (word === '-H') headers.append(...((words[++index] ?? '').split(/:\s*/, 2) as [string, string]))
    else if (word.startsWith('-')) throw new Error(`Documents use ${word}, which the test does not know yet`)
    else url = word
  }
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded')
  method ??= body === undefined ? 'GET' : 'POST'
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  return { status: answer.status, text: await answer.text() }
}
