package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// API measures the CPU and memory of pods, now, by the resource metrics API
// (metrics.k8s.io): CPU as a rate over the window of the metrics server, memory as
// the working set, of containers without the overhead of their pod. It is what
// kubectl top shows.
type API struct {
	get        GetFunc
	everywhere bool
	version    atomic.Pointer[string] // that is served, once it is known
}

// apiVersions are those that a metrics server may have, best first. Their types are
// the same.
var apiVersions = [...]string{"v1", "v1beta1"}

// apiName is how notes call the API.
const apiName = "metrics.k8s.io"

// liveParallel bounds the requests that a live source has in flight.
const liveParallel = 16

// NewAPI returns the resource metrics API as a source. Everywhere asks with one list
// for all namespaces; otherwise, and where that is forbidden, there is one list for
// each namespace that has pods in the reading.
func NewAPI(get GetFunc, everywhere bool) *API { return &API{get: get, everywhere: everywhere} }

// Measure fills in what the pods of an instant's reading use. A pod of which the API
// says nothing is not measured: a metrics server leaves a pod out as long as one of
// its containers has no two samples.
func (a *API) Measure(ctx context.Context, r *UsageReport) error {
	if len(r.Pods) == 0 {
		return nil
	}
	if a.everywhere {
		list, err := a.list(ctx, "")
		if err == nil {
			a.fill(r, r.Pods, list)
			return nil
		}
		if !apierrors.IsForbidden(err) {
			return a.refuse(ctx, r, "", r.Pods, err)
		}
	}
	return a.measureNamespaces(ctx, r)
}

// measureNamespaces asks for each namespace. The first is asked alone: it tells which
// version there is, and whether anybody answers.
func (a *API) measureNamespaces(ctx context.Context, r *UsageReport) error {
	parts := byNamespace(r.Pods)
	lists := make([][]podSample, len(parts))
	errs := make([]error, len(parts))
	lists[0], errs[0] = a.list(ctx, parts[0][0].Ref.Namespace)
	if errs[0] != nil && !apierrors.IsForbidden(errs[0]) {
		return a.refuse(ctx, r, "", r.Pods, errs[0])
	}
	inParallel(len(parts)-1, func(i int) {
		lists[i+1], errs[i+1] = a.list(ctx, parts[i+1][0].Ref.Namespace)
	})
	for i, pods := range parts {
		if errs[i] == nil {
			a.fill(r, pods, lists[i])
			continue
		}
		if err := a.refuse(ctx, r, pods[0].Ref.Namespace, pods, errs[i]); err != nil {
			return err
		}
	}
	r.Notes = gathered(r.Notes, apiName)
	return nil
}

// byNamespace cuts pods, which are in order, into those of each namespace.
func byNamespace(pods []Pod) [][]Pod {
	var parts [][]Pod
	from := 0
	for i := range pods {
		if i+1 == len(pods) || pods[i+1].Ref.Namespace != pods[i].Ref.Namespace {
			parts = append(parts, pods[from:i+1:i+1])
			from = i + 1
		}
	}
	return parts
}

