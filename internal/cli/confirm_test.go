package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for _, c := range []struct{ typed, wrong string }{
		{"shop\n", ""}, {"  shop \r\n", ""}, {"shop", ""}, {"", "not confirmed"}, {"yes\n", "not confirmed"}, {"shopping\n", "not confirmed"},
	} {
		var out bytes.Buffer
		err := ask(t.Context(), strings.NewReader(c.typed), &out, "2 objects change", "shop")
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %v", c.typed, err)
		}
		if out.String() != "2 objects change\ntype shop to go on: " {
			t.Errorf("asked %q", out.String())
		}
	}
}

func TestAskIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	never, end := io.Pipe()
	defer end.Close()
	if err := ask(ctx, never, io.Discard, "", "shop"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNobodyToConfirm(t *testing.T) {
	env := Env{}
	env.In = strings.NewReader("shop\n")
	if err := env.canConfirm(); err == nil || !strings.Contains(hintFor(err), "--yes") {
		t.Errorf("%v", err)
	}
}
