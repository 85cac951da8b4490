package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func newSystemExport(env Env) *cobra.Command {
	o := &initOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "export [ROOT...]",
		Short: "Write a System that installs a running stack elsewhere",
		Long: `Write a System from a running stack, with the objects that a user or a tool applied:
each ROOT is an app, or without a ROOT each application stack of the namespace (as
kubectl sysop system init finds them). Objects that a controller creates are left out,
and so are all fields that a cluster sets: the status, addresses, the labels of Helm and
of GitOps tools.

No value of a Secret is ever written: each Secret that the stack needs becomes an input
(spec.inputs), which must exist before the System is installed. ConfigMaps are included;
from a snapshot, which has them without their data, they become inputs too. Operators of
custom resources are named, for install to take from the catalog.

Fields that look like credentials are reported: review them before you pass the file on.`,
		Example: `  # a stack, to standard output
  kubectl sysop system export deployment/wordpress -n shop

  # all stacks of a namespace, to a file
  kubectl sysop system export -n shop --name shop --write shop.yaml`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.export(cmd.Context())
		},
	}
	o.reading(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "select the roots of a TYPE by label")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.StringVar(&o.name, "name", "", "the name of the System (default: the namespace)")
	f.StringVarP(&o.file, "write", "O", "", "write it to this FILE, which must not exist")
	f.BoolVar(&o.force, "force", false, "with --write, replace the file")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	return cmd
}

// export reads the stacks, and writes the System.
func (o *initOptions) export(ctx context.Context) error {
	selector, err := o.parseSelector()
	if err != nil {
		return err
	}
	x := &systemExport{systemDraft: &systemDraft{o: o, selector: selector}}
	if err := x.read(ctx); err != nil {
		return err
	}
	if len(x.stacks) == 0 {
		return hint.With(errors.New("no stack found"+inPlace(x.session.Namespace)), "name the roots, or search elsewhere: -n, -A")
	}
	from, err := x.exported(ctx)
	if err != nil {
		return err
	}
	sys, notices := system.Export(*from)
	if len(sys.Apps) == 0 {
		return hint.With(errors.New("there is nothing to export: controllers created all objects, or none could be read"), "name an object that a user applied: kubectl sysop graph shows the owners")
	}
	text, err := manifestOf(sys, x.sourceText())
	if err != nil {
		return err
	}
	x.session.ReportGaps(x.graph)
	for _, n := range append(x.notices, notices...) {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(n.String()))
	}
	if o.file == "" {
		_, err = o.env.Out.Write(text)
	} else {
		err = writeNew("manifest", o.file, text, o.force)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.env.ErrOut, "%s of the System %s, %s\n", plural(len(sys.Apps), "app"), safe(sys.Name), plural(len(sys.Inputs), "input"))
	x.session.PrintTimings(x.graph)
	return nil
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

// systemExport finds what a System is to be made of.
type systemExport struct {
	*systemDraft
	notices []system.Notice
	// packages are those that brought definitions, by the names of these.
	packages map[string]string
}

func (x *systemExport) sourceText() string {
	text := "the cluster"
	if x.session.Snapshot {
		text = "the snapshot " + x.o.From
	}
	if ns := x.namespace(); ns != "" {
		text = "namespace " + ns + " of " + text
	}
	return text
}

func (x *systemExport) notice(ref object.Ref, format string, args ...any) {
	x.notices = append(x.notices, system.Notice{Object: ref.String(), Message: fmt.Sprintf(format, args...)})
}

// exported reads the objects of the stacks, whole.
func (x *systemExport) exported(ctx context.Context) (*system.Exported, error) {
	if err := x.readPackages(ctx); err != nil {
		return nil, err
	}
	p := x.partition()
	whole, err := x.whole(ctx, p.wanted())
	if err != nil {
		return nil, err
	}
	out := &system.Exported{Name: x.o.name, Namespace: x.namespace(), Made: p.made}
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

// parts is who is in which app.
type parts struct {
	x    *systemExport
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
