/**
 * Whether a caller can make use of a JSON error body. The old clients send no Accept at all, or one of their own, and choke on
 * any body of an error that is not a 400; people and modern clients admit JSON and get told what is wrong.
 */
export function admitsJson(accept: string | undefined): boolean {
  const ranges = new Map((accept ?? '').split(',').map(parseRange))
  // The nearest range decides, whatever the wider ones say.
  return ranges.get('application/json') ?? ranges.get('application/*') ?? ranges.get('*/*') ?? false
}

/** `text/html;q=0` → `['text/html', false]` */
function parseRange(range: string): [type: string, admitted: boolean] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  return [type, !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter))]
}