// list requests the samples of a namespace, or of all. The first request finds the better of the
// two versions that the server has.
func (a *API) list(ctx context.Context, namespace string) ([]podSample, error) {
	versions := apiVersions[:]
	if known := a.version.Load(); known != nil {
		versions = []string{*known}
	}
	var body []byte
	var err error
	for _, version := range versions {
		p := "/apis/metrics.k8s.io/" + version
		if namespace != "" {
			p += "/namespaces/" + namespace
		}
		body, err = a.get(ctx, p+"/pods", nil)
		if !apierrors.IsNotFound(err) {
			if err == nil {
				a.version.Store(&version)
			}
			break
		}
	}
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []podSample `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return list.Items, nil
}

// podSample is what is read of a PodMetrics. The API has no pages: one list may hold the samples
// of every pod of the cluster.
type podSample struct {
	Metadata struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
	Timestamp  metav1.Time       `json:"timestamp"`
	Containers []containerSample `json:"containers"`
}

type containerSample struct {
	Name  string `json:"name"`
	Usage struct {
		CPU    *resource.Quantity `json:"cpu"`
		Memory *resource.Quantity `json:"memory"`
	} `json:"usage"`
}

// measured is the value of a quantity; nil where it is absent or can be none.
func measured(q *resource.Quantity) *decimal.Decimal {
	if q == nil || q.Sign() < 0 {
		return nil
	}
	used := exactly(*q)
	return &used
}

// refuse notes why pods are not measured.
func (a *API) refuse(ctx context.Context, r *UsageReport, about string, pods []Pod, err error) error {
	note, err := refused(ctx, err)
	if err != nil {
		return err
	}
	note.Source, note.Subject = apiName, about
	cause := "the metrics API is not available"
	switch note.Reason {
	case "NotServed":
		cause = "the cluster has no metrics API"
	case "Forbidden", "Unauthorized":
		cause = "no permission to read the metrics API"
	case "Unreadable":
		cause = "the response of the metrics API cannot be read"
	}
	for i := range pods {
		if pods[i].Unmeasured == "" {
			pods[i].Unmeasured = cause
		}
	}
	note.Message = cause + ": " + note.Message // A 404 or 503 does not say of what.
	r.Notes = append(r.Notes, note)
	return nil
}

// fill takes over the samples of pods.
func (a *API) fill(r *UsageReport, pods []Pod, list []podSample) {
	samples := make(map[object.Ref]*podSample, len(list))
	for i := range list {
		samples[podRef(list[i].Metadata.Namespace, list[i].Metadata.Name)] = &list[i]
	}
	for i := range pods {
		p := &pods[i]
		sample, ok := samples[p.Ref]
		switch {
		case !ok:
			if p.Unmeasured == "" {
				p.Unmeasured = missing(p, r.To)
			}
		case !sample.Timestamp.IsZero() && sample.Timestamp.Time.Before(p.Started):
			p.Unmeasured = "the sample is of an earlier pod of that name"
		default:
			addUsage(p, CPU, sample.Containers, func(c *containerSample) (string, *decimal.Decimal) { return c.Name, measured(c.Usage.CPU) })
			addUsage(p, Memory, sample.Containers, func(c *containerSample) (string, *decimal.Decimal) { return c.Name, measured(c.Usage.Memory) })
		}
	}
}

// missing says why a metrics server has nothing of a pod. It needs two scrapes, a
// minute apart by default.
func missing(p *Pod, at time.Time) string {
	const young = 3 * time.Minute
	if age := at.Sub(p.Started); !p.Started.IsZero() && age >= 0 && age < young {
		return fmt.Sprintf("no sample yet: the pod is %s old", age.Truncate(time.Second))
	}
	return "no sample yet"
}

// addUsage adds up what the containers of a pod use of a resource, where no other source told it. A
// sum of which a part is missing is unknown.
func addUsage[T any](p *Pod, res Resource, containers []T, usage func(*T) (name string, used *decimal.Decimal)) {
	if _, known := p.Used.Lookup(res); known || len(containers) == 0 {
		return
	}
	var sum decimal.Decimal
	complete := true
	for i := range containers {
		name, used := usage(&containers[i])
		if used == nil {
			complete = false
			continue
		}
		sum = sum.Add(*used)
		if c := p.container(name); c != nil {
			c.Used.Set(res, *used)
		}
	}
	if complete {
		p.Used.Set(res, sum)
		p.Unmeasured = ""
	}
}

// container returns the container of a name; nil for one that the pod does not list
// (an init container that has ended, an ephemeral one).
func (p *Pod) container(name string) *Container {
	i := slices.IndexFunc(p.Containers, func(c Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Containers[i]
}

// inParallel calls each for 0 to n-1, a bounded number at a time.
func inParallel(n int, each func(int)) {
	var g errgroup.Group
	g.SetLimit(liveParallel)
	for i := range n {
		g.Go(func() error { each(i); return nil })
	}
	_ = g.Wait() // none returns one
}

// gathered makes one note of those that a source has for one reason; the first one
// speaks for them.
func gathered(notes []Note, source string) []Note {
	var out []Note
	about := map[string][]string{}
	at := map[string]int{}
	for _, n := range notes {
		if n.Source != source {
			out = append(out, n)
			continue
		}
		if _, ok := at[n.Reason]; !ok {
			at[n.Reason] = len(out)
			out = append(out, n)
		}
		if n.Subject != "" {
			about[n.Reason] = append(about[n.Reason], n.Subject)
		}
	}
	for reason, i := range at {
		out[i].Subject = listNames(about[reason])
	}
	return out
}
