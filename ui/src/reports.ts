// The views that look over all stacks at once: not needed before somebody goes there.

export { CostsView } from './costs.tsx'
export { Findings } from './findings.tsx'
export { Regulation } from './regulation.tsx'
