/** The time at which a text was first seen: relative times in it keep their meaning while it does not change. */
import { useState } from 'react'

export function useFixedTime(text: string, now: () => number): number {
  const [fixed, setFixed] = useState(() => ({ text, at: now() }))
  if (fixed.text === text) return fixed.at
  const at = now()
  setFixed({ text, at })
  return at
}
