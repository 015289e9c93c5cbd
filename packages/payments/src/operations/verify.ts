import type { Db } from '@tollgate/kit/db'
import { isId } from '@tollgate/kit/id'
import { listApps } from '../store/apps.ts'

export type Verdict = { apps: number; breaches: string[] }

/** Reads everything once, in pages, and names whatever breaks a promise of ours. */
export async function verify(db: Db, now: Date): Promise<Verdict> {
  const verdict: Verdict = { apps: 0, breaches: [] }
  let after = ''
  for (;;) {
    const page = await listApps(db, { after, limit: 1000 })
    for (const app of page) {
      verdict.apps++
      if (!isId(app.id)) verdict.breaches.push(`app ${app.id} has an id that is not 24 hex digits`)
      if (app.created > now) verdict.breaches.push(`app ${app.id} was created in the future, at ${app.created.toISOString()}`)
    }
    const last = page.at(-1)
    if (!last) return verdict
    after = last.id
  }
}
