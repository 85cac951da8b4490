package skeleton_test

import (
	"os"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/skeleton"
)

const folder = "../../catalog/testdata/fields"

func TestReadAll(t *testing.T) {
	all, err := skeleton.ReadAll(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		n += len(f.Kinds)
	}
	t.Log(len(all), n)
}
