package regulator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Request names a System, and says where messages about it go.
type Request struct {
	// Name is that of an adopted System, File its manifest: one of them.
	Name, File string
	// Lease is how long a run that was killed blocks others.
	Lease time.Duration
	// Events receives the events of runs; it may be nil.
	Events func(journal.Event)
	// Distrusted is called once with the reason why the journal may not be trusted, and what is
	// pending in it; it may be nil.
	Distrusted func(reason string, pending []string)
}

// Session is a System with the state of its apps and its journal.
type Session struct {
	*systems.View
	request Request
	// Store is nil for a snapshot, which has no journal.
	Store   *regulate.ConfigMapStore
	Config  *rest.Config
	Journal *regulate.Journal
	// Drifts are the changes that others made to held objects, if they were checked.
	Drifts     []regulate.Drift
	distrusted bool
}

// errNoSystem is that neither a name nor a manifest says which System is named.
var errNoSystem = errors.New("which System? name one that was adopted, or its manifest with -f FILE")

// find finds the System by its name or its manifest.
func find(ctx context.Context, in *app.Input, r Request) (*system.System, error) {
	switch {
	case r.Name != "" && r.File != "":
		return nil, fmt.Errorf("%q and -f %s: the System is named, or its manifest is", r.Name, r.File)
	case r.Name == "" && r.File == "":
		return nil, hint.With(errNoSystem, "kubectl sysop system list -A lists those that were adopted; kubectl sysop system init writes a manifest")
	case r.Name != "":
		return systems.Named(ctx, in, r.Name)
	}
	return systems.Read(ctx, in, r.File)
}

// Open finds the System, and opens the source. It reads nothing of its apps.
func Open(ctx context.Context, in *app.Input, r Request) (*Session, error) {
	s, err := find(ctx, in, r)
	if err != nil {
		return nil, err
	}
	return OpenSystem(ctx, in, s, r)
}

// OpenApp is Open for a question about an app: without a name it is the only System of the
// namespace.
func OpenApp(ctx context.Context, in *app.Input, r Request) (*Session, error) {
	if r.Name == "" && r.File == "" && in.From == "" {
		single, err := onlySystem(ctx, in)
		if err != nil {
			return nil, err
		}
		r.Name = single
	}
	return Open(ctx, in, r)
}

// OpenSystem opens the source of a System that was read.
func OpenSystem(ctx context.Context, in *app.Input, s *system.System, r Request) (*Session, error) {
	l, err := systems.Open(ctx, in, s)
	if err != nil {
		return nil, err
	}
	b := &Session{View: l, request: r}
	return b, b.connect()
}

// OpenJournal finds the System and reads its journal, and nothing of its apps.
func OpenJournal(ctx context.Context, in *app.Input, r Request) (*Session, error) {
	s, err := find(ctx, in, r)
	if err != nil {
		return nil, err
	}
	if err := systems.Enter(in, s); err != nil {
		return nil, err
	}
	b := &Session{View: &systems.View{In: in, System: s}, request: r}
	if _, b.Namespace, err = in.Source(ctx); err != nil {
		return nil, err
	}
	if err := b.connect(); err != nil {
		return nil, err
	}
	return b, b.readJournal(ctx)
}

// onlySystem returns the name of the only System of the namespace.
func onlySystem(ctx context.Context, in *app.Input) (string, error) {
	k, err := systems.OpenAdopted(ctx, in)
	if err != nil {
		return "", err
	}
	names, err := k.Names(ctx, k.Namespace)
	place := ""
	if k.Namespace != "" {
		place = " in namespace " + k.Namespace
	}
	switch {
	case err != nil && hint.For(err) != "":
		return "", err
	case err != nil:
		return "", hint.With(err, "name the manifest with -f FILE")
	case len(names) == 0:
		return "", hint.With(errors.New("no System was adopted"+place), "name its manifest with -f FILE")
	case len(names) > 1:
		return "", hint.With(fmt.Errorf("there are several Systems%s: %s", place, strings.Join(names, ", ")), "name one before the app, or with --system")
	}
	return names[0], nil
}

// connect prepares the store of the journal, where there is a cluster.
func (b *Session) connect() error {
	if b.In.From != "" {
		return nil
	}
	config, err := b.In.Config.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	b.Config = rest.CopyConfig(config)
	b.Config.QPS = -1
	b.Store, err = regulate.NewStore(b.Config, b.System.Name, b.Namespace)
	return err
}

// Observe reads the state of the apps, and the journal.
func (b *Session) Observe(ctx context.Context) error {
	if err := b.View.Observe(ctx); err != nil {
		return err
	}
	return b.readJournal(ctx)
}

// readJournal reads the journal, which a snapshot does not have. After an error the former one
// stays.
func (b *Session) readJournal(ctx context.Context) error {
	if b.Store == nil {
		b.Journal = &regulate.Journal{System: b.System.Name, Namespace: b.Namespace}
		return nil
	}
	j, err := b.Store.Load(ctx)
	if err != nil {
		return err
	}
	b.Journal = j
	b.reportDistrust()
	return nil
}

// Compare finds changes that others made to held objects.
func (b *Session) Compare(ctx context.Context) error {
	b.Drifts = nil
	if b.Store == nil || len(b.Journal.Holds) == 0 {
		return nil
	}
	client, err := regulate.NewClient(b.Config)
	if err != nil {
		return err
	}
	b.Drifts = regulate.Drifts(ctx, client, b.Journal)
	return nil
}

// RequireApp is an error if the System has no app of a name.
func (b *Session) RequireApp(name string) error {
	if _, ok := b.System.App(name); ok {
		return nil
	}
	names := b.System.AppNames()
	return hint.With(
		fmt.Errorf("the System %s has no app %q%s", b.System.Name, name, object.DidYouMean(object.Nearest(name, names))),
		"its apps are "+strings.Join(names, ", "))
}

// locked acts while no other run does.
func (b *Session) locked(ctx context.Context, act func(context.Context) error) error {
	lock, err := regulate.NewLock(b.Config, b.System.Name, b.Namespace, b.leaseOptions())
	if err != nil {
		return err
	}
	return lock.Do(ctx, act)
}

// leaseOptions are those of every lock of this process.
func (b *Session) leaseOptions() journal.LeaseOptions {
	return journal.LeaseOptions{
		Holder: journal.Holder(), Duration: b.request.Lease,
		Waiting: func(holder string, since time.Time) {
			if b.request.Events != nil {
				b.request.Events(journal.WaitingForLock(b.System.Name, holder, since))
			}
		},
	}
}

// podsOf returns the names of the pods that an object owns, at any depth.
func (b *Session) podsOf(ref object.Ref) []string {
	id, ok := b.Graph.Find(ref)
	if !ok {
		return nil
	}
	var names []string
	seen := map[graph.ID]bool{}
	var walk func(graph.ID)
	walk = func(id graph.ID) {
		if seen[id] {
			return
		}
		seen[id] = true
		if r := b.Graph.Ref(id); r.GroupKind() == app.PodKind {
			names = append(names, r.Name)
		}
		for _, child := range b.Graph.Owned(id) {
			walk(child)
		}
	}
	walk(id)
	return names
}
