/** A name of a kind that HTTP allows: any other could never arrive, and node:http refuses to send it. */
export function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text)
}

/** `X-Shop, X-Device` → both names; undefined when one of them cannot be a header. */
export function parseHeaderNames(text: string): readonly string[] | undefined {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.every(isHeaderName) ? names : undefined
}
