import { inspect } from 'node:util'

const hidden = '[secret]'

/**
 * A value that cannot be printed by accident: logs, JSON, string templates and the inspector all show a placeholder.
 * A class, because the type itself is what the logger and the reader of the code recognise it by.
 */
export class Secret<T = string> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [inspect.custom](): string {
    return hidden
  }
}
