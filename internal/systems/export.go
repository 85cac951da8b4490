package systems

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ExportRequest says which stacks are exported. Versions returns those of the operators that were
// installed in the cluster.
type ExportRequest struct {
	DraftRequest
	Catalogue *catalog.Catalogue
	Versions  func(context.Context) (map[string]string, error)
}

// Export writes the System that installs running stacks elsewhere.
func Export(ctx context.Context, r ExportRequest) (*Manifest, error) {
	x := &export{draft: &draft{DraftRequest: r.DraftRequest}, catalogue: r.Catalogue, versions: r.Versions}
	if err := x.findAdopted(ctx); err != nil {
		return nil, err
	}
	if err := x.read(ctx); err != nil {
		return nil, err
	}
	x.group()
	if len(x.stacks) == 0 {
		return nil, x.noStack()
	}
	from, err := x.exported(ctx)
	if err != nil {
		return nil, err
	}
	sys, notices := system.Export(*from)
	if x.adopted != nil {
		sys.Carry(x.adopted)
	}
	if len(sys.Apps) == 0 {
		return nil, hint.With(errors.New("there is nothing to export: controllers created all objects, or none could be read"), "name an object that a user applied: kubectl sysop graph shows the owners")
	}
	text, err := manifestOf(sys, x.sourceText())
	if err != nil {
		return nil, err
	}
	x.session.ReportGaps(x.graph)
	for _, n := range append(x.notices, notices...) {
		x.Report.Note(n.String())
	}
	return &Manifest{Text: text, Name: sys.Name, Apps: len(sys.Apps), Inputs: len(sys.Inputs), session: x.session, graph: x.graph}, nil
}

// manifestOf writes a System, and holds it to be one that Parse reads.
func manifestOf(sys *system.System, origin string) ([]byte, error) {
	text, err := sys.YAML()
	if err != nil {
		return nil, err
	}
	text = append([]byte("# Written by kubectl sysop system export from "+system.OneLine(origin)+".\n# kubectl sysop install -f FILE installs it; spec.inputs must exist before.\n"), text...)
	if len(text) > system.MaxBytes {
		return nil, hint.With(fmt.Errorf("the manifest would have %d bytes, and the limit is %d", len(text), system.MaxBytes), "export fewer ROOTs at a time")
	}
	var problems []strict.Problem
	if _, problems = system.Parse("what was found", text); len(problems) > 0 {
		return nil, &hint.Lines{Lines: hint.Placed("what was found", problems)}
	}
	return text, nil
}

// export finds what a System is to be made of.
type export struct {
	*draft
	catalogue *catalog.Catalogue
	versions  func(context.Context) (map[string]string, error)
	notices   []system.Notice
	// adopted is the adopted System that is exported; nil for stacks.
	adopted *system.System
	// packages are those that brought definitions, by the names of these.
	packages map[string]string
}

func (x *export) notice(ref object.Ref, format string, args ...any) {
	x.notices = append(x.notices, system.Notice{Object: ref.String(), Message: fmt.Sprintf(format, args...)})
}

// exported reads the objects of the stacks, whole.
func (x *export) exported(ctx context.Context) (*system.Exported, error) {
	if err := x.readPackages(ctx); err != nil {
		return nil, err
	}
	p := x.partition()
	whole, err := x.whole(ctx, p.wanted())
	if err != nil {
		return nil, err
	}
	out := &system.Exported{Name: x.Name, Namespace: x.namespace(), Made: p.made}
	if out.Name == "" {
		out.Name = labelOf(out.Namespace, "system", map[string]bool{})
		if out.Namespace == "" {
			out.Name = p.apps[0].name
		}
	}
	for i := range p.apps {
		a := &p.apps[i]
		app := system.ExportedApp{Name: a.name, Operator: x.operatorOf(a.roots)}
		for _, ref := range a.roots {
			app.Roots = append(app.Roots, x.rootOf(ref, out.Namespace))
		}
		a.objects = slices.DeleteFunc(a.objects, func(ref object.Ref) bool { return whole[ref] != nil && x.isOfLevel(whole[ref]) })
		for _, ref := range a.objects {
			if o := whole[ref]; o != nil {
				app.Objects = append(app.Objects, o)
			}
		}
		out.Apps = append(out.Apps, app)
	}
	for _, id := range p.configs {
		ref := x.graph.Ref(id)
		if whole[ref] == nil {
			out.Inputs = append(out.Inputs, system.Input{ConfigMap: ref.Name, Namespace: ref.Namespace, Description: "its data was not read"})
			x.notice(ref, "its data is unknown: it is an input")
		}
	}
	if err := x.secrets(ctx, p, out); err != nil {
		return nil, err
	}
	out.Dependencies = p.dependencies()
	return out, x.operators(ctx, p, out)
}

// findAdopted takes the roots of an adopted System where that is the one root.
func (x *export) findAdopted(ctx context.Context) error {
	if len(x.Roots) != 1 || x.From != "" || !strings.HasPrefix(x.Roots[0], graph.BySystem+"/") {
		return nil
	}
	sys, err := Named(ctx, x.Input, x.Roots[0])
	if err != nil {
		return err
	}
	if err := Enter(x.Input, sys); err != nil {
		return err
	}
	x.adopted, x.Roots = sys, nil
	x.Name = cmp.Or(x.Name, sys.Name)
	for i := range sys.Apps {
		for _, r := range sys.Apps[i].Roots {
			x.Roots = append(x.Roots, r.String())
		}
	}
	return nil
}

// group makes the apps of the adopted System of the stacks of its roots.
func (x *export) group() {
	if x.adopted == nil {
		return
	}
	var apps []foundApp
	for i := range x.adopted.Apps {
		a := &x.adopted.Apps[i]
		one := foundApp{name: a.Name, found: "app " + a.Name}
		for _, stack := range x.stacks {
			if slices.ContainsFunc(a.Roots, func(r system.Root) bool { return x.isRoot(r, stack.roots) }) {
				one.roots, one.all = append(one.roots, stack.roots...), append(one.all, stack.all...)
			}
		}
		if len(one.roots) > 0 {
			apps = append(apps, one)
		}
	}
	x.stacks = apps
}

// isRoot says whether a root of the manifest is one of some objects.
func (x *export) isRoot(r system.Root, all []object.Ref) bool {
	kind, err := x.session.Kinds.Find(r.Type)
	return err == nil && slices.ContainsFunc(all, func(ref object.Ref) bool {
		return ref.GroupKind() == kind.GroupKind() && ref.Name == r.Name && (!kind.Namespaced || ref.Namespace == cmp.Or(r.Namespace, x.session.Namespace))
	})
}

// isOfLevel says whether an object is one that spec.autoscaling or spec.monitoring of the adopted System
// creates, so that it is no part of an app.
func (x *export) isOfLevel(o *unstructured.Unstructured) bool {
	release := o.GetAnnotations()[graph.HelmName]
	return x.adopted != nil && release != "" && (release == x.adopted.ReleaseOf(system.ScalersApp) || release == x.adopted.ReleaseOf(system.MonitorsApp))
}

// parts is who is in which app.
type parts struct {
	x    *export
	apps []partApp
	// of is the app of a node; -1 for none.
	of map[graph.ID]int
	// configs and secrets are the ConfigMaps and Secrets without an owner.
	configs, secrets []graph.ID
	made             map[string]bool
	// kept are the objects that a root keeps in its ApplySet, and makes again.
	kept map[graph.ID]bool
}

type partApp struct {
	name    string
	roots   []object.Ref
	objects []object.Ref
	// said are those that say themselves that they belong to it.
	said []object.Ref
}
