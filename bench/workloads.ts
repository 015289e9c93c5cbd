import { identityWorkloads } from './identity-workloads.ts'
import { paymentsWorkloads } from './payments-workloads.ts'
import type { Workload } from './workload.ts'

export const workloads: readonly Workload[] = [...identityWorkloads, ...paymentsWorkloads]

/** What is measured when these are wanted: what one of them is compared with, or paced by, comes along. */
export function chooseWorkloads(names: readonly string[]): readonly Workload[] {
  const wanted = new Set(names)
  for (let size = 0; size !== wanted.size; ) {
    size = wanted.size
    for (const { name, compared = [], within } of workloads) {
      if (!wanted.has(name)) continue
      for (const other of compared) wanted.add(other.with)
      if (within) wanted.add(within.of)
    }
  }
  return workloads.filter(({ name }) => wanted.has(name))
}
