/** Does what a curl command in our documents would do, on machines that have no curl: -u, -d, -H and an address. */
export async function curl(command: string): Promise<{ status: number; text: string }> {
  const [program, ...words] = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )
  if (program !== 'curl') throw new Error(`Not a curl command: ${command}`)
  const headers = new Headers()
  let body: string | undefined
  let url = ''
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '-u') headers.set('authorization', `Basic ${Buffer.from(words[++index] ?? '').toString('base64')}`)
    else if (word === '-d') body = words[++index] ?? ''
    else if (word === '-H') headers.append(...((words[++index] ?? '').split(/:\s*/, 2) as [string, string]))
    else if (word.startsWith('-')) throw new Error(`Documents use ${word}, which the test does not know yet`)
    else url = word
  }
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded')
  const answer = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) })
  return { status: answer.status, text: await answer.text() }
}
