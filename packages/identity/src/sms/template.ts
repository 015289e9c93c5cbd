const place = /\{\{\s*\.Code\s*\}\}/g

/** SMS_TEMPLATE with the code in its place. */
export function smsText(template: string, code: string): string {
  return template.replace(place, () => code)
}

/** A template that the settings name, or what one has to be like: of all that Go templates can do, an SMS needs the code alone. */
export function parseSmsTemplate(text: string): string | { expected: string } {
  const pieces = text.split(place)
  if (pieces.length === 1) return { expected: 'a text with {{ .Code }} where the code goes' }
  // Braces that were left over were meant to be something, and would stand in somebody's SMS as they are.
  if (pieces.some((piece) => /\{\{|\}\}/.test(piece)))
    return { expected: 'a text with {{ .Code }} and nothing else in double braces' }
  return text
}
