/** The command that does the same as the button beside it. */
import type { ReactNode } from 'react'
import { Copy } from './copy.tsx'

export function CliLine({ command }: { readonly command: string }): ReactNode {
  return (
    <span className="cli" title={command}>
      <span>{command}</span>
      <Copy text={command} label="Copy the command" />
    </span>
  )
}
