import { mixedDay } from './day.ts'
import { identitySizes, identityWorkloads } from './identity-workloads.ts'
import { paymentsSizes, paymentsWorkloads } from './payments-workloads.ts'
import type { Workload } from './workload.ts'

/**
 * Those that are measured side by side. Each group has a PostgreSQL of its own, and no service is there that none of the group asks:
 * whoever works by the clock or fills the memory of the database beside them would have a part in their figures.
 */
const groups: readonly (readonly Workload[])[] = [identityWorkloads, paymentsWorkloads, [mixedDay], identitySizes, paymentsSizes]

export const workloads: readonly Workload[] = groups.flat()

/** What is measured when these are wanted, group by group: what one of them is compared with comes along. */
export function chooseWorkloads(names: readonly string[]): readonly (readonly Workload[])[] {
  const wanted = new Set(names)
  for (let size = 0; size !== wanted.size; ) {
    size = wanted.size
    for (const { name, compared = [], bare } of workloads) {
      if (!wanted.has(name)) continue
      for (const other of compared) wanted.add(other.with)
      if (bare !== undefined) wanted.add(bare)
    }
  }
  return groups.map((group) => group.filter(({ name }) => wanted.has(name))).filter((group) => group.length > 0)
}
