/** A table that stays one for screen readers when its rows become grids on a phone: every part has its role. */
import type { HTMLAttributes, ReactNode, Ref, TdHTMLAttributes, ThHTMLAttributes } from 'react'

interface TableProps {
  readonly label: string
  readonly className?: string
  readonly head: ReactNode
  readonly children: ReactNode
}

export function Table({ label, className = '', head, children }: TableProps): ReactNode {
  return (
    <table className={`two ${className}`} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">{head}</tr>
      </thead>
      {children}
    </table>
  )
}

export function Body(props: HTMLAttributes<HTMLTableSectionElement>): ReactNode {
  return <tbody role="rowgroup" {...props} />
}

export function Tr({
  className = 'r',
  ...rest
}: HTMLAttributes<HTMLTableRowElement> & { readonly ref?: Ref<HTMLTableRowElement> }): ReactNode {
  return <tr role="row" className={className} {...rest} />
}

export function Td(props: TdHTMLAttributes<HTMLTableCellElement> & { readonly 'data-l'?: string }): ReactNode {
  return <td role="cell" {...props} />
}

export function Th(props: ThHTMLAttributes<HTMLTableCellElement>): ReactNode {
  return <th role="columnheader" scope="col" {...props} />
}
