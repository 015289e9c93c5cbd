const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** What browsers take in a field for email addresses: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const pattern = new RegExp(`^[a-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`, 'i')

const mostBytes = 255

/** The address in its final form, trimmed and in lower case, or what is wrong with it. */
export function parseEmail(text: string): string | { message: string } {
  const email = text.trim()
  if (email === '') return { message: 'An email address is required' }
  if (Buffer.byteLength(email) > mostBytes) return { message: 'An email address is too long' }
  if (!pattern.test(email)) return { message: 'Unable to validate email address: invalid format' }
  return email.toLowerCase()
}
