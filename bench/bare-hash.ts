import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { availableParallelism } from 'node:os'
import { createPasswords } from '../packages/identity/src/passwords/hashing.ts'

/** The yardstick for whoever has to hash a password: a hash of ours a request, on the least of servers, and nothing else. */
const { BARE_PORT: port, WORKERS: workers = '1' } = process.env

// One worker stands alone, like the services do it.
if (cluster.isPrimary && Number(workers) > 1) {
  for (let count = 0; count < Number(workers); count++) cluster.fork()
} else {
  const concurrency = Math.max(1, Math.floor(availableParallelism() / Number(workers)))
  const passwords = createPasswords({ concurrency, queue: Number.POSITIVE_INFINITY })
  createServer(async (request, response) => {
    response.end(request.url === '/health' ? '' : await passwords.hash('correct horse battery staple'))
  }).listen(Number(port), '127.0.0.1')
}
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
