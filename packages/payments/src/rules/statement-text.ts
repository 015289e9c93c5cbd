/** What a shop wants on the statement, as banks can print it: what they cannot is replaced, and what is too long is cut. */
export function statementText(text: string): string {
  return Array.from(text.normalize('NFKD').replace(/\p{Mark}/gu, ''), (character) =>
    /^[\x20-\x7e]$/.test(character) ? character : '?',
  )
    .join('')
    .slice(0, 22)
}
