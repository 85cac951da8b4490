// Package regulate is System Regulation: while an application fails or is being upgraded, its
// neighbours (the apps that depend on it) are held; when it is Healthy again, they are recovered.
//
// Observe returns the state of the apps of a system, from a graph and its health; NewPlan
// returns what to do, from that, the manifest, the journal and the time. Both are pure. Runner
// does it on a cluster, and writes the journal.
//
// The names of the files begin with what they are about:
//
//   - world, observe, own, needs, facts, upgrade, managers, resolve: how the apps are, and
//     what each would do on a signal.
//   - signal: the documented ways to pause or stop an operator (the values of a catalog).
//   - plan, planned: what is to be done now, in what order, and why the rest is not.
//   - journal: what was done and observed, so that it can be undone.
//   - runner, run, undo, resume, compile, images, ownership, client: how it is done, undone, and
//     continued after a kill, byte for byte.
//   - action: the actions that do not write to an object: Jobs, HTTP requests, commands.
//   - store, permissions: what is stored in the cluster, the lease, and the permissions.
//   - manifests: a watch that runs in a cluster.
//
// No file knows where objects come from: they are given a graph, its health, and a Collector that
// sees each object once.
//
// # Use
//
//	world := regulate.Observe(observation)             // pure
//	planned := regulate.NewPlan(world, sys, journal, now) // pure: nothing is written
//
// A [Planned] says its steps, each with why, and what is not done and why not. [Observe] and
// [Plan] take the time as a value; a World may be read by several goroutines, a [Journal]
// belongs to one. A [Runner] writes: before each write into the journal, under a [journal.Lock].
package regulate
