package cli

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// reopen returns a session of the same source and rules that has read nothing yet.
func (s *session) reopen() *session {
	fresh := *s
	fresh.empty()
	return &fresh
}

// renewed is again for a session that may follow its cluster: it has the kinds and rules of now,
// since definitions come and go while it is followed.
func (s *session) renewed(ctx context.Context) (*session, error) {
	live, ok := s.source.(*source.Live)
	if !ok {
		return s.reopen(), nil
	}
	fresh, now := *s, &earlyGaps{}
	definitions, err := live.Definitions(ctx, now)
	if err != nil {
		return nil, err
	}
	unread := len(now.gaps) > 0 // the list of the definitions
	fresh.kinds = live.Current()
	if fresh.kinds != s.learnedOf { // Discovery was asked again; its gaps are known without a request.
		if _, err := live.Kinds(ctx, now); err != nil {
			return nil, err
		}
		fresh.gaps = now.gaps
	} else {
		ofDiscovery := slices.DeleteFunc(slices.Clone(s.gaps), func(g object.Gap) bool { return g.Resource == definitionsResource })
		fresh.gaps = slices.Concat(ofDiscovery, now.gaps)
	}
	switch {
	case unread && s.learned != "": // What was learned of definitions stands, as what was read of objects does.
		fresh.learnedOf = fresh.kinds
	case fresh.kinds != s.learnedOf || stateOfAll(definitions) != s.learned:
		fresh.declared, fresh.findings = nil, nil
		fresh.learn(definitions, s.files)
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

// live has the session follow its cluster, until ctx ends. It is nil for a snapshot, which
// does not change.
func (s *session) live(ctx context.Context) *source.Live {
	cluster, ok := s.source.(*source.Cluster)
	if !ok {
		return nil
	}
	live := source.NewLive(ctx, cluster)
	s.source = live
	return live
}

// relearn takes over the kinds of a source that has found out, while it was read, that
// others are served.
func (s *session) relearn() {
	if learned, ok := s.source.(interface{ Current() *object.Kinds }); ok && learned.Current() != s.kinds {
		s.kinds = learned.Current()
		s.builder.Serve(s.kinds)
	}
}
