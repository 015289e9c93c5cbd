#!/usr/bin/env node
// Plain JavaScript that an old Node reads as well, to be able to say that it is too old.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`tollgate needs Node 24 or newer; this is ${process.version}. In a checkout, npm start brings its own.`)
  process.exit(1)
}
await import('../src/main.ts')
