package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type initOptions struct {
	*common
	catalogueOptions
	args     []string
	selector string
	name     string
	file     string
	force    bool
}

func newSystemInit(env Env) *cobra.Command {
	o := &initOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "init [ROOT...]",
		Short: "Write the manifest of a System from running stacks",
		Long: `Write a manifest: each ROOT is an app, or without a ROOT each application stack in the
namespace (as kubectl sysop stacks finds them). Comments say which app needs which other
one and on what evidence, what a Stop would do to each, and which tools revert changes
of its objects. Nothing is written to the cluster.

A stack that is an ApplySet has its parent object as a root, and that of an instance
(app.kubernetes.io/instance) has the custom resource that it comes from as one: the app
is unhealthy when these are.

The manifest is a start: add what no object says (an app that calls another by an
address in its own settings). It is written to standard output, or with --write to a
file.`,
		Example: `  # all stacks of the namespace
  kubectl sysop system init --from demo

  # some of them, under a name
  kubectl sysop system init moodle/moodle-1 mysqlcluster/cluster1 --name lms --from demo`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "select the roots of a TYPE by label")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.StringVar(&o.name, "name", "", "the name of the System (default: the namespace)")
	f.StringVar(&o.file, "write", "", "write it to this FILE, which must not exist")
	f.BoolVar(&o.force, "force", false, "with --write, replace the file")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	return cmd
}

func (o *initOptions) run(ctx context.Context) error {
	selector, err := o.parseSelector()
	if err != nil {
		return err
	}
	d := &systemDraft{o: o, selector: selector}
	if err := d.read(ctx); err != nil {
		return err
	}
	draft, err := d.draft()
	if err != nil {
		return err
	}
	text := draft.YAML()
	if _, problems := system.Parse("what was found", text); len(problems) > 0 {
		return &hint.Lines{Lines: hint.Placed("what was found", problems)}
	}
	d.session.ReportGaps(d.graph)
	if o.file == "" {
		_, err = o.env.Out.Write(text)
	} else {
		err = writeNew("manifest", o.file, text, o.force)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.env.ErrOut, "%s of the System %s\n", plural(len(draft.Apps), "app"), safe(draft.Name))
	d.session.PrintTimings(d.graph)
	return nil
}

// parseSelector checks the flags, before anything is read.
func (o *initOptions) parseSelector() (labels.Selector, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.name != "" {
		if wrong := validation.IsDNS1123Label(o.name); len(wrong) > 0 {
			return nil, fmt.Errorf("--name %q: %s", o.name, wrong[0])
		}
	}
	if o.force && o.file == "" {
		return nil, errors.New("--force replaces the file of --write: there is none")
	}
	selector, err := app.ParseSelector(o.selector)
	if err == nil && selector != nil && len(o.args) == 0 {
		err = errors.New("--selector chooses among all of a TYPE: name one")
	}
	return selector, err
}

// writeNew writes a file, whole or not at all, and over another one only where that is meant.
func writeNew(kind, name string, text []byte, force bool) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".system-*")
	if err != nil {
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // It is gone where all went well.
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	if force {
		err = os.Rename(temp.Name(), name)
	} else if err = os.Link(temp.Name(), name); err != nil && !errors.Is(err, os.ErrExist) {
		err = claim(temp.Name(), name)
	}
	switch {
	case errors.Is(err, os.ErrExist):
		return hint.With(fmt.Errorf("write the %s: %s exists", kind, name), "--force replaces it")
	case err != nil:
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	return nil
}

// claim renames a file to an unused name on file systems without links; a link would never replace
// a file.
func claim(temp, name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Rename(temp, name)); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// systemDraft finds the apps of a manifest that is to be written.
type systemDraft struct {
	o        *initOptions
	selector labels.Selector
	session  *app.Session
	graph    *graph.Graph
	facts    *regulate.Collector
	signals  regulate.Signals
	verdicts *app.HealthCollector
	stacks   []foundApp
}

// foundApp is what becomes an app.
type foundApp struct {
	name  string // that it should have
	found string
	roots []object.Ref
	// all are its roots, and what else says that it belongs to them.
	all []object.Ref
}

// read reads the graph, and finds the stacks.
func (d *systemDraft) read(ctx context.Context) error {
	o := d.o
	d.verdicts = o.CollectHealth(nil)
	o.Extract = append(o.Extract, func(s *app.Session) inventory.Extractor {
		d.signals = servedSignals(s.Kinds)
		d.facts = regulate.NewCollector(&system.System{}, d.signals)
		return collecting(d.facts)
	})
	var err error
	if d.session, err = o.Open(ctx); err != nil {
		return err
	}
	s := d.session
	if len(o.args) == 0 {
		ask := source.Query{All: true}
		if !o.AllNamespaces && s.Namespace != "" {
			ask = source.Query{Namespaces: []string{s.Namespace}, Kinds: s.Rules.Crossing()}
		}
		if d.graph, err = s.Read(ctx, ask, s.Everything, o.StackOptions()); err != nil {
			return err
		}
		d.foundStacks()
		return nil
	}
	roots, err := app.SelectedRoots(o.args, d.selector, s.Kinds)
	if err != nil {
		return err
	}
	if d.graph, err = s.Read(ctx, s.Query(roots), func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, d.selector) }, o.StackOptions()); err != nil {
		return err
	}
	if err := s.Missing(d.graph, roots, d.selector); err != nil {
		return err
	}
	d.namedStacks(roots)
	return nil
}

