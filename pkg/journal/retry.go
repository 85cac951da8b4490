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

// PermanentError says that trying again is of no use.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }
func (e *PermanentError) Unwrap() error { return e.Err }

// Retry tries until it works, fails for good, or the server has not answered for as long as
// the limit says, with pauses as long as the server asks for. An attempt that returns Retryable is
// made again as well.
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
		wait := pause
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			wait = max(wait, time.Duration(seconds)*time.Second)
		}
		if time.Until(end) < wait {
			return err
		}
		if err := nap(ctx, wait); err != nil {
			return err
		}
	}
}

// IsTransient says that the server may answer otherwise in a moment.
func IsTransient(err error) bool {
	if errors.As(err, new(*PermanentError)) {
		return false
	}
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
