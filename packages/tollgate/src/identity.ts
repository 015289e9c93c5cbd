import { runServiceCommand } from './commands.ts'
import { runToEnd } from './end.ts'
import { identityCommands } from './identity-commands.ts'

/** The entry of a container that runs the identity service alone. */
await runToEnd(() => runServiceCommand(identityCommands, process.argv.slice(2)))
