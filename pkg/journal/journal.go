// Package journal keeps the records of a program that changes a cluster in several steps, so
// that an interrupted run can continue or be undone: a document that lists what was started
// ([Store]), before-images of objects ([Images]), and the lock of the run that acts ([Lease]).
//
// The content of the document is defined by its users: internal/install and pkg/regulate. The
// package guarantees that a write either arrives or returns an error, even if the connection
// breaks, and that it never overwrites a change made since the document was read. [Trust] tells
// who wrote a journal; users of the package also verify its content against the cluster.
package journal

import "context"

// Place is the location of a journal or lease in a cluster.
type Place struct {
	Namespace, Name string
	Labels          map[string]string
	// FieldManager writes the objects.
	FieldManager string
}

// Lock lets one run at a time act.
type Lock interface {
	// Do acquires the lock and calls act. The context of act ends when the lock is lost.
	Do(ctx context.Context, act func(context.Context) error) error
}

// ConflictError reports that the journal was changed by someone else since it was loaded.
type ConflictError struct {
	Object string // configmap shop/sysop-shop-journal
}

func (e *ConflictError) Error() string {
	return e.Object + ": another run changed the journal meanwhile, and nothing was overwritten: run the command again to resume"
}
