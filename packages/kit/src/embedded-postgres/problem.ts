/** An error whose message is meant for a person. A class, so that a caller can tell it from a bug and omit the stack trace. */
export class PostgresProblem extends Error {
  override name = 'PostgresProblem'
}

const words: Record<string, string> = {
  EACCES: 'permission denied; make it accessible to this user, or choose another folder',
  EPERM: 'permission denied; make it accessible to this user, or choose another folder',
  EROFS: 'the file system is read-only; choose another folder',
  ENOSPC: 'no space is left on the disk; free some and start again',
  EDQUOT: 'the disk quota is used up; free some space and start again',
  ENOTDIR: 'a part of this path is a file; move it away or choose another folder',
  EEXIST: 'a part of this path is a file; move it away or choose another folder',
}

/** A failure of the file system in a sentence about the data folder; anything else comes back as it is. */
export function explain(error: unknown, folder: string): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error
  const cure = words[String(error.code)]
  const reason = cure && 'path' in error && error.path !== folder ? `${error.path}: ${cure}` : (cure ?? error.message)
  return new PostgresProblem(`PostgreSQL cannot keep its data in ${folder}: ${reason}.`, { cause: error })
}

/** What a program has to say about its failure, as a problem: the sentence, then the end of its output. */
export function failure(sentence: string, output: string): PostgresProblem {
  const full = /^.*No space left on device.*$/m.exec(output)
  if (full) return new PostgresProblem(`${sentence}: ${words.ENOSPC}:\n  ${full[0]}`)
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return new PostgresProblem([`${sentence}:`, ...lines.slice(-6)].join('\n  '))
}
