package journal

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// DefaultLimit is how long an API server may be away (a restart) before a request is given up.
const DefaultLimit = 30 * time.Second

// retryError asks for another attempt.
type retryError struct{ error }

func (e retryError) Unwrap() error { return e.error }

// Retryable asks Retry for another attempt, for the reason that err gives.
func Retryable(err error) error { return retryError{err} }

// Retry tries until it works, fails for good, or the server has not answered for as long as
// the limit says. An attempt that returns Again is made again as well.
func Retry(ctx context.Context, limit time.Duration, attempt func(context.Context) error) error {
	end := time.Now().Add(limit)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := attempt(ctx)
		if err == nil || !errors.As(err, new(retryError)) && !IsTransient(err) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Until(end) < pause {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// IsTransient says that the server may answer otherwise in a moment.
func IsTransient(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return !errors.As(err, new(*ConflictError)) && !errors.Is(err, errNoKey) // no answer at all
	}
	code := status.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// MayHaveWritten says that a write may have been done although it failed, or that somebody else
// was there first.
func MayHaveWritten(err error) bool {
	return IsTransient(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
