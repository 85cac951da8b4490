package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/luahealth"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// HealthRuleOptions select the rules of health that are used in addition to those of the catalog.
type HealthRuleOptions struct {
	File   string
	Argocd string // the namespace of Argo CD; empty where it is not used
}

// healthRules are the rules of health that go before those of the catalog.
type healthRules struct {
	rules    []health.Rule
	sets     []*luahealth.Set
	argocd   string // the namespace of the ConfigMap that is still to be read
	notes    []string
	reported map[string]bool
}

// Read reads the file of --health-rules; nil without the flag. A problem in a file of CEL refuses
// the whole file: to leave out a rule silently would change the answer. A problem in a ConfigMap
// that was written for Argo CD is a note.
func (o *HealthRuleOptions) Read(ctx context.Context) (*healthRules, error) {
	if o == nil || *o == (HealthRuleOptions{}) {
		return nil, nil
	}
	h := &healthRules{argocd: o.Argocd, reported: map[string]bool{}}
	if o.File == "" {
		return h, nil
	}
	set, notes, data, err := readCustomizations(ctx, o.File)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			err = fmt.Errorf("read the health rules: %w", err)
		}
		return nil, err
	case set == nil:
		h.rules, err = parseHealthRules(o.File, data)
		return h, err
	case set.Len() == 0:
		return nil, hint.With(errors.Join(append([]error{fmt.Errorf("%s has no health rule", o.File)}, errorsOf(notes)...)...),
			"docs/health-rules.md describes what is read of a ConfigMap and of a directory of Argo CD")
	}
	h.sets, h.notes = append(h.sets, set), notes
	return h, nil
}

func errorsOf(notes []string) []error {
	var all []error
	for _, n := range notes {
		all = append(all, errors.New(n))
	}
	return all
}

// readCustomizations reads a directory of scripts or a ConfigMap. For any other file the set is
// nil, and the content is returned.
func readCustomizations(ctx context.Context, name string) (*luahealth.Set, []string, []byte, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		set, notes, err := luahealth.OfFolder(name, os.DirFS(name))
		return set, notes, nil, err
	}
	data, err := userfile.Read(ctx, name, maxHealthRuleBytes, "file of rules")
	if err != nil {
		return nil, nil, nil, err
	}
	set, notes, err := luahealth.OfManifest(name, data)
	return set, notes, data, err
}

func parseHealthRules(name string, data []byte) ([]health.Rule, error) {
	rules, problems := health.ParseRules(name, data)
	if len(problems) > 0 {
		return nil, hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, "docs/health-rules.md is the grammar")
	}
	return rules, nil
}

// customizations is a source that returns some values of a ConfigMap.
type customizations interface {
	ConfigMapValues(ctx context.Context, namespace, name, prefix string) (map[string]string, error)
}

// learn reads the ConfigMap of Argo CD, where the user selects it. If it is missing or forbidden,
// learn adds a note: the rules of the catalog are used all the same.
func (h *healthRules) learn(ctx context.Context, from source.Source) error {
	if h == nil || h.argocd == "" {
		return nil
	}
	reader, ok := from.(customizations)
	if cluster, live := ClusterOf(from); live {
		reader, ok = cluster, true
	}
	if !ok {
		return nil
	}
	values, err := reader.ConfigMapValues(ctx, h.argocd, luahealth.ConfigMapName, luahealth.Prefix)
	if _, explained := errors.AsType[*source.NoManualError](err); explained {
		h.notes = append(h.notes, fmt.Sprintf("the health rules of Argo CD are ignored: %v", err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the health rules of Argo CD: %w", err)
	}
	set, notes := luahealth.OfConfigMap(h.argocd+"/"+luahealth.ConfigMapName, values)
	h.notes = append(h.notes, notes...)
	if set.Len() == 0 {
		h.notes = append(h.notes, fmt.Sprintf("ConfigMap/%s/%s has no health rule", h.argocd, luahealth.ConfigMapName))
		return nil
	}
	for _, r := range h.rules {
		set.Skip(r) // the file was named for this run
	}
	h.sets = append(h.sets, set)
	return nil
}

// newEvaluator returns the evaluator that tries a set first, then the rules of the user, then those
// of the catalog.
func (h *healthRules) newEvaluator(s *Session, catalogue []health.Rule) *health.Evaluator {
	if h == nil {
		return health.NewEvaluator(s.AsOf(), catalogue...)
	}
	j := health.NewEvaluator(s.AsOf(), slices.Concat(h.rules, catalogue)...)
	for _, set := range h.sets {
		j.Consult(set)
	}
	return j
}

// reads reports whether a script reads objects of a kind.
func (h *healthRules) reads(gk schema.GroupKind) bool {
	return h != nil && slices.ContainsFunc(h.sets, func(s *luahealth.Set) bool { return s.Has(gk) })
}

// tell prints which rules were skipped and which failed, each once.
func (h *healthRules) tell(to reporter) {
	if h == nil {
		return
	}
	notes := h.notes
	for _, set := range h.sets {
		notes = append(slices.Clip(notes), set.Notes()...)
	}
	for _, n := range notes {
		if !h.reported[n] {
			h.reported[n] = true
			to.Note(n)
		}
	}
}
