package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// regulateOptions is what every command about a System takes.
type regulateOptions struct {
	*common
	file string // of the manifest
	// systemName is --system, and app --app.
	systemName, app string
	// lease is how long a run that has died keeps others out.
	lease    time.Duration
	progress progressPrinter
}

func newRegulating(env Env, formats ...string) *regulateOptions {
	return &regulateOptions{common: newCommon(env, formats...), progress: newProgressPrinter(env)}
}

// systemSession is a System and how its apps are.
type systemSession struct {
	*systems.View
	o *regulateOptions
	// store is nil for a snapshot, which has no journal.
	store   *regulate.ConfigMapStore
	config  *rest.Config
	journal *regulate.Journal
	// drifts are the changes that others made to held objects, if they were checked.
	drifts []regulate.Drift
	// distrusted says that it was told how far the journal is to be believed.
	distrusted bool
}

// errNoSystem is that neither a name nor a manifest says which System is named.
var errNoSystem = errors.New("which System? name one that was adopted, or its manifest with -f FILE")

// find finds the System that is named, by its name or its manifest.
func (o *regulateOptions) find(ctx context.Context, name string) (*system.System, error) {
	switch {
	case name != "" && o.file != "":
		return nil, fmt.Errorf("%q and -f %s: the System is named, or its manifest is", name, o.file)
	case name == "" && o.file == "":
		return nil, hint.With(errNoSystem, "kubectl sysop system list -A lists those that were adopted; kubectl sysop system init writes a manifest")
	case name != "":
		return systems.Named(ctx, &o.Input, name)
	}
	return systems.Read(ctx, &o.Input, o.file)
}

// begin finds the System, and opens the source. Nothing has been read of its apps yet.
func (o *regulateOptions) begin(ctx context.Context, name string) (*systemSession, error) {
	s, err := o.find(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := systems.Open(ctx, &o.Input, s)
	if err != nil {
		return nil, err
	}
	b := &systemSession{View: l, o: o}
	return b, b.connect()
}

// beginJournal finds the System and reads its journal, and nothing of its apps.
func (o *regulateOptions) beginJournal(ctx context.Context, name string) (*systemSession, error) {
	s, err := o.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := systems.Enter(&o.Input, s); err != nil {
		return nil, err
	}
	b := &systemSession{View: &systems.View{In: &o.Input, System: s}, o: o}
	if _, b.Namespace, err = o.Source(ctx); err != nil {
		return nil, err
	}
	if err := b.connect(); err != nil {
		return nil, err
	}
	return b, b.remember(ctx)
}

// connect prepares what keeps the journal, where there is a cluster.
func (b *systemSession) connect() error {
	if b.o.From != "" {
		return nil
	}
	config, err := b.o.Config.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	b.config = config
	b.store, err = regulate.NewStore(config, b.System.Name, b.Namespace)
	return err
}

// observe reads how the apps are, and the journal.
func (b *systemSession) observe(ctx context.Context) error {
	if err := b.Observe(ctx); err != nil {
		return err
	}
	return b.remember(ctx)
}

// drift checks the held objects for changes by others.
func (b *systemSession) drift(ctx context.Context) error {
	b.drifts = nil
	if b.store == nil || len(b.journal.Holds) == 0 {
		return nil
	}
	client, err := regulate.NewClient(b.config)
	if err != nil {
		return err
	}
	b.drifts = regulate.Drifts(ctx, client, b.journal)
	return nil
}

// remember reads the journal. There is none of a snapshot.
func (b *systemSession) remember(ctx context.Context) error {
	if b.store == nil {
		b.journal = &regulate.Journal{System: b.System.Name, Namespace: b.Namespace}
		return nil
	}
	j, err := b.store.Load(ctx)
	if err != nil {
		return err // what was read before is kept
	}
	b.journal = j
	b.trust()
	return nil
}

// options are how what is known of the System is shown.
func (b *systemSession) options() view.RegulationOptions {
	return view.RegulationOptions{System: b.System.Name, Namespace: b.Namespace, Gaps: b.Graph.Gaps(), Drifts: b.drifts}
}
