package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

type snapshotOptions struct {
	*common
	args    []string
	file    string
	force   bool
	withEnv bool
	// noMetrics leaves out what the pods use.
	noMetrics bool
}

func newSnapshot(env Env) *cobra.Command {
	o := &snapshotOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "snapshot [ROOT...] -o FILE",
		Short: "Write a stack or a namespace to a file, to inspect later or to share",
		Long: `Write the objects of a stack (ROOT...), of a namespace with what it points to (-n), or
of the cluster (-A) to a file that every command reads with --from.

The current usage of their pods is included: the samples of the metrics API (one list a
namespace), and the pod figures of the kubelets (one call a node; this needs permission
to get nodes/proxy). What is refused is reported, and missing from the file;
--no-metrics skips it.

Left out are the data of Secrets and ConfigMaps, which are never read, managed fields,
last-applied configurations, and the values of environment variables (relationships by a
host name in them are lost, too; --include-env keeps the values that are written in the
objects). Arguments of commands, and the content of custom resources, are written
unchanged: review the file before you send it on.

The file is YAML, JSON if its name ends in .json, and gzipped if it ends in .gz. It is
written completely or not at all, and readable for its owner only.`,
		Example: `  # the stack of a custom resource
  kubectl sysop snapshot moodle/moodle-1 --from demo -o moodle-1.yaml

  # a namespace, with what it points to
  kubectl sysop snapshot -n moodle --from demo -o moodle.yaml.gz

# read it
  kubectl sysop graph moodle/moodle-1 --from moodle.yaml.gz`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.file, "output", "o", "", `the file to write; "-" is standard output`)
	f.BoolVar(&o.force, "force", false, "replace the file if it exists")
	f.BoolVar(&o.noMetrics, "no-metrics", false, "leave out the usage of pods")
	f.BoolVar(&o.withEnv, "include-env", false, "keep the values of environment variables that are written in the objects")
	aliasFlag(cmd, "with-env", "include-env")
	return cmd
}

func (o *snapshotOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.file == "" {
		return hint.With(errors.New("name the file to write with -o"), `-o - writes to standard output`)
	}
	if len(o.args) == 0 && !o.AllNamespaces && !app.Given(o.Config.Namespace) {
		return hint.With(errors.New("name what to write: ROOT..., -n NAMESPACE or -A"), "kubectl sysop snapshot --help has examples")
	}
	s, err := o.Open(ctx)
	if err != nil {
		return err
	}
	keep, g, err := o.chosen(ctx, s)
	if err != nil {
		return err
	}
	keeper, err := o.take(ctx, s, keep)
	if err != nil {
		return err
	}
	objects := keeper.Objects()
	if gone := len(keep) - len(objects); gone > 0 {
		fmt.Fprintf(o.env.ErrOut, "warning: %d objects were deleted or could not be read, and are missing from the file\n", gone)
	}
	for _, fields := range objects {
		source.Redact(fields, o.withEnv)
	}
	head := o.head(s, g)
	if head.Creators, err = o.creators(ctx, s, keeper); err != nil {
		return err
	}
	if !o.noMetrics {
		samples, gaps, err := s.Measured(ctx, objects)
		if err != nil {
			return err
		}
		o.Gaps(gaps)
		objects, head.Gaps = append(objects, samples...), append(head.Gaps, gaps...)
	}
	if o.file == "-" {
		return source.WriteTo(o.env.Out, false, false, head, objects)
	}
	if err := source.Write(o.file, head, objects, o.force); err != nil {
		if errors.Is(err, source.ErrExists) {
			return hint.With(fmt.Errorf("write snapshot: %w", err), "--force replaces it")
		}
		return fmt.Errorf("write snapshot: %w", err)
	}
	fmt.Fprintf(o.env.ErrOut, "wrote %d objects to %s\n", len(objects), o.file)
	s.PrintTimings(g)
	return nil
}

