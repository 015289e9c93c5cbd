import { setTimeout as sleep } from 'node:timers/promises'
import { createCleanup } from './cleanup.ts'
import { residentMegabytes } from './processes.ts'
import { type ServiceName, type Site, startService } from './servers.ts'
import { median } from './statistics.ts'

export type ColdStart = { service: ServiceName; seconds: number[]; medianSeconds: number; idleMegabytes: number | undefined }

const times = 5

/** How long a service with one worker takes to its first 200, and how much memory it then holds when nobody asks. */
export async function measureColdStart(service: ServiceName, site: Site): Promise<ColdStart> {
  console.error(`cold start: ${service} serve`)
  const seconds: number[] = []
  let idleMegabytes: number | undefined
  // The first one migrates the database, and is not counted.
  for (let count = 0; count <= times; count++) {
    const cleanup = createCleanup()
    site.cleanup.later(() => cleanup.now())
    const started = performance.now()
    const { child } = await startService(service, { ...site, workers: 1, cleanup })
    if (count > 0) seconds.push((performance.now() - started) / 1000)
    if (count === times) {
      await sleep(2_000)
      idleMegabytes = residentMegabytes(child.pid)
    }
    await cleanup.now()
  }
  return { service, seconds, medianSeconds: median(seconds), idleMegabytes }
}