// draft makes the manifest, and what its comments say.
func (d *systemDraft) draft() (*system.Draft, error) {
	if len(d.stacks) == 0 {
		return nil, hint.With(errors.New("no stack found"+inPlace(d.session.Namespace)), "name the roots, or search elsewhere: -n, -A")
	}
	namespace := d.namespace()
	draft := &system.Draft{Namespace: namespace, Found: "the cluster"}
	if d.session.Snapshot {
		draft.Found = "the snapshot " + d.o.From
	}
	if namespace != "" {
		draft.Found = "namespace " + namespace + " of " + draft.Found
	}
	sys := &system.System{Namespace: namespace}
	taken := map[string]bool{}
	for _, stack := range d.stacks {
		app := system.App{Name: labelOf(stack.name, stack.roots[0].Kind, taken)}
		for _, ref := range stack.roots {
			app.Roots = append(app.Roots, d.rootOf(ref, namespace))
		}
		sys.Apps = append(sys.Apps, app)
		draft.Apps = append(draft.Apps, system.DraftApp{Name: app.Name, Roots: app.Roots, Found: stack.found, Operator: d.operator(stack.roots)})
	}
	if draft.Name = d.o.name; draft.Name == "" {
		if draft.Name = namespace; draft.Name == "" {
			draft.Name = draft.Apps[0].Name
		}
	}
	w := regulate.Observe(regulate.Observation{
		System: sys, Graph: d.graph, Health: d.verdicts.Assess(d.graph), Kinds: d.session.Kinds, Namespace: namespace,
		Facts: d.facts, Signals: d.signals, NoInferred: d.o.NoInferred,
	})
	for i := range w.Apps {
		d.explain(&draft.Apps[i], &w.Apps[i])
	}
	return draft, nil
}

func inPlace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// namespace is that of the System: the one that is asked about, or that all roots are in.
func (d *systemDraft) namespace() string {
	if d.session.Namespace != "" {
		return d.session.Namespace
	}
	single := ""
	for _, s := range d.stacks {
		for _, r := range s.roots {
			if single != "" && r.Namespace != "" && r.Namespace != single {
				return ""
			}
			if r.Namespace != "" {
				single = r.Namespace
			}
		}
	}
	return single
}

// rootOf writes an object as a root: with its group where that is not one of Kubernetes
// itself, with its namespace where that is not the System's.
func (d *systemDraft) rootOf(ref object.Ref, namespace string) system.Root {
	kind, _ := d.session.Kinds.Kind(ref.GroupKind())
	root := system.Root{Type: strings.ToLower(ref.Kind), Name: ref.Name}
	if found, err := d.session.Kinds.Find(root.Type); kind.Custom && ref.Group != "" || err != nil || found.GroupKind() != ref.GroupKind() {
		root.Type += "." + ref.Group
	}
	if ref.Namespace != namespace {
		root.Namespace = ref.Namespace
	}
	return root
}

// operator names the entry of the catalogue that runs the roots; empty for none, or several.
func (d *systemDraft) operator(roots []object.Ref) string {
	name := ""
	for _, r := range roots {
		owner, known := d.session.Catalogued(r.GroupKind())
		if known && name != "" && owner != name {
			return ""
		}
		if known {
			name = owner
		}
	}
	return name
}

// labelOf makes the name of an app: a DNS label that none has yet.
func labelOf(name, kind string, taken map[string]bool) string {
	const longest = 50 // and some room for what tells it from others
	clean := func(text string) string {
		text = strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				return c
			}
			return '-'
		}, strings.ToLower(text))
		return strings.Trim(text[:min(len(text), longest)], "-")
	}
	label := clean(name)
	if label == "" || taken[label] {
		label = strings.Trim(clean(label+"-"+kind), "-")
	}
	for base, n := label, 2; label == "" || taken[label]; n++ {
		label = strings.Trim(fmt.Sprintf("%s-%d", base, n), "-")
	}
	taken[label] = true
	return label
}

// explain writes what was found of an app.
func (d *systemDraft) explain(a *system.DraftApp, state *regulate.AppState) {
	for _, n := range state.Needs {
		a.Needs = append(a.Needs, fmt.Sprintf("%s: %s needs %s (%s)", n.App, n.From, n.To, n.Edge.Why()))
	}
	for _, act := range state.Actions[system.Stop] {
		if act.Refused != "" {
			a.Stop = append(a.Stop, "nothing by itself: "+act.Refused)
			continue
		}
		for _, ref := range act.Targets {
			a.Stop = append(a.Stop, fmt.Sprintf("preset %s of %s: %s", act.Signals[ref].Preset, ref, act.Signals[ref].Effect))
		}
		a.Stop = append(a.Stop, act.Notes...)
	}
	seen := map[string]bool{}
	for _, ref := range state.Roots {
		for _, m := range state.Managers[ref] {
			text := fmt.Sprintf("%s manages it, and is suspended first.", m.Ref)
			if !m.Reverts {
				text = fmt.Sprintf("%s installed it; it reverts nothing until an upgrade.", m.Ref)
			}
			if a.Suspend = true; !seen[text] {
				seen[text] = true
				a.Managed = append(a.Managed, text)
			}
		}
	}
}
