package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		typed string
		yes   bool
		shown string
	}{
		{"y\n", true, ""},
		{"  Yes \r\n", true, ""},
		{"yes", true, ""},
		{"", false, "\nnothing was done\n"},
		{"\n", false, "nothing was done\n"},
		{"no\n", false, "nothing was done\n"},
		{"yesterday\n", false, "nothing was done\n"},
	} {
		var out bytes.Buffer
		env := Env{}
		env.In, env.ErrOut = strings.NewReader(c.typed), &out
		if yes, err := env.Confirm(t.Context(), "2 objects change. Do it?"); err != nil || yes != c.yes {
			t.Errorf("%q: %v, %v", c.typed, yes, err)
		}
		if want := "2 objects change. Do it? [y/N] " + c.shown; out.String() != want {
			t.Errorf("%q: shown %q, want %q", c.typed, out.String(), want)
		}
	}
}

func TestAskIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	never, end := io.Pipe()
	defer end.Close()
	env := Env{}
	env.In, env.ErrOut = never, io.Discard
	if yes, err := env.Confirm(ctx, "Do it?"); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", yes, err)
	}
}

func TestNobodyToAsk(t *testing.T) {
	env := Env{}
	if err := env.MayAsk("shop would be changed"); err == nil || !strings.HasPrefix(err.Error(), "shop would be changed: nothing was done") || !strings.Contains(hint.For(err), "--yes") {
		t.Errorf("%v", err)
	}
	env.Ask = true
	if err := env.MayAsk(""); err != nil {
		t.Error(err)
	}
}
