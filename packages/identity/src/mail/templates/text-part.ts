import type { Words } from './words.ts'

export function textPart({ heading, paragraphs, button, code, notes }: Words, site: string): string {
  const parts = [
    heading,
    ...paragraphs,
    ...(button ? [`${button.label}:\n${button.link}`] : []),
    ...(code ? [`${code.introduction}\n${code.digits}`] : []),
    ...notes,
    site,
  ]
  return `${parts.join('\n\n')}\n`
}
