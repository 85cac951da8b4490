package app

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Reopen returns a session with the same source and rules and no objects.
func (s *Session) Reopen() *Session {
	fresh := *s
	fresh.empty()
	return &fresh
}

// Renewed is Reopen for a session that may follow its cluster: it has the current kinds and rules,
// since definitions come and go meanwhile.
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
	if fresh.Kinds != s.learnedOf { // Discovery ran again; its gaps are known without a request.
		if _, err := live.Kinds(ctx, now); err != nil {
			return nil, err
		}
		fresh.Gaps = now.Gaps
	} else {
		ofDiscovery := slices.DeleteFunc(slices.Clone(s.Gaps), func(g object.Gap) bool { return g.Resource == definitionsResource })
		fresh.Gaps = slices.Concat(ofDiscovery, now.Gaps)
	}
	switch {
	case unread && s.learned != "": // The earlier definitions stay valid, as the earlier objects do.
		fresh.learnedOf = fresh.Kinds
	case fresh.Kinds != s.learnedOf || stateOfAll(definitions) != s.learned:
		fresh.Declared, fresh.Findings = nil, nil
		fresh.learn(definitions, s.files)
	}
	fresh.empty()
	return &fresh, nil
}

// definitionsResource is the name of CustomResourceDefinitions in gaps.
const definitionsResource = "customresourcedefinitions.apiextensions.k8s.io"

// stateOfAll identifies a state of the definitions.
func stateOfAll(definitions []metav1.Object) string {
	var b strings.Builder
	for _, crd := range definitions {
		b.WriteString(crd.GetName() + "@" + crd.GetResourceVersion() + " ")
	}
	return b.String()
}

// Live makes the session follow its cluster, until ctx ends. It is nil for a snapshot, which does
// not change.
func (s *Session) Live(ctx context.Context) *source.Live {
	cluster, ok := s.Source.(*source.Cluster)
	if !ok {
		return nil
	}
	live := source.NewLive(ctx, cluster)
	s.Source = live
	return live
}

// relearn takes the kinds of a source whose discovery changed while it was read.
func (s *Session) relearn() {
	if learned, ok := s.Source.(interface{ Current() *object.Kinds }); ok && learned.Current() != s.Kinds {
		s.Kinds = learned.Current()
		s.builder.Serve(s.Kinds)
	}
}
