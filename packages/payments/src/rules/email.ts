const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** As the identity service takes them: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const pattern = new RegExp(`^[a-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`, 'i')

const longest = 255

/**
 * The address in its final form, trimmed and in lower case, or undefined where it is none. Checked first and lowered then: letters
 * outside ASCII that become plain ones, such as the Kelvin sign, would otherwise make two addresses one.
 */
export function settleEmail(text: string): string | undefined {
  const email = text.trim()
  return email.length <= longest && pattern.test(email) ? email.toLowerCase() : undefined
}
