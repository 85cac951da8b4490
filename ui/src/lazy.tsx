// Views that are loaded on first use.

import type { ComponentType } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'

export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let view: ComponentType<Props> | undefined, failed = ''
  return (props) => {
    const [, again] = useReducer((n: number) => n + 1, 0)
    useEffect(() => {
      let mounted = true
      if (!view) load().then((v) => { view = v; failed = '' }, () => { failed = 'It could not be loaded: kubectl sysop ui may have ended.' }).then(() => mounted && again(0))
      return () => { mounted = false }
    }, [])
    const V = view
    return V ? <V {...props} /> : <p role={failed ? 'alert' : 'status'} class="lacks">{failed || 'Loading ...'}</p>
  }
}
