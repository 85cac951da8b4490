// Package helm installs, upgrades, rolls back and uninstalls releases by Helm's own library, and reads
// Helm's records of them. It handles one release at a time: it neither waits for health nor touches
// namespaces and CRDs.
package helm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
)

// MaxHistory is the number of records of a release to keep, Helm's default.
const MaxHistory = 10

// Manager is the field manager of releases: Helm's own name, so that helm can continue with
// them.
const Manager = "helm"

// nameManager sets the field manager of Helm's library, a package variable that defaults to the
// name of the program.
var nameManager = sync.OnceFunc(func() { kube.ManagedFieldsManager = Manager })

// Client implements Engine with Helm's library: records are Secrets in the namespace of the release,
// and objects are applied server-side, as the helm command does.
type Client struct {
	config *rest.Config
	log    slog.Handler
	warn   *warnOnce
}

// New returns the engine of a cluster. Helm logs to log, which may be nil.
func New(config *rest.Config, log slog.Handler) *Client {
	nameManager()
	if log == nil {
		log = slog.DiscardHandler
	}
	return &Client{config: config, log: log, warn: &warnOnce{log: slog.New(log), seen: map[string]bool{}}}
}

// act is one use of Helm.
type act struct {
	*action.Configuration
	getter  *getter
	waiting []kube.WaitOption
	client  *client
}

// client is Helm's client. It keeps the errors of deletions, which a failed uninstallation does not
// report.
type client struct {
	*kube.Client
	denied []error
}

// Delete deletes objects.
func (c *client) Delete(resources kube.ResourceList, policy metav1.DeletionPropagation) (*kube.Result, []error) {
	done, errs := c.Client.Delete(resources, policy)
	c.denied = append(c.denied, errs...)
	return done, errs
}

func (h *Client) act(ctx context.Context, namespace string, m RecordLabels) (*act, error) {
	g, err := newGetter(ctx, h.config, namespace, h.warn)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	set, err := kubernetes.NewForConfig(g.config)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	client := &client{Client: kube.New(g)}
	client.Namespace = namespace
	client.SetLogger(h.log)
	secrets := driver.NewSecrets(boundedSecrets{set.CoreV1().Secrets(namespace)})
	secrets.SetLogger(h.log)
	c := action.NewConfiguration(action.ConfigurationSetLogger(h.log))
	c.RESTClientGetter, c.KubeClient = g, client
	c.Releases = storage.Init(&marking{Driver: secrets, marks: m})
	c.Releases.SetLogger(h.log)
	c.Releases.MaxHistory = MaxHistory
	c.HookOutputFunc = func(namespace, pod, container string) io.Writer {
		return &logWriter{log: slog.New(h.log).With("namespace", namespace, "pod", pod, "container", container)}
	}
	return &act{Configuration: c, getter: g, waiting: []kube.WaitOption{kube.WithWaitContext(ctx)}, client: client}, nil
}

// see sets the capabilities that templates see to those of the plan.
func (a *act) see(c ReleaseSpec) error {
	v, err := common.ParseKubeVersion(c.Kubernetes)
	if err != nil {
		return fmt.Errorf("kubernetes version %q: %w", c.Kubernetes, err)
	}
	a.Capabilities = &common.Capabilities{KubeVersion: *v, APIVersions: common.VersionSet(c.APIs), HelmVersion: common.DefaultCapabilities.HelmVersion}
	a.CustomTemplateFuncs = chart.EngineFuncs(c.Lookup)
	return nil
}

// hookTimeout is the default timeout of hooks.
const hookTimeout = 5 * time.Minute

func orDefault(d time.Duration) time.Duration {
	if d <= 0 {
		return hookTimeout
	}
	return d
}

// Install creates the first revision of a release.
func (h *Client) Install(ctx context.Context, c ReleaseSpec) error {
	a, err := h.act(ctx, c.Release.Namespace, c.Marks)
	if err != nil {
		return err
	}
	if err := a.see(c); err != nil {
		return err
	}
	i := action.NewInstall(a.Configuration)
	i.ReleaseName, i.Namespace = c.Release.Name, c.Release.Namespace
	i.SkipCRDs, i.ServerSideApply = true, true
	// An uninstalled release may still have records: its name is free.
	if last, err := a.Releases.Last(c.Release.Name); err == nil {
		v, ok := recorded(last)
		i.Replace = ok && v.Info != nil && v.Info.Status == rcommon.StatusUninstalled
	}
	i.SkipSchemaValidation = true // The plan validated it; Helm would fetch referenced schemas.
	i.TakeOwnership, i.ForceConflicts = c.TakeOwnership, c.ForceConflicts
	i.WaitStrategy, i.WaitOptions, i.Timeout = kube.HookOnlyStrategy, a.waiting, orDefault(c.Timeout)
	i.PostRenderer = c.PostRenderer
	_, err = i.Run(copied(c.Chart.Helm), copiedValues(c.Values))
	return h.settled(ctx, c.Release, err)
}

