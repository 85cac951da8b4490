package app

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Reopen returns a session of the same source and rules that has read nothing yet.
func (s *Session) Reopen() *Session {
	fresh := *s
	fresh.empty()
	return &fresh
}

// Renewed is again for a session that may follow its cluster: it has the kinds and rules of now,
// since definitions come and go while it is followed.
func (s *Session) Renewed(ctx context.Context) (*Session, error) {
	live, ok := s.Source.(*source.Live)
	if !ok {
		return s.Reopen(), nil
	}
	fresh, now := *s, &EarlyGaps{}
	definitions, err := live.Definitions(ctx, now)
	if err != nil {
		return nil, err
	}
	unread := len(now.Gaps) > 0 // the list of the definitions
	fresh.Kinds = live.Current()
	if fresh.Kinds != s.learnedOf { // Discovery was asked again; its gaps are known without a request.
		if _, err := live.Kinds(ctx, now); err != nil {
			return nil, err
		}
		fresh.Gaps = now.Gaps
	} else {
		ofDiscovery := slices.DeleteFunc(slices.Clone(s.Gaps), func(g object.Gap) bool { return g.Resource == definitionsResource })
		fresh.Gaps = slices.Concat(ofDiscovery, now.Gaps)
	}
	switch {
	case unread && s.learned != "": // What was learned of definitions stands, as what was read of objects does.
		fresh.learnedOf = fresh.Kinds
	case fresh.Kinds != s.learnedOf || stateOfAll(definitions) != s.learned:
		fresh.Declared, fresh.Findings = nil, nil
		fresh.Learn(definitions, s.files)
	}
	fresh.empty()
	return &fresh, nil
}

// definitionsResource is what CustomResourceDefinitions are called in gaps.
const definitionsResource = "customresourcedefinitions.apiextensions.k8s.io"

// stateOfAll tells one state of the definitions from another.
func stateOfAll(definitions []metav1.Object) string {
	var b strings.Builder
	for _, crd := range definitions {
		b.WriteString(crd.GetName() + "@" + crd.GetResourceVersion() + " ")
	}
	return b.String()
}

// Live has the session follow its cluster, until ctx ends. It is nil for a snapshot, which
// does not change.
func (s *Session) Live(ctx context.Context) *source.Live {
	cluster, ok := s.Source.(*source.Cluster)
	if !ok {
		return nil
	}
	live := source.NewLive(ctx, cluster)
	s.Source = live
	return live
}

// relearn takes over the kinds of a source that has found out, while it was read, that
// others are served.
func (s *Session) relearn() {
	if learned, ok := s.Source.(interface{ Current() *object.Kinds }); ok && learned.Current() != s.Kinds {
		s.Kinds = learned.Current()
		s.Builder.Serve(s.Kinds)
	}
}
