package backups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// RestoreRequest says which backup is restored, and how.
type RestoreRequest struct {
	Plan    *backup.Plan
	Options backup.RestoreOptions
	// OnlyMissing leaves what exists as it is.
	OnlyMissing bool
	// Replace is the name of the System that is deleted first; empty to overwrite nothing.
	Replace string
	// Run says that it will be run: the cluster is checked, and a restore that was killed is continued.
	Run bool
}

// PlanRestore plans a restore, and writes nothing. It returns the time of its names, too: that of the
// run that it continues or repeats, or now.
func PlanRestore(ctx context.Context, given *app.Input, r RestoreRequest) (*backup.Restore, time.Time, error) {
	r.Options.Replace = r.Replace != ""
	r.Options.Time = given.Now().UTC().Truncate(time.Second)
	out, err := r.plan(ctx, given)
	if err != nil || !r.Run && !r.Plan.Live && r.Replace == "" {
		return out, r.Options.Time, err
	}
	in := *given
	connected, err := systems.Connect(ctx, &in)
	if err != nil {
		return nil, time.Time{}, err
	}
	c := cluster{connected}
	began, err := c.began(ctx, out, out.Unstamped(r.Options.Time), r.Options.Replace)
	if err == nil && !began.IsZero() {
		r.Options.Time = began
		out, err = r.plan(ctx, given)
	}
	if err == nil {
		err = c.checkRestore(ctx, &in, out)
	}
	if err == nil {
		err = c.checkCopies(ctx, out, r.Plan)
	}
	if err == nil && r.Replace != "" {
		err = c.planReplace(ctx, out, &r)
	}
	return out, r.Options.Time, err
}

func (r *RestoreRequest) plan(ctx context.Context, given *app.Input) (*backup.Restore, error) {
	out, err := backup.Restored(r.Plan, r.Options)
	if err == nil && r.OnlyMissing {
		in := *given
		err = OnlyMissing(ctx, &in, out)
	}
	return out, err
}

// began is the time in the names of a run of the same request that did not end, or of one that is done
// and whose objects exist: these names stay, unless they are replaced. It is zero where there is none.
func (c cluster) began(ctx context.Context, r *backup.Restore, unstamped string, replace bool) (time.Time, error) {
	found, err := install.Find(ctx, c.Config, r.Name, []string{r.Namespace})
	if err != nil || len(found) == 0 || found[0].Err != nil { // with an error of the journal, the plan of the install says so
		return time.Time{}, err
	}
	at, done := stampOf(found[0].Journal, unstamped)
	switch {
	case !done:
		return at, nil
	case replace:
		return time.Time{}, nil // its archives are in use, and stay
	}
	for i := range r.Parts {
		o, err := c.at(ctx, r.Parts[i].Object)
		if err != nil || o == nil {
			return time.Time{}, err
		}
	}
	return at, nil
}

// stampOf is the time in the names of what a journal installed, and whether that is done. A run of
// another request is undone first, and may have used its names.
func stampOf(j *install.Journal, unstamped string) (at time.Time, done bool) {
	if j.Run != nil && !j.Run.Undoing && j.Run.Unstamped != "" && j.Run.Unstamped != unstamped {
		return time.Time{}, true
	}
	if j.Run != nil && !j.Run.Undoing {
		return j.Run.Stamp, false
	}
	for _, r := range slices.Backward(j.Runs) {
		if r.Result == install.ResultDone && (r.Action == install.Install || r.Action == install.Uninstall) {
			return r.Stamp, true // an uninstall has none
		}
	}
	return time.Time{}, true
}

// checkCopies returns an error if the data of a backup is gone. That is known of a file in the cluster
// that it was made in: elsewhere, the storage alone knows.
func (c cluster) checkCopies(ctx context.Context, r *backup.Restore, p *backup.Plan) error {
	if p.Live || !c.ofCluster(ctx, p) {
		return nil
	}
	gone, doubts, err := c.missingCopies(ctx, p)
	r.Notes = append(r.Notes, doubts...)
	if err != nil || len(gone) == 0 {
		return err
	}
	return hint.With(&hint.Lines{Lines: gone}, "restore another backup; a class with deletionPolicy: Retain keeps the data of snapshots that are deleted")
}

// ofCluster says whether a backup is of this cluster, as far as it says.
func (c cluster) ofCluster(ctx context.Context, p *backup.Plan) bool {
	return p.Cluster != "" && p.Cluster == c.id(ctx)
}

// missingCopies are the copies of a backup of this cluster that are gone, and the doubts about others.
func (c cluster) missingCopies(ctx context.Context, p *backup.Plan) (gone, doubts []string, wrong error) {
	for i := range p.Parts {
		missing, doubt := p.Parts[i].Lost(func(ref object.Ref) bool {
			o, err := c.at(ctx, ref)
			wrong = errors.Join(wrong, err)
			return o != nil
		})
		if missing != "" {
			gone = append(gone, missing)
		}
		if doubt != "" {
			doubts = append(doubts, doubt)
		}
	}
	return gone, doubts, wrong
}

// checkRestore returns an error if the cluster cannot take a restore.
func (c cluster) checkRestore(ctx context.Context, in *app.Input, r *backup.Restore) error {
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err
	}
	target := backup.Target{Kinds: c.Kinds, Serves: func(gvk schema.GroupVersionKind) (bool, error) {
		list, err := client.ServerResourcesForGroupVersion(gvk.GroupVersion().String())
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == gvk.Kind }), nil
	}}
	list, err := c.Objects.Resource(storageClasses).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		in.Report.Note("the storage classes may not be read: whether they are of the drivers of the snapshots is unknown")
	case err != nil:
		return fmt.Errorf("list the storage classes: %w", err)
	default:
		target.Classes = append([]unstructured.Unstructured{}, list.Items...)
	}
	return r.Check(target)
}

var storageClasses = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
