export type PasswordPolicy = {
  minLength: number
  requiredCharacters: readonly string[]
  /** In small letters. */
  forbiddenWords: readonly string[]
}

export type WeaknessReason = 'length' | 'characters' | 'words' | 'pwned'
export type Weakness = { reason: WeaknessReason; message: string }

/** Not a weakness but a refusal of its own: bcrypt, which clients still expect behind this service, reads no further. */
export const overlongPassword = 'Password cannot be longer than 72 characters'

/** Found out by asking others, so not by a rule; its words stand here with the rest. */
export const breached: Weakness = {
  reason: 'pwned',
  message: 'Password is known to be weak and easy to guess, please choose a different one.',
}

const mostBytes = 72
const leastMinimum = 6

/** Lengths are in bytes of UTF-8, here and below, whatever the messages call them: existing clients are told the same. */
export function isOverlong(password: string): boolean {
  return Buffer.byteLength(password) > mostBytes
}

/** What is wrong with a password, in the order and the words that clients know. */
export function passwordProblems(password: string, policy: PasswordPolicy): Weakness[] {
  const { minLength, requiredCharacters, forbiddenWords } = policy
  const problems: Weakness[] = []
  const least = Math.max(leastMinimum, minLength)
  if (Buffer.byteLength(password) < least) {
    problems.push({ reason: 'length', message: `Password should be at least ${least} characters.` })
  }
  const sets = requiredCharacters.filter((set) => set !== '')
  if (!sets.every((set) => hasOneOf(password, set))) {
    const message = `Password should contain at least one character of each: ${sets.join(', ')}.`
    problems.push({ reason: 'characters', message })
  }
  const small = password.toLowerCase()
  if (forbiddenWords.some((word) => small.includes(word))) {
    // Which word it was is not told: the list tells strangers what people here would choose.
    problems.push({ reason: 'words', message: 'Password contains a word that is too easy to guess here.' })
  }
  return problems
}

const leastWord = 3

/** Whoever forbade a single letter would have nobody join any more, and not know why. */
export function parseForbiddenWords(text: string): string[] | { expected: string } {
  const words = text.split(',').map((word) => word.trim().toLowerCase())
  const given = words.filter((word) => word !== '')
  return given.every((word) => [...word].length >= leastWord)
    ? given
    : { expected: `words of at least ${leastWord} letters, divided by commas` }
}

/** As the error says it, and as a sign-in with a password that has become too weak reports it. */
export function weaknessReport(problems: readonly Weakness[]): { message: string; reasons: WeaknessReason[] } {
  return { message: problems.map(({ message }) => message).join(' '), reasons: problems.map(({ reason }) => reason) }
}

function hasOneOf(password: string, set: string): boolean {
  // By code points, or half of an emoji would stand for another.
  const wanted = new Set(set)
  return [...password].some((character) => wanted.has(character))
}