// chosen reads the graph and returns which objects belong into the snapshot.
func (o *snapshotOptions) chosen(ctx context.Context, s *app.Session) (map[object.Ref]bool, *graph.Graph, error) {
	var roots []app.Root
	ask := source.Query{All: true}
	if !o.AllNamespaces && s.Namespace != "" {
		ask = source.Query{Namespaces: []string{s.Namespace}, Kinds: s.Rules.Crossing(), Objects: []object.Ref{{Kind: "Namespace", Name: s.Namespace}}}
	}
	if len(o.args) > 0 {
		var err error
		if roots, err = app.ParseRoots(o.args, s.Kinds); err != nil {
			return nil, nil, err
		}
		ask = s.Query(roots)
	}
	find := func(g *graph.Graph) []graph.ID {
		if roots != nil {
			return s.Resolve(g, roots, nil)
		}
		return s.Everything(g)
	}
	g, err := s.Read(ctx, ask, find, graph.StackOptions{})
	if err != nil {
		return nil, nil, err
	}
	if err := s.Missing(g, roots, nil); err != nil {
		return nil, nil, err
	}
	s.ReportGaps(g)
	if gaps := g.Gaps(); roots == nil && len(find(g)) == 0 && len(gaps) > 0 {
		return nil, nil, fmt.Errorf("no object could be read%s: %s", inNamespace(s.Namespace), gaps[0].Message)
	}
	stack := g.Union(find(g), graph.StackOptions{})
	keep := map[object.Ref]bool{}
	for _, id := range slices.Concat(stack, ownersAbove(g, find(g)), s.Keepers(g)) {
		if g.State(id) == graph.Present {
			keep[g.Ref(id)] = true
		}
	}
	if roots == nil && s.Namespace != "" {
		ref := object.Ref{Kind: "Namespace", Name: s.Namespace}
		if id, ok := g.Find(ref); ok && g.State(id) == graph.Present {
			keep[ref] = true
		} else if len(keep) == 0 {
			return nil, nil, fmt.Errorf("namespace %q is empty or does not exist", s.Namespace)
		}
	}
	keepDefinitions(s, keep)
	return keep, g, nil
}

// ownersAbove are the owners above the roots: without them, a part of the picture
// would look like a wrong owner reference.
func ownersAbove(g *graph.Graph, roots []graph.ID) []graph.ID {
	return g.Stack(roots, graph.StackOptions{Up: true, Relations: []relation.Relation{relation.Owns}}).Members()
}

// keepDefinitions adds the CustomResourceDefinitions of the kinds that are kept.
func keepDefinitions(s *app.Session, keep map[object.Ref]bool) {
	for ref := range keep {
		if k, ok := s.Kinds.Kind(ref.GroupKind()); ok && k.Custom {
			keep[object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: k.String()}] = true
		}
	}
}

// take reads the chosen objects a second time, whole.
func (o *snapshotOptions) take(ctx context.Context, s *app.Session, keep map[object.Ref]bool) (*source.MemorySink, error) {
	keeper := source.NewMemorySink(s.Inventory, func(r object.Ref) bool { return keep[r] })
	refs := make([]object.Ref, 0, len(keep))
	for r := range keep {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, object.Compare)
	whole, err := o.WholeSource(ctx, s, source.Whole)
	if err != nil {
		return nil, err
	}
	return keeper, whole.Read(ctx, source.Query{Objects: refs}, keeper)
}

// creators says who made what has no owner.
func (o *snapshotOptions) creators(ctx context.Context, s *app.Session, keeper *source.MemorySink) ([]source.Creator, error) {
	created := keeper.Creators()
	if snap, ok := s.Source.(*source.Snapshot); ok {
		var err error
		if created, err = snap.Creators(ctx, keeper.Tops()); err != nil {
			return nil, err
		}
	}
	return source.CreatorsOf(created), nil
}

// head says what the snapshot covers: whole kinds if a namespace or the cluster was taken, and the
// named objects that are missing.
func (o *snapshotOptions) head(s *app.Session, g *graph.Graph) source.SnapshotHeader {
	head := source.SnapshotHeader{Gaps: g.Gaps(), Taken: metav1.NewTime(s.AsOf().UTC().Truncate(time.Second))}
	if len(o.args) == 0 {
		for gk, ns := range s.Inventory.Coverage() {
			if s.Namespace == "" || ns == s.Namespace {
				head.Covered = append(head.Covered, source.Scope{Group: gk.Group, Kind: gk.Kind, Namespace: ns})
			}
		}
		slices.SortFunc(head.Covered, func(a, b source.Scope) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace))
		})
	}
	for id := range graph.ID(g.Len()) {
		if g.State(id) == graph.Missing {
			head.Absent = append(head.Absent, g.Ref(id).String())
		}
	}
	return head
}
