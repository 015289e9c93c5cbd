const begins = String.raw`(?:^|;)\s*`

const habits: readonly [RegExp, string][] = [
  [new RegExp(`${begins}(un)?listen\\b`, 'i'), 'LISTEN'],
  [/\bpg_(try_)?advisory_lock(_shared)?\s*\(/i, 'an advisory lock of the session'],
  [/\bpg_advisory_unlock/i, 'an advisory lock of the session'],
  [new RegExp(`${begins}(re)?set\\s+(?!local\\b|transaction\\b|constraints\\b)`, 'i'), 'SET without LOCAL'],
  [/\bset_config\s*\([^;]*,\s*false\s*\)/i, 'set_config for the session'],
  [new RegExp(`${begins}(prepare\\s+(?!transaction\\b)|deallocate\\b|discard\\b)`, 'i'), 'PREPARE, DEALLOCATE or DISCARD'],
  [new RegExp(`${begins}declare\\b[^;]*\\bwith\\s+hold\\b`, 'i'), 'a cursor WITH HOLD'],
  [/\bcreate\s+(local\s+|global\s+)?temp(orary)?\s+table\b(?![^;]*\bon\s+commit\s+drop\b)/i, 'a temporary table'],
  [new RegExp(`${begins}load\\b`, 'i'), 'LOAD'],
]

/**
 * What in a command would have to outlive its transaction in the session. PgBouncer lets it pass, and somebody else's session gets it; here
 * it is refused, so that whoever relies on it hears of it at once.
 */
export function sessionState(command: string): string | undefined {
  const words = command.replace(/--[^\n]*/g, '').replace(/\/\*[\s\S]*?\*\//g, '')
  return habits.find(([pattern]) => pattern.test(words))?.[1]
}
