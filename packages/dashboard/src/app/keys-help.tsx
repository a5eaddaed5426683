/** Every key, as `?` shows them. */
import type { ReactNode } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { modKey } from './keys.ts'

const keys: readonly (readonly [keys: string, what: string])[] = [
  [`${modKey} K`, 'Find a run, node, queue or action'],
  ['?', 'These keys'],
  ['/', 'Filter'],
  ['g o', 'Overview'],
  ['g r', 'Runs'],
  ['g n', 'Nodes'],
  ['g q', 'Queues'],
  ['g w', 'Workflows'],
  ['g s', 'Schedules'],
  ['g e', 'Errors'],
  ['g h', 'Heartbeats'],
  ['j k', 'Next, previous'],
  ['enter', 'Open'],
  ['x', 'Select'],
  ['⇧ x', 'Select a range'],
  ['a', 'Everything that matches'],
  ['r', 'Retry'],
  ['c', 'Cancel'],
  ['d', 'Drain'],
  ['w', 'Why is it not running'],
  ['l', 'Logs'],
  ['.', 'Freeze'],
  ['t', 'Absolute or relative times'],
  ['⇧ t', 'Theme'],
  ['esc', 'Close the top layer'],
]

export function KeysHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const footer = (
    <button type="button" className="btn" onClick={onClose}>
      Close
    </button>
  )
  return (
    <Dialog title="Keys" lead="Every key is a visible control too." footer={footer} onClose={onClose}>
      <dl className="body keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>{what}</dt>
            <dd>
              <kbd>{key}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
