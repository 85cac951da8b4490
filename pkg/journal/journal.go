// Package journal is what a program that writes to a cluster in several steps keeps there, so
// that a run which is interrupted can continue, or be undone: a document that says what was started
// ([Store]), objects as they were before ([Images]), and the lock of the run that acts ([Lease]).
//
// What is in the document is its user's business: internal/install and pkg/regulate are two. The
// package promises of a write that it arrived or that an error says so, whatever becomes of
// the connection, and that nobody overwrites what somebody else wrote since it was read. Who
// wrote a journal it says by [Trust]; its users hold what it says against the cluster.
package journal

import "context"

// Place is where something is kept in a cluster.
type Place struct {
	Namespace, Name string
	Labels          map[string]string
	// FieldManager is who writes it.
	FieldManager string
}

// Lock lets one run act at a time.
type Lock interface {
	// Do waits for its turn and runs act. The context of act ends when the turn is lost.
	Do(ctx context.Context, act func(context.Context) error) error
}

// ConflictError says that somebody else wrote the journal since it was loaded.
type ConflictError struct {
	Object string // configmap shop/sysop-shop-journal
}

func (e *ConflictError) Error() string {
	return e.Object + ": another run changed the journal meanwhile, and nothing was overwritten: run the command again to resume"
}
