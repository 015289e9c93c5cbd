import { readMigrations } from '@tollgate/kit/migrate'

/** A bundle carries the files' contents here instead: see tools/build.ts. */
export const migrations = readMigrations(new URL('../migrations/', import.meta.url))
