import { identity } from '@tollgate/identity/main'
import { runServiceCommand, serviceCommands } from './commands.ts'
import { runToEnd } from './end.ts'

/** The entry of a container that runs the identity service alone. */
await runToEnd(() => runServiceCommand(serviceCommands(identity), process.argv.slice(2)))
