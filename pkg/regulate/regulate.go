// Package regulate is System Regulation: while an application fails or is being upgraded
// its neighbours, who need it, are held; when it has recovered they are let go.
//
// Observe says how the apps of a system are, from a graph and its health; Plan says what is
// to be done, from that, the manifest, the journal and the time. Both are pure: same input,
// same answer. Runner does it, against a cluster, and keeps the journal.
package regulate
