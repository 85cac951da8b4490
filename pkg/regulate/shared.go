package regulate

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
)

// What other journals on a cluster are written with.

// Persist tries until it works, fails for good, or the server has not answered for as long
// as patience says. A try that returns Again is done again as well.
func Persist(ctx context.Context, patience time.Duration, try func(context.Context) error) error {
	return persist(ctx, patience, try)
}

// Again asks Persist for another try, for the reason that err gives.
func Again(err error) error { return errAgain{err} }

// MaybeWritten says that a write may have been done although it failed, or that somebody else
// was there first.
func MaybeWritten(err error) bool { return maybeWritten(err) }

// Zipped compresses: the same bytes for the same text.
func Zipped(text []byte) ([]byte, error) { return zipped(text) }

// Unzipped is what Zipped compressed, under a bound.
func Unzipped(zip []byte) ([]byte, error) { return unzipped(zip) }

// Quiet is the config of what must not wait in a queue of this process behind other
// requests, and whose warnings are no user's business.
func Quiet(config *rest.Config) *rest.Config { return quiet(config) }
