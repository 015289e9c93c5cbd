import { usualAccounts } from './accounts.ts'
import { createCleanup } from './cleanup.ts'
import { people, refreshes } from './identity-workloads.ts'
import type { Generator } from './measure.ts'
import { pairRequests } from './payments-workloads.ts'
import { peakMegabytes } from './processes.ts'
import { mixed, type Requests } from './requests.ts'
import type { Server, ServiceName } from './servers.ts'
import type { Stage } from './stage.ts'

/** The most memory that a service with one worker has held while so many connections asked it all at once. */
export type Memory = { service: ServiceName; connections: number; megabytes: number | undefined; errors: Record<string, number> }

const connections = 128

export async function measureMemory(stage: Stage, generator: Generator, seconds: number): Promise<Memory[]> {
  const [server, shop] = [await stage.accounts(), await stage.shops()]
  const looking = { share: 2, server: 0, requests: await stage.lookers(usualAccounts) }
  const refreshing = { share: 1, server: 0, requests: refreshes(people.memory, connections) }
  return [
    await measureOne('identity', server, mixed([looking, refreshing])),
    await measureOne('payments', shop.server, pairRequests(shop.headers)),
  ]

  /** One that was started for this, for the others have been through a lot. */
  async function measureOne(service: ServiceName, { again, database }: Server, requests: Requests): Promise<Memory> {
    console.error(`memory: ${service}, ${connections} connections`)
    const cleanup = createCleanup()
    stage.site.cleanup.later(() => cleanup.now())
    const fresh = await again?.(await stage.site.database.url(database), cleanup)
    if (!fresh) throw new Error(`${service} cannot be started twice`)
    const { errors } = await generator.run({ ports: [fresh.port], requests, connections, seconds })
    const megabytes = peakMegabytes(fresh.child.pid)
    await cleanup.now()
    return { service, connections, megabytes, errors }
  }
}
