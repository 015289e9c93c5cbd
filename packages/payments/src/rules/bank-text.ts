/** Small letters that have a spelling of their own in plain Latin; others lose what they wear above and below. */
const spellings: Readonly<Record<string, string>> = {
  // German, Danish, Norwegian, Swedish, Icelandic, Faroese
  ...{ ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss', æ: 'ae', ø: 'oe', å: 'aa', ð: 'd', þ: 'th' },
  // Polish, Croatian, French, Maltese, Turkish, Sámi
  ...{ ł: 'l', đ: 'd', œ: 'oe', ħ: 'h', ı: 'i', ŋ: 'ng', ŧ: 't' },
  // Greek
  ...{ α: 'a', β: 'v', γ: 'g', δ: 'd', ε: 'e', ζ: 'z', η: 'i', θ: 'th', ι: 'i', κ: 'k', λ: 'l', μ: 'm', ν: 'n' },
  ...{ ξ: 'x', ο: 'o', π: 'p', ρ: 'r', σ: 's', ς: 's', τ: 't', υ: 'y', φ: 'f', χ: 'ch', ψ: 'ps', ω: 'o' },
  // Bulgarian, and what other Cyrillic alphabets have besides
  ...{ а: 'a', б: 'b', в: 'v', г: 'g', д: 'd', е: 'e', ж: 'zh', з: 'z', и: 'i', й: 'y', к: 'k', л: 'l', м: 'm', н: 'n', о: 'o' },
  ...{ п: 'p', р: 'r', с: 's', т: 't', у: 'u', ф: 'f', х: 'h', ц: 'ts', ч: 'ch', ш: 'sh', щ: 'sht', ъ: 'a', ь: 'y', ю: 'yu' },
  ...{ я: 'ya', ы: 'y', э: 'e', ё: 'e', і: 'i', ї: 'yi', є: 'ye', ґ: 'g', ђ: 'dj', ј: 'j', љ: 'lj', њ: 'nj', ћ: 'c', џ: 'dz' },
  ...{ '&': '+', '@': '(at)', _: '-', '"': "'", '`': "'", '´': "'", '’': "'", '‘': "'", '“': "'", '”': "'", '„': "'" },
  ...{ '–': '-', '—': '-', '‑': '-', ';': ',', '|': '/', '[': '(', ']': ')', '{': '(', '}': ')', '«': "'", '»': "'" },
}

const longest = 70

/**
 * A text in the letters that every bank of the single euro payments area reads: `a-z A-Z 0-9 / - ? : ( ) . , ' +` and blanks. What has no
 * spelling in them becomes a full stop. At most 70 characters.
 */
export function bankText(text: string): string {
  return (plain.test(text) ? text : spellAll(text)).replace(/\s+/g, ' ').trim().slice(0, longest).trim()
}

/** Most texts are nothing else, and need not be looked at letter by letter. */
const plain = /^[A-Za-z0-9/\-?:().,'+ ]*$/

function spellAll(text: string): string {
  const characters = [...text.normalize('NFC')]
  return characters.map((character, index) => spell(character, characters[index + 1] ?? '')).join('')
}

function spell(character: string, next: string): string {
  if (/\s/.test(character)) return ' '
  const own = spellings[character]
  if (own !== undefined) return own
  const small = character.toLowerCase()
  const spelling = small === character ? undefined : spellings[small]
  // Østerbro is Oesterbro, and ØSTERBRO is OESTERBRO.
  if (spelling !== undefined) return isCapital(next) ? spelling.toUpperCase() : capitalized(spelling)
  const bare = character.normalize('NFKD').replace(/[\p{M}\p{Cf}]/gu, '')
  if (bare !== character) return [...bare].map((each) => spell(each, next)).join('')
  return /^[A-Za-z0-9/\-?:().,'+]$/.test(character) ? character : '.'
}

function isCapital(character: string): boolean {
  return character !== character.toLowerCase()
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
