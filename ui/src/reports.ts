// The bundle of views over all stacks and of dialogs, which is loaded on first use.

export { CostsView } from './costs.tsx'
export { Dialogs } from './dialogs.tsx'
export { Findings } from './findings.tsx'
export { Regulation } from './regulation.tsx'
