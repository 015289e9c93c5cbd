/** A number without the plus, spaces and brackets that people write; nothing is checked. */
export function stripPhone(text: string): string {
  return text.replaceAll(/[ ()]/g, '').replace(/^\+/, '')
}

/** The number as it is kept, digits alone and the country's first, or what is wrong with it. */
export function parsePhone(text: string): string | { message: string } {
  const phone = stripPhone(text)
  return /^[1-9]\d{1,14}$/.test(phone) ? phone : { message: 'Invalid phone number format (E.164 required)' }
}
