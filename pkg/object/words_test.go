package object_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestCount(t *testing.T) {
	for what, want := range map[string]string{"pod": "1 pod, 2 pods", "class": "1 class, 2 classes", "policy": "1 policy, 2 policies", "box": "1 box, 2 boxes"} {
		if got := object.Count(1, what) + ", " + object.Count(2, what); got != want || object.CountAre(2, what) != object.Count(2, what)+" are" || object.CountAre(1, what) != "1 "+what+" is" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLists(t *testing.T) {
	words := strings.Fields("a b c d e f g")
	for n, want := range []string{
		"||", "a|a|a", "a and b|a and b|a, b", "a, b and c|a, b and c|a, b, c", "a, b, c and d|a, b, c and d|a, b, c, d",
		"a, b, c, d and e|a, b, c and 2 more|a, b, c and 2 more", "a, b, c, d, e and f|a, b, c and 3 more|a, b, c and 3 more",
	} {
		if got := object.AndList(words[:n]) + "|" + object.ShortList(words[:n]) + "|" + object.FirstWords(words[:n], 3); got != want {
			t.Errorf("%d words: got %q, want %q", n, got, want)
		}
	}
}
