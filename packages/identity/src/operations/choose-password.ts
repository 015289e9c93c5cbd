import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { breached, isOverlong, overlongPassword, passwordProblems, type Weakness, weaknessReport } from '../rules/password.ts'

/** Refuses a password that nobody should have. Outside of any transaction: others may have to be asked. */
export async function checkPassword(app: App, password: string): Promise<void> {
  if (isOverlong(password)) throw fail('validation_failed', { message: overlongPassword })
  const problems = await weaknessesOf(app, password)
  if (problems.length === 0) return
  const { message, reasons } = weaknessReport(problems)
  throw fail('weak_password', { message, more: { weak_password: { reasons } } })
}

/** The same, and its hash. */
export async function choosePassword(app: App, password: string): Promise<string> {
  await checkPassword(app, password)
  return app.passwords.hash(password)
}

async function weaknessesOf({ config, isBreached }: App, password: string): Promise<Weakness[]> {
  const problems = passwordProblems(password, config.password)
  // One that is refused anyway is nobody else's business.
  return problems.length === 0 && (await isBreached?.(password)) ? [breached] : problems
}

/** What is wrong by today's rules with a password that opened the account. Null when nothing is. */
export function reportWeakness({ config }: App, password: string) {
  const problems = passwordProblems(password, config.password)
  return problems.length === 0 ? null : weaknessReport(problems)
}
