/** The layout around every page, and what is shared by all: keys, palette, banner, messages. */
import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { connection, useConnectionPart } from '../live/connection.ts'
import { startLive } from '../live/live.ts'
import { toggleAbsoluteTimes } from '../parts/time.tsx'
import { Toasts } from '../parts/toasts.tsx'
import { Banner } from './banner.tsx'
import { KeysHelp } from './keys-help.tsx'
import { listenToKeys, useKeys } from './keys.ts'
import { Login } from './login.tsx'
import { NewVersion } from './new-version.tsx'
import { PageError } from './page-error.tsx'
import { pages } from './pages.ts'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'
import { Routes } from './routes.tsx'
import { toggleTheme } from './theme.ts'
import { Top } from './top.tsx'

export function App(): ReactNode {
  const isSignedOut = useConnectionPart('isSignedOut')
  return isSignedOut ? <Login /> : <Frame />
}

function Frame(): ReactNode {
  const [layer, setLayer] = useState<'palette' | 'keys'>()
  const [path, navigate] = useLocation()
  const away = useConnectionPart('away')
  const cache = useQueryClient()
  useEffect(startLive, [])
  useEffect(listenToKeys, [])
  useEffect(() => {
    // Newer browsers return a promise from it, which is not a way to undo an effect.
    scrollTo(0, 0)
  }, [path])
  useKeys({
    'mod+k': () => setLayer('palette'),
    '?': () => setLayer('keys'),
    '.': connection.toggleFrozen,
    t: toggleAbsoluteTimes,
    T: toggleTheme,
    ...Object.fromEntries(
      pages.flatMap(({ key, path: to }) => (key === null ? [] : [[`g ${key}`, () => navigate(to)]])),
    ),
  })
  const close = () => setLayer(undefined)
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Refetching />
      <div className="app">
        <Top onFind={() => setLayer('palette')} />
        <Rail onKeys={() => setLayer('keys')} />
        <main id="main" tabIndex={-1} className={away === null ? '' : 'old'}>
          <Banner />
          <NewVersion />
          <PageError path={path} onForget={() => cache.removeQueries({ type: 'inactive' })}>
            <Routes />
          </PageError>
        </main>
      </div>
      {layer === 'palette' ? <Palette onClose={close} /> : null}
      {layer === 'keys' ? <KeysHelp onClose={close} /> : null}
      <Toasts />
    </>
  )
}

const slowMs = 400

/** A thin line at the top while an answer takes long; quick answers show nothing. */
function Refetching(): ReactNode {
  const fetching = useIsFetching() > 0
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    if (!fetching) return
    const timer = setTimeout(() => setSlow(true), slowMs)
    return () => {
      clearTimeout(timer)
      setSlow(false)
    }
  }, [fetching])
  return slow ? <div className="refetch" aria-hidden="true" /> : null
}
