package source

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

// TestConnectErrorTellsNoSecrets: of an address with a user, a password or a token the host is
// told alone, in what failed as well.
func TestConnectErrorTellsNoSecrets(t *testing.T) {
	for _, host := range []string{"https://me:hunter2@api.example:6443", "https://hunter2@api.example:6443/k8s", "https://api.example:6443?token=hunter2", "https://api.example:6443#hunter2"} {
		for _, err := range []error{errors.New("refused"), &url.Error{Op: "Get", URL: host, Err: errors.New("refused")}} {
			if got := (&ConnectError{Host: host, Err: err}).Error(); got != "connect to api.example:6443: refused" {
				t.Errorf("%s: %s", host, got)
			}
		}
	}
	if got := (&ConnectError{Host: "https://me:hunter2@[::1", Err: errors.New("refused")}).Error(); strings.Contains(got, "hunter2") {
		t.Error(got)
	}
	for _, plain := range []string{"https://api.example:6443/k8s", "localhost:8080", "https://[::1]:6443"} {
		if got := (&ConnectError{Host: plain, Err: errors.New("refused")}).Error(); got != "connect to "+plain+": refused" {
			t.Error(got)
		}
	}
}
