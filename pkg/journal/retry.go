package journal

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// DefaultLimit is how long a request is retried while the API server is down (a restart).
const DefaultLimit = 30 * time.Second

// retryError requests another attempt.
type retryError struct{ error }

func (e retryError) Unwrap() error { return e.error }

// Retryable wraps an error so that Retry tries again.
func Retryable(err error) error { return retryError{err} }

// PermanentError reports that another attempt cannot succeed.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }
func (e *PermanentError) Unwrap() error { return e.Err }

// Retry calls a function until it succeeds, fails permanently, or the server has not answered
// for the limit. It pauses for as long as the server demands. An attempt that returns Retryable
// is repeated as well.
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

// IsTransient reports that a later attempt may succeed.
func IsTransient(err error) bool {
	if errors.As(err, new(*PermanentError)) {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return !errors.As(err, new(*ConflictError)) && !errors.Is(err, errNoKey) // no response
	}
	code := status.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// MayHaveWritten reports that a write may have been done although it failed, or that someone
// else wrote first.
func MayHaveWritten(err error) bool {
	return IsTransient(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
