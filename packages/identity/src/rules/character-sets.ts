/** `abc:0123:\:!` → three sets, the last holding a colon and an exclamation mark: a password needs one character of each. */
export function parseCharacterSets(text: string): readonly string[] {
  return text
    .split(/(?<!\\):/)
    .map((set) => set.replaceAll('\\:', ':'))
    .filter((set) => set !== '')
}
