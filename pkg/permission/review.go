package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

var accessReviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}

// askers is how many reviews run concurrently.
const askers = 16

// Missing is a missing permission with the reason of the authorizer, if any.
type Missing struct {
	Permission
	Reason string
}

// UnknownError reports permissions whose review failed.
type UnknownError struct {
	Permissions []Permission
	Why         error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%d permissions could not be checked (%s, ...): %v", len(e.Permissions), e.Permissions[0], e.Why)
}

func (e *UnknownError) Unwrap() error { return e.Why }

// Review asks the API server which permissions are missing, by SelfSubjectAccessReview. Failed
// reviews are an *UnknownError, next to the missing ones: that is no reason to
// refuse, since the write itself is authorized. Many objects of a kind are reviewed at once, and
// each alone only if that is denied.
func Review(ctx context.Context, config *rest.Config, permissions []Permission) ([]Missing, error) {
	client, err := dynamic.NewForConfig(journal.Quiet(config))
	if err != nil {
		return nil, fmt.Errorf("review permissions: %w", err)
	}
	return reviewBy(ctx, func(ctx context.Context, r Permission) (bool, string, error) { return mayDo(ctx, client, r) }, permissions)
}

// reviewFunc asks whether something may be done, and why not.
type reviewFunc func(ctx context.Context, r Permission) (bool, string, error)

func reviewBy(ctx context.Context, ask reviewFunc, permissions []Permission) ([]Missing, error) {
	var wide []Permission
	for _, r := range permissions {
		r.Name = ""
		wide = append(wide, r)
	}
	slices.SortFunc(wide, Compare)
	wide = slices.Compact(wide)
	wideAnswers := map[Permission]answer{}
	for i, a := range askAll(ctx, ask, wide) {
		wideAnswers[wide[i]] = a
	}
	var remaining []Permission
	for _, r := range permissions {
		all := r
		all.Name = ""
		if a := wideAnswers[all]; a.err != nil || !a.allowed {
			remaining = append(remaining, r)
		}
	}
	slices.SortFunc(remaining, Compare)
	remaining = slices.Compact(remaining)
	answers := askAll(ctx, func(ctx context.Context, r Permission) (bool, string, error) {
		if a, asked := wideAnswers[r]; asked {
			return a.allowed, a.reason, a.err
		}
		return ask(ctx, r)
	}, remaining)
	var missing []Missing
	var undecided *UnknownError
	for i, a := range answers {
		switch {
		case a.err != nil && undecided == nil:
			undecided = &UnknownError{Permissions: []Permission{remaining[i]}, Why: a.err}
		case a.err != nil:
			undecided.Permissions = append(undecided.Permissions, remaining[i])
		case !a.allowed:
			missing = append(missing, Missing{Permission: remaining[i], Reason: a.reason})
		}
	}
	if undecided != nil {
		return missing, undecided
	}
	return missing, nil
}

type answer struct {
	allowed bool
	reason  string
	err     error
}

func askAll(ctx context.Context, ask reviewFunc, permissions []Permission) []answer {
	out := make([]answer, len(permissions))
	var wg sync.WaitGroup
	slots := make(chan struct{}, askers)
	for i, r := range permissions {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i].allowed, out[i].reason, out[i].err = ask(ctx, r)
		})
	}
	wg.Wait()
	return out
}

func mayDo(ctx context.Context, client dynamic.Interface, r Permission) (bool, string, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
		}},
	}
	u, err := client.Resource(accessReviews).Create(ctx, journal.Unstructured(review), metav1.CreateOptions{})
	if err != nil {
		return false, "", err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, review); err != nil {
		return false, "", err
	}
	if !review.Status.Allowed && !review.Status.Denied && review.Status.EvaluationError != "" {
		return false, "", errors.New(review.Status.EvaluationError)
	}
	return review.Status.Allowed, review.Status.Reason, nil
}

// MissingError reports missing permissions before any write.
type MissingError struct{ Missing []Missing }

// Refuse returns an error for missing permissions; nil if none is missing, or only optional
// ones.
func Refuse(missing []Missing) error {
	missing = slices.DeleteFunc(slices.Clone(missing), func(m Missing) bool { return m.Optional })
	if len(missing) == 0 {
		return nil
	}
	return &MissingError{Missing: missing}
}

// maxListed limits the lines of permissions in an error.
const maxListed = 20

func (e *MissingError) Error() string {
	var b strings.Builder
	b.WriteString("permissions are missing, so nothing was written:")
	rules := e.rules()
	for i, r := range rules {
		if i == maxListed {
			fmt.Fprintf(&b, "\n  and %d more", len(rules)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s", r)
	}
	return b.String()
}

// Hint returns the kubectl commands that grant the permissions, with the name of the role. It
// leaves out the names of objects that do not exist yet.
func (e *MissingError) Hint(role string) string {
	var lines []string
	for i, r := range e.rules() {
		name, command := fmt.Sprintf("%s-%d", role, i+1), "role"
		if r.namespace == "" {
			command = "clusterrole"
		}
		words := []string{"kubectl create", command, name, "--verb=" + strings.Join(r.verbs, ","), "--resource=" + r.resource()}
		for _, n := range r.names {
			words = append(words, "--resource-name="+n)
		}
		if r.namespace != "" {
			words = append(words, "-n "+r.namespace)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return "an administrator grants them with\n  " + strings.Join(lines, "\n  ") + "\nand binds them with kubectl create rolebinding"
}

func (e *MissingError) rules() []rule {
	permissions := make([]Permission, 0, len(e.Missing))
	for _, m := range e.Missing {
		permissions = append(permissions, m.Permission)
	}
	return rulesOf(permissions)
}
