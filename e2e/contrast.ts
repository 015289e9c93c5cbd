/** Runs in the browser. How well an element's letters stand out from what is behind them: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
export function contrast(element: Element): number {
  const channels = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number)
  const backgroundOf = (each: Element | null): string => {
    if (!each) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(each)
    return channels(backgroundColor)[3] === 0 ? backgroundOf(each.parentElement) : backgroundColor
  }
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const both = [luminance(getComputedStyle(element).color), luminance(backgroundOf(element))]
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05)
}
