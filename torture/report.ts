import type { Report } from './run.ts'
import type { Strike } from './schedule.ts'

export function tellStrike(moment: number, { fault, lasting, lot, coin }: Strike): string {
  return `${(moment / 1000).toFixed(1).padStart(7)} s  ${fault.padEnd(8)} (${lasting} ms, ${lot.toFixed(2)}, ${coin ? 'heads' : 'tails'})`
}

/** So many findings of one kind are told; the rest are counted. */
const most = 5

/** What a run came to, and how to do it again. */
export function tellReport(
  { service, findings, strikes, proxy, processes, trouble, figures }: Omit<Report, 'history' | 'log'>,
  { seed, seconds, faults }: { seed: number; seconds: number; faults: readonly string[] },
): string {
  const list = (counts: object) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')
  const byRule = [...Map.groupBy(findings, ({ rule }) => rule)]
  return [
    `clients   ${list(figures)}`,
    `strikes   ${list(strikes)}`,
    `proxy     ${list(proxy)}`,
    `service   ${list(processes)}`,
    ...Object.entries(trouble).map(([line, count]) => `log       ${count} × ${line}`),
    ...byRule.flatMap(([rule, found]) => [
      `FOUND     ${rule}: ${found.length}`,
      ...found.slice(0, most).map(({ what }) => `  ${what}`),
    ]),
    findings.length === 0
      ? `${service}: nothing lost, nothing doubled. Seed ${seed}.`
      : `${findings.length} findings. The same again: npm run torture -- --service ${service} --seed ${seed} --minutes ${seconds / 60} --faults ${faults.join(',')} --keep FOLDER`,
  ].join('\n')
}
