/** Packages that are compiled for one machine, packed with brotli in base64. Only a bundle carries any: see tools/build.ts. */
export const carriedAddons: Readonly<Record<string, { platform: string; content: string }>> = {}
