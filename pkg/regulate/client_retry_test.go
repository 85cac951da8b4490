package regulate

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestRetryUnauthorized: a token that is refreshed does not end a run in the middle of a hold.
func TestRetryUnauthorized(t *testing.T) {
	attempts := 0
	err := retry(t.Context(), func(context.Context) error {
		if attempts++; attempts < 3 {
			return apierrors.NewUnauthorized("the token has expired")
		}
		return nil
	})
	if err != nil || attempts != 3 {
		t.Errorf("%d attempts: %v", attempts, err)
	}
}
