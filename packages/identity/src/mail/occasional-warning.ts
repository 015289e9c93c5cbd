import type { Clock } from '@tollgate/kit/clock'
import type { Log } from '@tollgate/kit/log'

const interval = 10 * 60 * 1000

/** Warns about one subject at most every ten minutes: a template that is broken is broken for every mail. */
export function occasionalWarning(log: Pick<Log, 'warn'>, now: Clock): (about: string, sentence: string) => void {
  const told = new Map<string, number>()
  return (about, sentence) => {
    const moment = now().getTime()
    if (moment - (told.get(about) ?? Number.NEGATIVE_INFINITY) < interval) return
    told.set(about, moment)
    log.warn({ template: withoutSecrets(about) }, sentence)
  }
}

/** User name, password and query are where secrets travel in an address. */
function withoutSecrets(about: string): string {
  return about.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//')
}
