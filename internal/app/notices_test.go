package app

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestUnwatched(t *testing.T) {
	gap := object.Gap{Resource: "pods", Namespace: "shop", Reason: "Unavailable", Message: "EOF"}
	for n, want := range map[int]string{
		1: "watch interrupted: pods in shop (Unavailable): EOF",
		3: "watch interrupted: pods in shop and 2 more (Unavailable): EOF",
	} {
		if got := Unwatched(slices.Repeat([]object.Gap{gap}, n)); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
