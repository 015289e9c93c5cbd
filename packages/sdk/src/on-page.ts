import { type Options, Paylike } from './paylike.ts'

// Known only while the script runs for the first time.
const script = document.currentScript

/** A page that loads this from the payments service has said with that where the service is. */
Object.assign(window, {
  Paylike(options: Options) {
    const here = script instanceof HTMLScriptElement && script.src !== '' ? { url: new URL('.', script.src).href } : {}
    return Paylike(typeof options === 'object' && options !== null ? { ...here, ...options } : options)
  },
})
