const dots = '•'.repeat(16)

/** How a value is shown until somebody asks to see it; undefined when there is nothing to hide. */
export function mask(name: string, value: string): string | undefined {
  const withoutPassword = value.replace(/(:\/\/[^:@/]*:).+@/, '$1••••••@')
  if (withoutPassword !== value) return withoutPassword
  if (/anon|public|publishable/i.test(name)) return undefined
  return /secret|password|private|token|service|admin|key/i.test(name) ? dots : undefined
}
