package installer

import (
	"testing"
	"time"
)

// An object that says nothing is waited for a while that is shorter than all of it may take.
func TestPatienceIsShorterThanTheTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{time.Second, 8 * time.Second, 5 * time.Minute} {
		for _, never := range []bool{false, true} {
			if is := statusTimeout(never, timeout); is <= 0 || is >= timeout || never && is > silentWithoutStatus || is > silentWithStatus {
				t.Errorf("%v of %s: %s", never, timeout, is)
			}
		}
	}
}
