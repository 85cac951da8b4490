// The views that look over all stacks at once, and the windows: not needed before somebody goes there.

export { CostsView } from './costs.tsx'
export { Dialogs } from './dialogs.tsx'
export { Findings } from './findings.tsx'
export { Regulation } from './regulation.tsx'
