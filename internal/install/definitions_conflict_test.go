package install

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What an undone run has written back is ours, although the API server says that it is
// another manager's.
func TestOwnConflict(t *testing.T) {
	conflict := func(with ...string) error {
		var causes []metav1.StatusCause
		for _, name := range with {
			causes = append(causes, metav1.StatusCause{
				Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.versions", Message: `conflict with "` + name + `" using apiextensions.k8s.io/v1`,
			})
		}
		return apierrors.NewApplyConflict(causes, "Apply failed")
	}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"ours", conflict(FieldManager), true},
		{"ours, twice", conflict(FieldManager, FieldManager), true},
		{"somebody's", conflict("kubectl"), false},
		{"ours and somebody's", conflict(FieldManager, "kubectl"), false},
		{"a name that begins as ours", conflict(FieldManager + "er"), false},
		{"an object that changed", apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "one", errors.New("it changed")), false},
		{"no conflict", errors.New("no route"), false},
		{"nothing", nil, false},
	} {
		if got := ownConflict(c.err); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
