package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/shopspring/decimal"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	stats "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Summary measures pods at an instant, from what their kubelets report through the API server's
// node proxy (stats/summary): network traffic since the pod started, ephemeral storage, the usage
// of volumes, and CPU and memory that no other source measured.
type Summary struct {
	get   GetFunc
	asked func(object.Ref) bool
}

// summaryName is how notes call the kubelets.
const summaryName = "kubelet"

// NewSummary returns the kubelets' summaries as a source. Only nodes that run a pod
// that is asked about are called, each once; nil asks about all.
func NewSummary(get GetFunc, asked func(object.Ref) bool) *Summary {
	return &Summary{get: get, asked: asked}
}

// SummaryPath is the path of the summary of a node.
func SummaryPath(node string) string { return "/api/v1/nodes/" + node + "/proxy/stats/summary" }

// Measure fills in what the kubelets know of an instant's reading. The right to ask
// them (get on nodes/proxy) is one that many do not give: a first refusal ends the
// asking, and is noted once. A node that does not answer is noted, and the others
// stand.
func (s *Summary) Measure(ctx context.Context, r *UsageReport) error {
	nodes, pods := s.podsByNode(r)
	if len(nodes) == 0 {
		return nil
	}
	summaries, errs := s.read(ctx, nodes)
	claims, shared := make(map[object.Ref]*Claim, len(r.Claims)), map[object.Ref]bool{}
	for i := range r.Claims {
		claims[r.Claims[i].Ref] = &r.Claims[i]
	}
	for i, node := range nodes {
		if errs[i] != nil {
			note, err := refused(ctx, errs[i])
			if err != nil {
				return err
			}
			note.Source, note.Subject = summaryName, node
			r.Notes = append(r.Notes, explained(note))
			continue
		}
		if summaries[i] == nil {
			continue // No request follows the refusal.
		}
		fillFromSummary(pods[node], summaries[i])
		fillVolumes(summaries[i], claims, shared)
	}
	r.Notes = gathered(r.Notes, summaryName)
	var names []string
	for _, ref := range sortedRefs(shared) {
		claims[ref].Used, claims[ref].UsedKnown = decimal.Decimal{}, false
		names = append(names, ref.Namespace+"/"+ref.Name)
	}
	if len(names) > 0 {
		r.Notes = append(r.Notes, Note{
			Source: summaryName, Subject: listNames(names), Reason: "SharedFilesystem", LowersFigures: true,
			Message: "the file system is larger than the volume, and holds more than its claim: the usage of the claim is unknown",
		})
	}
	return nil
}

