import { createHash } from 'node:crypto'

/** Somebody whom the test provider lets in. */
export type Person = { email: string; verified: boolean; name?: string }

/** Made up, with what real providers surprise with: an address that they do not vouch for, a name that they do not tell. */
export const people: Readonly<Record<string, Person & { remark: string }>> = {
  ada: {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    verified: true,
    remark: 'With a name, a picture and a verified address',
  },
  ben: { name: 'Ben Carter', email: 'ben@example.com', verified: false, remark: 'With an address that is not verified' },
  nameless: { email: 'nameless@example.com', verified: true, remark: 'Without a name' },
}

/** The same address is the same person, also after a restart. */
export function subjectOf({ email }: Person): string {
  return createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 24)
}

export function claimsOf(person: Person, issuer: string): Record<string, unknown> & { sub: string } {
  const { email, verified, name } = person
  const told = { sub: subjectOf(person), email, email_verified: verified, preferred_username: email.split('@')[0], locale: 'en' }
  if (name === undefined) return told
  const [given = '', ...rest] = name.split(/\s+/)
  return {
    ...told,
    name,
    given_name: given,
    ...(rest.length > 0 ? { family_name: rest.join(' ') } : {}),
    picture: `${issuer}${picturePath(person)}`,
  }
}

/** Two letters on a coloured ground. */
export function picturePath({ name, email }: Person): string {
  const initials = (name ?? email)
    .split(/[^\p{L}]+/u)
    .map((word) => [...word][0] ?? '')
    .join('')
  return `/pictures/${encodeURIComponent([...initials.toUpperCase()].slice(0, 2).join('') || '-')}.svg`
}

export type Typed = { name: string; email: string; verified: boolean }

const longest = 200

/** Somebody as typed into the form, or what is wrong with them. */
export function readPerson({ name, email, verified }: Typed): Person | { complaint: string } {
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) return { complaint: 'An email address is a name, an @ and a domain.' }
  if (email.length > longest || name.length > longest)
    return { complaint: `Names and addresses here are at most ${longest} letters long.` }
  return { email, verified, ...(name === '' ? {} : { name }) }
}
