import type { App } from '../app.ts'
import { deleteExpiredSecurityCodes } from '../store/security-codes.ts'

/** Of payments that were never made: their security codes must not stay readable for whoever kept the tokens. */
export async function sweepSecurityCodes({ db, now }: Pick<App, 'db' | 'now'>, atOnce = 10_000): Promise<void> {
  while ((await deleteExpiredSecurityCodes(db, now(), atOnce)) === atOnce);
}