// Upgrade creates the next revision of a release.
func (h *Client) Upgrade(ctx context.Context, c ReleaseSpec) error {
	a, err := h.act(ctx, c.Release.Namespace, c.Marks)
	if err != nil {
		return err
	}
	if err := a.see(c); err != nil {
		return err
	}
	u := action.NewUpgrade(a.Configuration)
	u.Namespace, u.MaxHistory = c.Release.Namespace, MaxHistory
	u.SkipCRDs, u.ServerSideApply, u.SkipSchemaValidation = true, "true", true
	u.TakeOwnership, u.ForceConflicts = c.TakeOwnership, c.ForceConflicts
	u.WaitStrategy, u.WaitOptions, u.Timeout = kube.HookOnlyStrategy, a.waiting, orDefault(c.Timeout)
	u.PostRenderer = c.PostRenderer
	u.ResetValues = true // the plan has all values
	_, err = u.Run(c.Release.Name, copied(c.Chart.Helm), copiedValues(c.Values))
	return h.settled(ctx, c.Release, err)
}

// Rollback creates a revision with the content of an earlier one.
func (h *Client) Rollback(ctx context.Context, r ReleaseName, to int, o RevertOptions) error {
	a, err := h.act(ctx, r.Namespace, o.Marks)
	if err != nil {
		return err
	}
	b := action.NewRollback(a.Configuration)
	b.Version, b.MaxHistory, b.ServerSideApply = to, MaxHistory, "true"
	b.WaitStrategy, b.WaitOptions, b.Timeout = kube.HookOnlyStrategy, a.waiting, orDefault(o.Timeout)
	b.DisableHooks, b.ForceConflicts = o.NoHooks, o.ForceConflicts
	return h.settled(ctx, r, b.Run(r.Name))
}

// Uninstall deletes the objects of a release, and its records unless they are kept.
func (h *Client) Uninstall(ctx context.Context, r ReleaseName, o RevertOptions) error {
	a, err := h.act(ctx, r.Namespace, o.Marks)
	if err != nil {
		return err
	}
	u := action.NewUninstall(a.Configuration)
	u.KeepHistory, u.DisableHooks, u.DeletionPropagation = o.KeepHistory, o.NoHooks, "foreground"
	u.WaitStrategy, u.WaitOptions, u.Timeout = kube.HookOnlyStrategy, a.waiting, orDefault(o.Timeout)
	if _, err = u.Run(r.Name); err == nil || ctx.Err() != nil {
		return because(ctx, err)
	}
	for _, denied := range a.client.denied {
		if !strings.Contains(err.Error(), denied.Error()) {
			err = fmt.Errorf("%w: %w", err, denied)
		}
	}
	return err
}

// because returns the cause of a failed call: the cause of its context if that has ended.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// settled checks that the record has the status that Helm reported: Helm hides a failure to write
// it.
func (h *Client) settled(ctx context.Context, r ReleaseName, err error) error {
	if err != nil || ctx.Err() != nil {
		return because(ctx, err)
	}
	a, err := h.act(ctx, r.Namespace, RecordLabels{})
	if err != nil {
		return err
	}
	last, err := a.Releases.Last(r.Name)
	if err != nil {
		return fmt.Errorf("read the record of %s: %w", r, err)
	}
	if v, ok := recorded(last); !ok || v.Info == nil || v.Info.Status != rcommon.StatusDeployed {
		return fmt.Errorf("release %s: its record was not written: its status is not deployed", r)
	}
	return nil
}

// History returns the records of a release, the latest last.
func (h *Client) History(ctx context.Context, r ReleaseName) ([]Record, error) {
	a, err := h.act(ctx, r.Namespace, RecordLabels{})
	if err != nil {
		return nil, err
	}
	list, err := a.Releases.History(r.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the records of %s: %w", r, because(ctx, err))
	}
	return a.records(list)
}

// Forget deletes the records of a release, if it was uninstalled.
func (h *Client) Forget(ctx context.Context, r ReleaseName) error {
	list, err := h.History(ctx, r)
	if err != nil || len(list) == 0 {
		return err
	}
	if last := list[len(list)-1]; last.Status != Uninstalled {
		return fmt.Errorf("release %s is %s again: its records are not deleted", r, last.Status)
	}
	a, err := h.act(ctx, r.Namespace, RecordLabels{})
	if err != nil {
		return err
	}
	for _, v := range list { // the latest last: until then the release is known to be uninstalled
		if _, err := a.Releases.Delete(r.Name, v.Revision); err != nil && !errors.Is(err, driver.ErrReleaseNotFound) {
			return fmt.Errorf("delete the record of revision %d of %s: %w", v.Revision, r, because(ctx, err))
		}
	}
	return nil
}
