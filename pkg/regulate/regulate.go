// Package regulate is System Regulation: while an application fails or is being upgraded
// its neighbours, who need it, are held; when it has recovered they are let go.
//
// Observe says how the apps of a system are, from a graph and its health; Plan says what is
// to be done, from that, the manifest, the journal and the time. Both are pure: same input,
// same answer. Runner does it, against a cluster, and keeps the journal.
//
// Its files lie in rooms, which their names tell:
//
//   - world, observe, own, needs, facts, upgrade, managers, resolve: how the apps are, and
//     what each would do on a signal.
//   - signal: how operators are told to pause or to stop (the values of a catalogue).
//   - plan, planned: what is to be done now, in what order, and why the rest is not.
//   - journal: what was done and what was seen, so that it can be taken back.
//   - runner, run, undo, resume, compile, images, ownership, client: how it is done, taken
//     back, and gone on with after a kill, to the byte.
//   - deed: the actions that are no write to an object: Jobs, HTTP requests, commands.
//   - store, rights, events: what is kept in the cluster, whose turn it is, who may do
//     it, and what is told of it there.
//   - manifests, exposition: a watch that runs in a cluster, and its metrics.
//
// No file knows where objects come from: a graph, its health and the objects that pass (a
// Collector) are all that is looked at.
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
