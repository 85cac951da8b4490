package app

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// rulesFile is a file of relationship rules that the user gave.
type rulesFile struct {
	name  string
	specs []declare.Spec
	doc   lint.Document
}

// readRules reads the files of --rules. Any problem refuses all files: to leave out a rule silently
// would change the answer.
func (c *Input) readRules(ctx context.Context) ([]rulesFile, error) {
	var files []rulesFile
	for _, name := range c.RulesFiles {
		data, err := ReadRulesFile(ctx, name)
		if err != nil {
			return nil, err
		}
		specs, problems := declare.ParseFile(data)
		if len(problems) > 0 {
			return nil, problemsIn(name, problems)
		}
		files = append(files, rulesFile{name, specs, lint.ReadDocument(data)})
	}
	return files, nil
}

// maxRuleBytes is above the size of any file of rules.
const maxRuleBytes = 4 << 20

// ReadRulesFile reads a file of rules.
func ReadRulesFile(ctx context.Context, name string) ([]byte, error) {
	data, err := userfile.Read(ctx, name, maxRuleBytes, "file of rules")
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("read the rules: %w", err)
	}
	return data, err
}

// problemsIn returns all problems of a file of rules as one error.
func problemsIn(name string, problems []strict.Problem) error {
	return hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, "kubectl sysop rules lint -f "+name+" checks a file; docs/rules-file.md is the grammar")
}

// checkRules refuses rules of kinds that are not served.
func checkRules(files []rulesFile, kinds *object.Kinds) error {
	for _, f := range files {
		if problems := Unserved(f.specs, kinds); len(problems) > 0 {
			return problemsIn(f.name, problems)
		}
	}
	return nil
}

// Unserved returns the kinds that are certainly not served, with similar ones.
func Unserved(specs []declare.Spec, kinds *object.Kinds) []strict.Problem {
	var problems []strict.Problem
	for _, s := range specs {
		for _, kind := range slices.Concat(s.From, s.To) {
			gk := declare.GroupKind(kind)
			if kind == declare.Any || !kinds.NotServed(gk) {
				continue
			}
			problems = append(problems, strict.Problem{Line: s.Line, Column: s.Column, Message: fmt.Sprintf("no kind %s is served here%s", kind, NearKinds(gk, kinds))})
		}
	}
	return problems
}

// NearKinds returns in brackets the kinds with a similar name, or with the same one in another
// group.
func NearKinds(gk schema.GroupKind, kinds *object.Kinds) string {
	var all []string
	for _, r := range kinds.All() {
		all = append(all, r.GroupKind().String())
	}
	near := object.Nearest(gk.String(), all)
	for _, r := range kinds.All() {
		if r.Kind == gk.Kind && !slices.Contains(near, r.GroupKind().String()) {
			near = append(near, r.GroupKind().String())
		}
	}
	return object.DidYouMean(near)
}
