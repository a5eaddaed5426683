/** What does not fit on a screen, one line each: an element that reaches beyond it, or a control that its box cuts off. */
import type { Page } from 'playwright-core'

/**
 * The width of the document would not tell: an emulated phone widens its viewport with it, and a box that hides its overflow hides it
 * from the document too.
 */
export function outside(page: Page, width: number): Promise<string[]> {
  return page.evaluate((most) => {
    const slack = 1
    const styleOf = (element: Element) => getComputedStyle(element)
    const ancestors = (element: Element): Element[] =>
      element.parentElement === null ? [] : [element.parentElement, ...ancestors(element.parentElement)]
    const isShown = (element: Element) => {
      const { width: w, height: h } = element.getBoundingClientRect()
      return w > 1 && h > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    }
    const scrolls = (element: Element) => ['auto', 'scroll'].includes(styleOf(element).overflowX)
    const hides = (element: Element) => ['hidden', 'clip'].includes(styleOf(element).overflowX)
    const words = (element: Element) => `${element.tagName.toLowerCase()}.${element.className} ${element.textContent}`
    const found: string[] = []
    for (const element of document.body.querySelectorAll('*')) {
      if (element.closest('svg') !== element && element.closest('svg') !== null) continue
      if (!isShown(element)) continue
      const { right, left } = element.getBoundingClientRect()
      const around = ancestors(element)
      const scroller = around.findIndex(scrolls)
      const boxes = around.slice(0, scroller === -1 ? around.length : scroller)
      const box = boxes.find(hides)
      const isControl = element.matches('button, input, select, textarea')
      if (box === undefined ? scroller === -1 && right > most + slack : isControl && isCut(box))
        found.push(words(element))

      function isCut(by: Element): boolean {
        const edges = by.getBoundingClientRect()
        return right > edges.right + slack || left < edges.left - slack
      }
    }
    return found.map((line) => line.slice(0, 120))
  }, width)
}
