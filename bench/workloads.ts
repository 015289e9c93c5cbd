import { mixedDay } from './day.ts'
import { identityWorkloads } from './identity-workloads.ts'
import { paymentsWorkloads } from './payments-workloads.ts'
import type { Workload } from './workload.ts'

export const workloads: readonly Workload[] = [...identityWorkloads, mixedDay, ...paymentsWorkloads]

/** What is measured when these are wanted: what one of them is compared with comes along. */
export function chooseWorkloads(names: readonly string[]): readonly Workload[] {
  const wanted = new Set(names)
  for (let size = 0; size !== wanted.size; ) {
    size = wanted.size
    for (const { name, compared = [], bare } of workloads) {
      if (!wanted.has(name)) continue
      for (const other of compared) wanted.add(other.with)
      if (bare !== undefined) wanted.add(bare)
    }
  }
  return workloads.filter(({ name }) => wanted.has(name))
}