// podsByNode returns the pods of each node, and the nodes that run a pod that is asked about, in order.
func (s *Summary) podsByNode(r *UsageReport) (nodes []string, pods map[string][]*Pod) {
	pods = map[string][]*Pod{}
	for i := range r.Pods {
		p := &r.Pods[i]
		if p.Node == "" {
			continue
		}
		pods[p.Node] = append(pods[p.Node], p)
		if s.asked == nil || s.asked(p.Ref) {
			nodes = append(nodes, p.Node)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), pods
}

// read asks the first node alone, and the others at once, until one refuses.
func (s *Summary) read(ctx context.Context, nodes []string) ([]*stats.Summary, []error) {
	summaries, errs := make([]*stats.Summary, len(nodes)), make([]error, len(nodes))
	var forbidden atomic.Bool
	ask := func(i int) {
		if forbidden.Load() {
			return
		}
		summaries[i], errs[i] = s.one(ctx, nodes[i])
		if apierrors.IsForbidden(errs[i]) {
			forbidden.Store(true)
		}
	}
	ask(0)
	inParallel(len(nodes)-1, func(i int) { ask(i + 1) })
	return summaries, errs
}

func (s *Summary) one(ctx context.Context, node string) (*stats.Summary, error) {
	body, err := s.get(ctx, SummaryPath(node), nil)
	if err != nil {
		return nil, err
	}
	var out stats.Summary
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return &out, nil
}

func explained(n Note) Note {
	const missing = "traffic, ephemeral storage and volume usage are unknown"
	if n.Reason == "Forbidden" {
		n.Subject = ""
		n.Message = missing + " (reading them needs permission to get nodes/proxy): " + n.Message
		return n
	}
	n.Message = missing + " of the pods there: " + n.Message
	return n
}

// fillFromSummary takes over what a kubelet says of the pods of its node. They are
// matched by UID. A kubelet knows a static pod by a hash instead of the UID that the
// API server gave it: that one is matched by its name.
func fillFromSummary(pods []*Pod, summary *stats.Summary) {
	byUID := make(map[string]*stats.PodStats, len(summary.Pods))
	byName := map[object.Ref]*stats.PodStats{}
	for i := range summary.Pods {
		p := &summary.Pods[i]
		if p.PodRef.UID != "" {
			byUID[p.PodRef.UID] = p
		}
		if !strings.Contains(p.PodRef.UID, "-") {
			byName[podRef(p.PodRef.Namespace, p.PodRef.Name)] = p
		}
	}
	for _, p := range pods {
		sample := byUID[string(p.UID)]
		if sample == nil || p.UID == "" {
			sample = byName[p.Ref]
		}
		if sample != nil {
			p.take(sample)
		}
	}
}

func (p *Pod) take(sample *stats.PodStats) {
	p.Counters = traffic(sample.Network)
	if s := sample.EphemeralStorage; s != nil && s.UsedBytes != nil {
		p.Used.Set(Ephemeral, bytesOf(*s.UsedBytes))
	}
	// The kubelet's own sums for the pod are larger, by the pause container.
	addUsage(p, CPU, sample.Containers, func(c *stats.ContainerStats) (string, *decimal.Decimal) {
		if c.CPU == nil || c.CPU.UsageNanoCores == nil {
			return c.Name, nil
		}
		cores := bytesOf(*c.CPU.UsageNanoCores).Shift(-9)
		return c.Name, &cores
	})
	addUsage(p, Memory, sample.Containers, func(c *stats.ContainerStats) (string, *decimal.Decimal) {
		if c.Memory == nil || c.Memory.WorkingSetBytes == nil {
			return c.Name, nil
		}
		bytes := bytesOf(*c.Memory.WorkingSetBytes)
		return c.Name, &bytes
	})
}

// bytesOf turns a count into a decimal, exactly.
func bytesOf(n uint64) decimal.Decimal { return decimal.NewFromUint64(n) }

// traffic adds up what came and went by the interfaces of a pod. The figures at the
// top are those of the default interface, which is in the list again.
func traffic(n *stats.NetworkStats) Amounts {
	if n == nil {
		return nil
	}
	interfaces := n.Interfaces
	if len(interfaces) == 0 {
		interfaces = []stats.InterfaceStats{n.InterfaceStats}
	}
	var out Amounts
	add := func(res Resource, value func(*stats.InterfaceStats) *uint64) {
		var sum decimal.Decimal
		found := false
		for i := range interfaces {
			if inner(interfaces[i].Name) {
				continue
			}
			v := value(&interfaces[i])
			if v == nil {
				return
			}
			sum, found = sum.Add(bytesOf(*v)), true
		}
		if found {
			out.Set(res, sum)
		}
	}
	add(Received, func(i *stats.InterfaceStats) *uint64 { return i.RxBytes })
	add(Sent, func(i *stats.InterfaceStats) *uint64 { return i.TxBytes })
	return out
}

// inner says that an interface leads nowhere, or to another one of the same machine:
// what goes by it is no traffic, or is counted there as well.
func inner(name string) bool {
	const prefixes = "sit tunl ip6tnl gre erspan ip_vti ip6_vti ip6gre dummy docker br- cni cbr veth virbr cali flannel cilium lxc kube-ipvs nodelocaldns"
	return name == "lo" || slices.ContainsFunc(strings.Fields(prefixes), func(p string) bool { return strings.HasPrefix(name, p) })
}

// fillVolumes takes over the usage of claims: the largest figure if several pods mount one, since each
// sees the same files. A file system that is much larger than the volume (a directory of a node,
// or of an NFS server) is shared: it has other users as well.
func fillVolumes(summary *stats.Summary, claims map[object.Ref]*Claim, shared map[object.Ref]bool) {
	for i := range summary.Pods {
		for j := range summary.Pods[i].VolumeStats {
			v := &summary.Pods[i].VolumeStats[j]
			if v.PVCRef == nil || v.UsedBytes == nil {
				continue
			}
			c := claims[object.Ref{Kind: "PersistentVolumeClaim", Namespace: v.PVCRef.Namespace, Name: v.PVCRef.Name}]
			if c == nil {
				continue
			}
			if v.CapacityBytes != nil && c.Claimed.IsPositive() && bytesOf(*v.CapacityBytes).GreaterThan(c.Claimed.Mul(decimal.New(2, 0))) {
				shared[c.Ref] = true
			}
			c.Used, c.UsedKnown = decimal.Max(c.Used, bytesOf(*v.UsedBytes)), true
		}
	}
}
