/** Who did what nobody in particular did. */
export const nobody = '00000000-0000-0000-0000-000000000000'

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
