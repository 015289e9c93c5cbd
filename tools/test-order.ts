import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take long, the longest first. A machine that has run them before knows better; on one that has not, their size would decide,
 * and twenty lines that fill a disk would come last, with one worker left and nothing for the other to do.
 */
export const longFiles: readonly string[] = [
  'bench/all-workloads.test.ts',
  'packages/tollgate/src/fuzz-payments.test.ts',
  'packages/tollgate/src/fuzz.test.ts',
  'e2e/checkout-page.test.ts',
  'packages/identity/src/discovery.test.ts',
  'packages/payments/src/operations/crashes.test.ts',
  'e2e/refresh-storm.test.ts',
  'packages/tollgate/src/command-line.test.ts',
  'e2e/security-injection.test.ts',
  'e2e/standby.test.ts',
  'e2e/device-browser.test.ts',
  'e2e/payments-guides.test.ts',
  'e2e/backup.test.ts',
  'e2e/torture.test.ts',
  'e2e/demo-shop.test.ts',
  'e2e/torture-identity.test.ts',
  'e2e/payments-kill.test.ts',
  'e2e/link-page.test.ts',
  'e2e/security-redirect.test.ts',
  'tools/fuzz.test.ts',
  'e2e/security-secrets.test.ts',
  'e2e/security-pages.test.ts',
  'packages/identity/src/providers/wire.test.ts',
  'packages/tollgate/src/serve.test.ts',
  'e2e/torture-acquirer.test.ts',
  'e2e/messages.test.ts',
  'e2e/popup.test.ts',
  'e2e/security-guessing.test.ts',
  'e2e/dev-provider.test.ts',
  'e2e/torture-disk.test.ts',
  'e2e/dev.test.ts',
]

/** Those of the list in its order, and then the others as they come. */
export function longestFirst<T>(files: readonly T[], pathOf: (file: T) => string): T[] {
  const rank = (file: T) => {
    const place = longFiles.indexOf(pathOf(file))
    return place === -1 ? longFiles.length : place
  }
  return files.toSorted((one, other) => rank(one) - rank(other))
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    if (files.every((file) => this.ctx.cache.getTestSpecificationResult(file))) return sorted
    return longestFirst(sorted, ({ moduleId }) => relative(this.ctx.config.root, moduleId))
  }
}
