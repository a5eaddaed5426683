/** One field that takes tokens, with what could be meant below it. Backspace in the empty field takes the last token back. */
import { useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { Items, Node, PublishedTask, QueueView } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { useKeys } from '../../app/keys.ts'
import { allNodes } from '../../live/apply-frames.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { notAFilter, parseToken, problemOfToken, type FilterToken, type TokenProblem, withToken } from './filter.ts'
import { suggestionsFor, type Suggestion } from './suggestions.ts'

interface Props {
  readonly tokens: readonly FilterToken[]
  readonly onChange: (tokens: readonly FilterToken[]) => void
}

const examples = 'Filter: status, task, queue, node, since, payload.url~cdn, or a run id'

export function FilterBar({ tokens, onChange }: Props): ReactNode {
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const [problem, setProblem] = useState<TokenProblem>()
  const [, navigate] = useLocation()
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  useKeys({ '/': () => input.current?.focus() })
  const suggestions = useSuggestions(text, isOpen)
  const isShown = isOpen && suggestions.length > 0 && problem === undefined

  function add(token: FilterToken): void {
    const refused = problemOfToken(token)
    if (refused !== undefined) return setProblem(refused)
    onChange(withToken(tokens, token))
    setText('')
    setAt(-1)
    setOpen(false)
  }
  function choose({ token, typed }: Suggestion): void {
    if (token !== undefined) return add(token)
    setText(typed)
    setAt(-1)
    input.current?.focus()
  }
  function submit(): void {
    const chosen = suggestions[at]
    if (chosen !== undefined) return choose(chosen)
    const run = /^#?(\d{1,19})$/.exec(text.trim())?.[1]
    if (run !== undefined) return navigate(`/runs/${run}`)
    const token = parseToken(text)
    if (token !== undefined) return add(token)
    if (text.trim() !== '') return suggestions[0] === undefined ? setProblem(notAFilter(text)) : choose(suggestions[0])
  }
  function onKey(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setOpen(true)
      return setAt((at + step + suggestions.length + 1) % (suggestions.length + 1))
    }
    if (event.key === 'Enter') return submit()
    if (event.key === 'Backspace' && text === '') return onChange(tokens.slice(0, -1))
    if (event.key !== 'Escape') return
    return isOpen ? setOpen(false) : input.current?.blur()
  }
  return (
    <div
      className="filter"
      role="search"
      onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}
    >
      <Icon name="find" />
      <TokenChips tokens={tokens} onChange={onChange} />
      <input
        ref={input}
        role="combobox"
        aria-label="Add a filter"
        aria-expanded={isShown}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-why`}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={at >= 0 && isShown ? `${id}-${at}` : undefined}
        placeholder={tokens.length === 0 ? examples : 'Add a filter'}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onFocus={() => setOpen(true)}
        onClick={() => setOpen(true)}
        onChange={(event) => (setText(event.target.value), setOpen(true), setAt(-1), setProblem(undefined))}
        onKeyDown={onKey}
      />
      <kbd>/</kbd>
      {problem === undefined || !isOpen ? null : <Refused id={`${id}-why`} problem={problem} />}
      <SuggestionList id={id} suggestions={suggestions} isShown={isShown} at={at} onAt={setAt} onChoose={choose} />
    </div>
  )
}

function Refused({ id, problem }: { readonly id: string; readonly problem: TokenProblem }): ReactNode {
  return (
    <p className="options refused" id={id} role="alert">
      <b>{problem.what}</b> {problem.fix}
    </p>
  )
}

interface SuggestionListProps {
  readonly id: string
  readonly suggestions: readonly Suggestion[]
  readonly isShown: boolean
  /** The index of the selected suggestion; -1: none. */
  readonly at: number
  readonly onAt: (index: number) => void
  readonly onChoose: (suggestion: Suggestion) => void
}

function SuggestionList({ id, suggestions, isShown, at, onAt, onChoose }: SuggestionListProps): ReactNode {
  return (
    <ul className="options" id={id} role="listbox" aria-label="Filters" hidden={!isShown}>
      {suggestions.map((suggestion, index) => (
        <li
          key={suggestion.label}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          onPointerDown={(event) => (event.preventDefault(), onChoose(suggestion))}
          onMouseMove={() => onAt(index)}
        >
          <b>{suggestion.label}</b>
          <span className="mute">{suggestion.hint}</span>
        </li>
      ))}
    </ul>
  )
}

function useSuggestions(text: string, isOpen: boolean): Suggestion[] {
  const nodes = useData<Items<Node>>(allNodes, { enabled: isOpen }).data?.items
  const queues = useData<Items<QueueView>>('/queues', { enabled: isOpen }).data?.items
  const tasks = useData<Items<PublishedTask>>('/tasks', { enabled: isOpen, everyMs: 60_000 }).data?.items
  return useMemo(
    () =>
      suggestionsFor(text, {
        node: nodes?.filter(({ state }) => state !== 'stopped').map(({ name }) => name) ?? [],
        queue: queues?.map(({ queue }) => queue) ?? [],
        task: tasks?.map(({ name }) => name) ?? [],
      }),
    [text, nodes, queues, tasks],
  )
}

/** With the problem of each token, if it has one. */
export function TokenChips({ tokens, onChange }: Props): ReactNode {
  return tokens.map((token) => (
    <TokenChip
      key={`${token.key} ${token.value}`}
      token={token}
      problem={problemOfToken(token)}
      onRemove={() => onChange(tokens.filter((other) => other !== token))}
    />
  ))
}

interface ChipProps {
  readonly token: FilterToken
  readonly problem: TokenProblem | undefined
  readonly onRemove: () => void
}

function TokenChip({ token, problem, onRemove }: ChipProps): ReactNode {
  return (
    <span className={problem === undefined ? 'tok' : 'tok wrong'}>
      <span>{token.key}</span>
      <b title={token.value}>{token.value}</b>
      {problem === undefined ? null : <em>{problem.short}</em>}
      <button type="button" aria-label={`Remove ${token.key} ${token.value}`} onClick={onRemove}>
        <Glyph name="close" />
      </button>
    </span>
  )
}
