/** Icons of the pages, 16 units. */
import type { ReactNode } from 'react'

const icons = {
  overview: <path d="M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3H9zM9 7.5h4.5v6H9zM2.5 10.5H7v3H2.5z" />,
  runs: <path d="M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01" />,
  nodes: (
    <>
      <rect x="2.5" y="2.5" width="11" height="4.5" rx="1" />
      <rect x="2.5" y="9" width="11" height="4.5" rx="1" />
      <path d="M5 4.75h.01M5 11.25h.01" />
    </>
  ),
  queues: <path d="M2.5 8h3l1.5 2.5h2L10.5 8h3M2.5 8v5h11V8l-2-5h-7z" />,
  workflows: (
    <>
      <circle cx="4" cy="4" r="1.75" />
      <circle cx="12" cy="8" r="1.75" />
      <circle cx="4" cy="12" r="1.75" />
      <path d="M5.75 4.3 10.4 7.2M5.75 11.7l4.65-2.9" />
    </>
  ),
  schedules: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 4.75V8l2.25 1.5" />
    </>
  ),
  errors: <path d="M8 2 14 13.2H2ZM8 6.3v3M8 11.2v.01" />,
  recoveries: <path d="M13.3 8A5.3 5.3 0 1 1 11.6 4.1M13.4 2.2v2.9h-2.9" />,
  heartbeats: <path d="M1.8 8.3h3l1.6-4.6 2.9 8.6 1.8-4h3.1" />,
  deliveries: <path d="M14 2 7.2 8.8M14 2 9.6 14l-2.4-5.2L2 6.4Z" />,
  audit: <path d="M4 2.5h8v11H4zM6.3 5.5h3.4M6.3 8h3.4M6.3 10.5h2" />,
  find: (
    <>
      <circle cx="7" cy="7" r="4.25" />
      <path d="m10.2 10.2 3.3 3.3" />
    </>
  ),
  leave: <path d="M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" />,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  fit: <path d="M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10" />,
  theme: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor" />
    </>
  ),
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof icons

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="i" viewBox="0 0 16 16" aria-hidden="true">
      {icons[name]}
    </svg>
  )
}

export function Mark(): ReactNode {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="currentColor" />
      <path d="M13.2 6.2v8.6M13.2 10a3.3 3.3 0 1 1-6.6 0 3.3 3.3 0 0 1 6.6 0Z" fill="none" strokeWidth="1.8" />
    </svg>
  )
}
