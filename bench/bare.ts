import cluster from 'node:cluster'
import { createServer } from 'node:http'

/** The least that node:http can be asked to do: the yardstick for a service that answers the same bytes. */
const { BARE_PORT: port, BARE_BODY: body = '', BARE_TYPE: contentType = '', WORKERS: workers } = process.env

// One worker stands alone, like the services do it.
if (cluster.isPrimary && Number(workers) > 1) {
  for (let count = 0; count < Number(workers); count++) cluster.fork()
} else {
  const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }
  createServer((_request, response) => {
    response.writeHead(200, headers)
    response.end(body)
  }).listen(Number(port), '127.0.0.1')
}
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
