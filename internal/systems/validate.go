package systems

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// ValidateRequest says which manifest is validated, against which catalogue; Offline reads no cluster.
type ValidateRequest struct {
	File      string
	Catalogue *catalog.Catalogue
	Offline   bool
}

// Validate finds all that is wrong with one manifest. The error says that a cluster could not
// be asked; a file that cannot be read is a problem of its first line.
func Validate(ctx context.Context, in *app.Input, v ValidateRequest) (document.CheckedSystem, error) {
	doc := document.CheckedSystem{File: FileName(v.File), Apps: []string{}, Problems: []strict.Problem{}}
	sys, problems, err := parse(ctx, in, v.File)
	switch {
	case ctx.Err() != nil:
		return doc, ctx.Err()
	case err != nil:
		problems = []strict.Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	if len(problems) > 0 {
		doc.Problems = problems
		return doc, nil
	}
	doc.System = sys.Name
	for i := range sys.Apps {
		doc.Apps = append(doc.Apps, sys.Apps[i].Name)
	}
	doc.Problems = append(doc.Problems, unknownOperators(v.Catalogue, sys)...)
	if !v.Offline {
		existing, err := checkCluster(ctx, in, sys)
		if err != nil {
			return doc, OfflineHint(err)
		}
		doc.Problems = append(doc.Problems, existing...)
	}
	slices.SortStableFunc(doc.Problems, func(a, b strict.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return doc, nil
}

// unknownOperators tells the operators that no catalogue has.
func unknownOperators(cats *catalog.Catalogue, sys *system.System) []strict.Problem {
	var problems []strict.Problem
	check := func(line int, owner, name string) {
		if _, known := cats.Find(name); name != "" && !known {
			problems = append(problems, strict.Problem{Line: line, Column: 1, Message: fmt.Sprintf("%sthe catalog has no operator %s%s", owner, strconv.Quote(name), object.DidYouMean(cats.Nearest(name)))})
		}
	}
	for _, o := range sys.Operators {
		check(o.Line, "spec.operators: ", o.Name)
	}
	for i := range sys.Apps {
		check(sys.Apps[i].Line, "app "+sys.Apps[i].Name+": ", sys.Apps[i].Operator)
	}
	return problems
}

// checkCluster asks whether the kinds and the objects of the roots are there, and the kinds of the
// targets of actions.
func checkCluster(ctx context.Context, in *app.Input, sys *system.System) ([]strict.Problem, error) {
	l, err := Observe(ctx, in, sys)
	if err != nil {
		return nil, err
	}
	in.Report.Gaps(l.Graph.Gaps())
	var problems []strict.Problem
	for i := range sys.Apps {
		a := &sys.Apps[i]
		invalid, err := l.invalidResources(ctx, i)
		if err != nil {
			return nil, err
		}
		problems = append(problems, invalid...)
		for _, r := range a.Roots {
			if reason := l.absent(a, r); reason != "" {
				problems = append(problems, strict.Problem{Line: r.Line, Column: 1, Message: "app " + a.Name + ": " + reason})
			}
		}
		for _, signal := range a.Signals() {
			for _, action := range a.On[signal] {
				problems = append(problems, l.unservedTargets(a, &action)...)
			}
		}
	}
	return problems, nil
}

// invalidResources returns what the CRDs that are served do not accept of the resources of an app. It
// ignores fields that a connection fills in, and kinds whose CRD cannot be read.
func (l *View) invalidResources(ctx context.Context, number int) ([]strict.Problem, error) {
	a := &l.System.Apps[number]
	var problems []strict.Problem
	for i, o := range a.Resources {
		kind, served := l.Session.Kinds.Kind(o.GroupVersionKind().GroupKind())
		if !served || !kind.Custom {
			continue
		}
		definition, err := l.definition(ctx, kind)
		if err != nil {
			return nil, err
		}
		if definition == nil {
			continue
		}
		invalid, err := crd.ValidateExisting(definition, []*unstructured.Unstructured{o})
		if err != nil {
			return nil, err
		}
		line := a.Line
		for _, r := range a.Roots {
			if r.Type == kind.GroupKind().String() && r.Name == o.GetName() && r.Namespace == o.GetNamespace() {
				line = r.Line
			}
		}
		for _, v := range invalid {
			if !l.connected(a.Name, v.Field) {
				path := strings.TrimSuffix(fmt.Sprintf("spec.apps[%d].resources[%d].%s", number, i, v.Field), ".")
				problems = append(problems, strict.Problem{Line: line, Column: 1, Message: path + ": " + v.Reason})
			}
		}
	}
	return problems, nil
}

// definition reads the CRD of a kind, once; nil where it cannot be read.
func (l *View) definition(ctx context.Context, kind object.Resource) (*unstructured.Unstructured, error) {
	if d, read := l.definitions[kind.GroupKind()]; read {
		return d, nil
	}
	ref := object.Ref{Group: app.DefinitionKind.Group, Kind: app.DefinitionKind.Kind, Name: kind.String()}
	fields, _, err := l.Session.Whole(ctx, ref)
	if err != nil {
		return nil, err
	}
	var d *unstructured.Unstructured
	if fields != nil {
		d = &unstructured.Unstructured{Object: fields}
	}
	if l.definitions == nil {
		l.definitions = map[schema.GroupKind]*unstructured.Unstructured{}
	}
	l.definitions[kind.GroupKind()] = d
	return d, nil
}

// connected says whether a connection fills in a field of an app, or a part of it.
func (l *View) connected(app, path string) bool {
	return slices.ContainsFunc(l.System.Connections, func(c system.Connection) bool {
		isPart := func(inner, outer string) bool {
			rest, ok := strings.CutPrefix(inner, outer)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
		}
		return c.To.App == app && path != "" && (isPart(c.To.Path, path) || isPart(path, c.To.Path))
	})
}

// unservedTargets returns the targets of actions whose kinds are not served.
func (l *View) unservedTargets(a *system.App, action *system.Action) []strict.Problem {
	var problems []strict.Problem
	for _, t := range action.Targets {
		if _, err := l.root(t); err != nil {
			problems = append(problems, strict.Problem{Line: t.Line, Column: 1, Message: "app " + a.Name + ": target " + err.Error()})
		}
	}
	if action.Inverse != nil {
		problems = append(problems, l.unservedTargets(a, action.Inverse)...)
	}
	return problems
}

// absent says that a root is missing, and names similar objects; empty if it exists or is unknown,
// and for objects that the manifest creates.
func (l *View) absent(a *system.App, r system.Root) string {
	arg, err := l.root(r)
	if err != nil {
		// The operator brings the kind of a resource.
		if (a.Operator != "" || len(l.System.Operators) > 0) && slices.ContainsFunc(a.Resources, func(o *unstructured.Unstructured) bool {
			return o.GroupVersionKind().GroupKind().String() == r.Type && o.GetName() == r.Name
		}) {
			return ""
		}
		return err.Error()
	}
	for _, o := range a.Resources {
		if o.GroupVersionKind().GroupKind() == arg.Kind.GroupKind() && o.GetName() == r.Name {
			return ""
		}
	}
	s := l.Session
	if len(s.Nodes(l.Graph, arg, nil)) > 0 {
		return ""
	}
	in := s.NamespaceOf(arg)
	if _, unread := s.GapOf(l.Graph, arg.Kind, in); unread {
		return ""
	}
	origin := ""
	if arg.Kind.Namespaced && in != "" {
		origin = " in namespace " + in
	}
	var names []string
	for id := range l.Graph.OfKind(arg.Kind.GroupKind()) {
		ref := l.Graph.Ref(id)
		if l.Graph.State(id) == graph.Present && (in == "" || ref.Namespace == in || ref.Namespace == "") {
			names = append(names, ref.Name)
		}
	}
	return "there is no " + r.String() + origin + object.DidYouMean(object.Nearest(r.Name, names))
}
