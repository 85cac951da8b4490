package userfile

import (
	"io/fs"
	"testing"
)

// TestExposed has files of the user's own, and Secrets as the kubelet mounts them.
func TestExposed(t *testing.T) {
	for _, c := range []struct {
		mode fs.FileMode
		own  bool
		want string
	}{
		{0o600, true, ""},
		{0o400, true, ""},
		{0o440, true, "its group"},
		{0o620, true, "its group"},
		{0o604, true, "every user of this machine"},
		{0o602, true, "every user of this machine"},
		{0o440, false, ""}, // root's, with an fsGroup
		{0o640, false, ""},
		{0o660, false, "its group"},
		{0o644, false, "every user of this machine"},
	} {
		if got := exposed(c.mode, c.own); got != c.want {
			t.Errorf("mode %04o, own %v: %q, want %q", c.mode, c.own, got, c.want)
		}
	}
}
