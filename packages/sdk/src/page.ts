/** Keeps the page from being scrolled. What is returned leaves it as it was found, to the property. */
export function lockScrolling(): () => void {
  const { documentElement: root } = document
  const [left, top] = [window.scrollX, window.scrollY]
  const plain = !root.hasAttribute('style')
  const before = ['overflow-x', 'overflow-y', 'padding-right'].map((name) => ({
    name,
    value: root.style.getPropertyValue(name),
    priority: root.style.getPropertyPriority(name),
  }))
  const width = root.clientWidth
  root.style.setProperty('overflow-x', 'hidden', 'important')
  root.style.setProperty('overflow-y', 'hidden', 'important')
  // Where the scroll bar was is left free, so that the page does not jump sideways.
  const gained = root.clientWidth - width
  if (gained > 0) {
    const own = Number.parseFloat(getComputedStyle(root).paddingRight) || 0
    root.style.setProperty('padding-right', `${own + gained}px`, 'important')
  }
  return () => {
    for (const { name, value, priority } of before) root.style.setProperty(name, value, priority)
    // Read first: Chromium writes the attribute only then, and would write an empty one after it was removed.
    if (plain && root.getAttribute('style') === '') root.removeAttribute('style')
    if (window.scrollX !== left || window.scrollY !== top) window.scrollTo({ left, top, behavior: 'instant' })
  }
}

/** What is returned puts the focus back to where it is now. */
export function rememberFocus(): () => void {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return () => {
    if (element instanceof HTMLElement && element.isConnected) element.focus({ preventScroll: true })
  }
}
